import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { runbookLink } from '../../infra/settings/owner.ts';
import { stages } from '../../infra/settings/stages.ts';
import { deployedTemplate, propertiesOf } from '../support/stack.ts';

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

const links = documents.flatMap(({ path, text }) =>
  [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([, to = '', anchor]) => {
    return { path, target: to === '' ? path : join(dirname(path), to), anchor };
  }),
);

const alarms = stages.flatMap((stage) =>
  propertiesOf(deployedTemplate(stage), 'AWS::CloudWatch::Alarm').map(({ AlarmDescription }) => ({
    description: `${AlarmDescription}`,
  })),
);

const scriptsIn = (text: string) => text.match(/(?<=npm run (?:--silent )?)[a-z][\w:-]*/g) ?? [];

describe('the documents', () => {
  it.each(links)('link what exists: $path to $target, heading $anchor', ({ target, anchor }) => {
    expect(existsSync(join(projectDirectory, target))).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(read(target))).toContain(anchor);
  });

  it.each(alarms)('have the entry of the runbook that an alarm links: $description', (alarm) => {
    const links = alarm.description.split(`${runbookLink}#`).slice(1);
    const anchors = links.map((link) => /^[\w-]+/.exec(link)?.[0]);
    expect(anchors).not.toEqual([]);
    expect(anchorsOf(read('infra/runbook.md'))).toEqual(expect.arrayContaining(anchors));
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
