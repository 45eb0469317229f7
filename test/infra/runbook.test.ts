import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { keysProgram } from '../../infra/commands/keys/program.ts';
import { operateProgram } from '../../infra/commands/operate/program.ts';
import { serviceName } from '../../infra/settings/names.ts';
import { runbookLink } from '../../infra/settings/owner.ts';
import { prod, stages } from '../../infra/settings/stages.ts';
import { deployedTemplate, propertiesOf } from '../support/stack.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');

const runbook = read('infra/runbook.md');
const headings = runbook.match(/(?<=^## ).*/gm);

const template = deployedTemplate(prod);
const alarms = stages.flatMap((stage) =>
  propertiesOf(deployedTemplate(stage), 'AWS::CloudWatch::Alarm').map(({ AlarmDescription }) => ({
    description: `${AlarmDescription}`,
  })),
);

/** The names that the runbook gives after a word such as `query` or `row`. */
const named = (word: RegExp) => [
  ...new Set(
    [...runbook.matchAll(word)].flatMap(([list]) =>
      [...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    ),
  ),
];

describe('the runbook', () => {
  it.each(alarms)('has the entry that an alarm links: $description', ({ description }) => {
    const [first, entry] = description
      .split(` ${runbookLink}#`)
      .slice(1)
      .map((rest) => /^[\w-]+/.exec(rest)?.[0]);
    expect(runbook).toContain(`\n## ${first?.replace('b', 'B').replaceAll('-', ' ')}\n`);
    expect(headings).toContain(entry);
  });

  it('names the region of prod', () => {
    expect(runbook).toContain(`(prod: \`${prod.environment?.region}\`)`);
  });

  it('names every saved query, and no other', () => {
    const saved = propertiesOf(template, 'AWS::Logs::QueryDefinition').map(({ Name }) => Name);
    const names = named(/\b[Qq]uery `[^`]+`/g).map((name) => `${serviceName(prod)}/${name}`);
    expect(names.toSorted()).toEqual(saved.toSorted());
  });

  it('names rows that the dashboard has', () => {
    const dashboard = JSON.stringify(propertiesOf(template, 'AWS::CloudWatch::Dashboard'));
    const titles = [...dashboard.matchAll(/title\\+":\\+"([^":\\]+)/g)].map(([, title]) => title);
    const rows = named(/\b[Rr]ows? `[^`]+`(?: and `[^`]+`)?/g);
    expect(rows.length).toBeGreaterThan(5);
    expect(titles).toEqual(expect.arrayContaining(rows));
  });

  it('names only files that the project has', () => {
    const files = [...runbook.matchAll(/`((?:\.ci|functions|infra|lib|test)\/[\w./-]+)`/g)];
    expect(files.length).toBeGreaterThan(5);
    const missing = files.filter(([, file = '']) => !existsSync(join(projectDirectory, file)));
    expect(missing).toEqual([]);
  });
});

/** Examples for words in angle brackets. All other words become `listPets`. */
const examples: Readonly<Record<string, string>> = {
  BURST: '20',
  KEY_ID: '0123456789abcdef',
  NUMBER: '10',
  PET_ID: '7',
  RATE: '10',
  TIME: '2030-01-31T03:00:00Z',
};

const commands = [...runbook.matchAll(/npm run ([\w:]+)(?: -- ([^`\n]+))?/g)].map(
  ([text, script = '', words = '']) => ({
    text,
    script,
    words: words
      .replaceAll(/<([A-Z_]+)>/g, (_all, name) => examples[name] ?? 'listPets')
      .split(' '),
  }),
);

describe('the commands of the runbook', () => {
  const { scripts } = JSON.parse(read('package.json'));

  it.each(commands)('are npm scripts: $text', ({ script }) => {
    expect(scripts).toHaveProperty([script]);
  });

  const programs = { keys: keysProgram, operate: operateProgram };
  const parsed = commands.filter(({ script }) => Object.hasOwn(programs, script));

  it.each(parsed)('accept their words: $text', async ({ script, words }) => {
    const program = (script === 'keys' ? keysProgram : operateProgram)(undefined);
    for (const command of program.commands)
      command
        .exitOverride()
        .action(() => {})
        .configureOutput({ writeErr: () => {} });
    await program.exitOverride().parseAsync(words, { from: 'user' });
  });

  const blocks = [...runbook.matchAll(/```sh\n(.*?)\n *```/gs)].map(([, lines]) => `${lines}`);

  it.each(blocks)(
    'are one to a block, because a prompt would swallow the next line: %s',
    (lines) => {
      expect(lines).not.toContain('\n');
    },
  );

  it('use every command of npm run operate', () => {
    const used = parsed.flatMap(({ script, words }) => (script === 'operate' ? words[0] : []));
    const offered = operateProgram(undefined).commands.map((command) => command.name());
    expect(new Set(used)).toEqual(new Set(offered));
  });
});
