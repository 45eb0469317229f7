import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { freePort } from '../support/listen.ts';
import { copyProject, NpmStart, runInShell } from './npm-start.ts';

const readme = readFileSync(join(projectDirectory, 'README.md'), 'utf8');
const exchanges = [...readme.matchAll(/^(curl .+)\n```\n\n```json\n(.+)\n```$/gm)];

const idIn = (text: string) => /"id":(\d+)/.exec(text)?.[1] ?? '';

const project = await copyProject(afterAll);

it('npm start responds to the curl lines of README.md as it shows', async () => {
  const port = await freePort();
  const service = new NpmStart(project, port);
  await service.ready();
  expect(exchanges.length).toBe(readme.match(/^curl /gm)?.length);
  const send = (curl = '') => {
    const line = curl.replace('127.0.0.1:3000', `127.0.0.1:${port}`);
    return runInShell(`cd '${project}' && ${line} --silent --max-time 20`);
  };
  // Each pet gets another id.
  let id = '';
  for (const [, curl = '', shown = ''] of exchanges) {
    const response = await send(curl.replace('<ID>', id));
    id ||= idIn(response);
    expect(response).toBe(shown.replace(idIn(shown), id));
  }
  expect(await send(exchanges[0]?.[1]?.replace('Rex', 'Max'))).toContain('"name":"Max"');
  service.signalGroup('SIGTERM');
  await service.ended();
});
