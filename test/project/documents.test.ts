import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { clientPackage } from '../../infra/settings/owner.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');

const folders = '{.,.github,functions,infra,infra/local,lib,lib/client,test,test/bench}';
const documents = globSync(`${folders}/*.md`, { cwd: projectDirectory }).map((path) => ({
  path,
  text: read(path),
}));

const gate = read('.ci/run');
const nightlySteps = read('.github/workflows/nightly.yml').split('\n');
const { scripts } = JSON.parse(read('package.json'));

/** Documents whose examples runbook.test.ts and client-package.check.ts check. */
const checkedElsewhere = ['infra/runbook.md', 'lib/client/README.md'];

const checkedHere = documents.filter(({ path }) => !checkedElsewhere.includes(path));

const commands = checkedHere.flatMap(({ path, text }) =>
  [...text.matchAll(/^ *```sh\n(.*?)\n *```$/gms)].flatMap(([, block = '']) =>
    block
      .split('\n')
      .map((line) => ({ path, command: line.trim() }))
      .filter(({ command }) => command !== '' && !command.startsWith('#')),
  ),
);
const isRequest = ({ command }: { command: string }) => command.startsWith('curl ');

/** The anchors that GitHub gives the headings of a document. */
const anchorsOf = (text: string) =>
  [...text.toLowerCase().matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading.replace(/[^\w\- ]/g, '').replaceAll(' ', '-'),
  );

const links = documents.flatMap(({ path, text }) =>
  [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([, to = '', anchor]) => {
    return { path, target: to === '' ? path : join(dirname(path), to), anchor };
  }),
);

describe('the documents', () => {
  it.each(commands.filter((shown) => !isRequest(shown)))(
    'show a command that .ci/run or nightly.yml runs, or whose npm script exists: $path: $command',
    ({ command }) => {
      const script = /npm run ([\w:-]+)/.exec(command)?.[1];
      if (script !== undefined) expect(scripts).toHaveProperty([script]);
      else if (!nightlySteps.includes(`      - run: ${command}`))
        expect(gate).toContain(`'${command}'`);
    },
  );

  it.each(['README.md', 'lib/client/README.md', 'lib/openapi/code-samples.ts'])(
    'name the package of the typed client as infra/settings/owner.ts does: %s',
    (path) => {
      const names = read(path).match(/@[\w.-]+\/animal-store-client/g);
      expect(new Set(names)).toEqual(new Set([clientPackage]));
    },
  );

  it('show requests in README.md only, each on a line of its own, where .ci/run finds them', () => {
    const requests = commands.filter(isRequest);
    expect(requests.length).toBeGreaterThan(2);
    expect(new Set(requests.map(({ path }) => path))).toEqual(new Set(['README.md']));
    expect(gate).toContain("grep '^curl ' README.md");
  });

  it.each(links)('link what exists: $path to $target, heading $anchor', ({ target, anchor }) => {
    expect(existsSync(join(projectDirectory, target))).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(read(target))).toContain(anchor);
  });

  it('name files that exist, except for those that the reader of the recipe will write', () => {
    const text = checkedHere.map((document) => document.text).join();
    const named = text.match(/(?<=`)(?:functions|infra|lib|test)\/[\w./-]+(?=`)/g) ?? [];
    expect(named.length).toBeGreaterThan(5);
    const written: readonly string[] = text.match(/(?<=^Write `)[^`]+/gm) ?? [];
    const missing = named.filter((file) => !existsSync(join(projectDirectory, file)));
    expect(missing.filter((file) => !written.includes(file))).toEqual([]);
  });
});

it('infra/README.md names every variable and secret that a workflow reads', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: projectDirectory }).map(read);
  const names = workflows.flatMap((text) => text.match(/(?<=\b(vars|secrets)\.)\w+/g) ?? []);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(read('infra/README.md')).toContain(`\`${name}\``);
});
