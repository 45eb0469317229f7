import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { runbookLink } from '../../infra/settings/owner.ts';
import { stages } from '../../infra/settings/stages.ts';
import { deployedTemplate, propertiesOf } from '../support/templates.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');

const folders = '{.,.github,functions,infra,infra/local,lib,lib/client,test,test/bench}';
const documents = globSync(`${folders}/*.md`, { cwd: projectDirectory }).map((path) => ({
  path,
  text: read(path),
}));

const workflows = globSync('.github/workflows/*.yml', { cwd: projectDirectory }).map(read);

/** The anchors that GitHub gives the headings of a document. */
const anchorsOf = (text: string) =>
  [...text.toLowerCase().matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading.replace(/[^\w\- ]/g, '').replaceAll(' ', '-'),
  );

const hasHeading = (path: string, anchor: string) => anchorsOf(read(path)).includes(anchor);

const links = documents.flatMap(({ path, text }) =>
  [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([, to = '', anchor]) => {
    return { path, target: to === '' ? path : join(dirname(path), to), anchor };
  }),
);

const alarms = stages.flatMap((stage) =>
  propertiesOf(deployedTemplate(stage), 'AWS::CloudWatch::Alarm').map(
    ({ AlarmDescription }) => `${AlarmDescription}`,
  ),
);

const scriptsIn = (text: string) => text.match(/(?<=npm run (?:--silent )?)[a-z][\w:-]*/g) ?? [];

describe('the documents', () => {
  it('link and name files and folders that exist', () => {
    const names = /(?<=`)(?:\.ci|\.github|functions|infra|lib|test)\/[\w./-]+(?=`)/g;
    const named = documents.flatMap(({ text }) => text.match(names) ?? []);
    expect(links).not.toEqual([]);
    const paths = [...links.map(({ target }) => target), ...named];
    expect(paths.filter((path) => !existsSync(join(projectDirectory, path)))).toEqual([]);
  });

  it('link headings that exist', () => {
    const toHeadings = links.filter(({ anchor }) => anchor !== undefined);
    const broken = toHeadings.filter(({ target, anchor = '' }) => !hasHeading(target, anchor));
    expect(broken).toEqual([]);
  });

  it('have the entries of the runbook that alarms link', () => {
    const entries = alarms.flatMap((alarm) => {
      const [, ...linked] = alarm.split(`${runbookLink}#`);
      return linked.map((link) => ({ alarm, anchor: /^[\w-]+/.exec(link)?.[0] ?? '' }));
    });
    expect(new Set(entries.map(({ alarm }) => alarm))).toEqual(new Set(alarms));
    expect(entries.filter(({ anchor }) => !hasHeading('infra/runbook.md', anchor))).toEqual([]);
  });

  it('and the workflows call npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const texts = [...documents.map(({ text }) => text), ...workflows];
    const called = texts.flatMap(scriptsIn);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(called));
  });
});

it('infra/first-deployment.md names every variable and secret that a workflow reads', () => {
  const names = workflows.flatMap((text) => text.match(/(?<=\b(vars|secrets)\.)\w+/g) ?? []);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(read('infra/first-deployment.md')).toContain(`\`${name}\``);
});
