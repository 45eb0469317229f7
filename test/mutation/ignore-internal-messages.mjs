/**
 * Leaves out the texts of errors that are only for a debugger: no response and no log line has them.
 * https://stryker-mutator.io/docs/stryker-js/disable-mutants/#using-an-ignore-plugin
 */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'internal-messages',
    value: {
      shouldIgnore: ({ node, parent }) =>
        node.type === 'StringLiteral' &&
        parent.type === 'NewExpression' &&
        ['Error', 'CorruptItem'].includes(parent.callee.name)
          ? 'no response and no log line has the text of this error'
          : undefined,
    },
  },
];
