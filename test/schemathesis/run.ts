import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalService, startLocalService } from '../../infra/local/local-service.ts';
import { projectDirectory } from '../../infra/project-directory.ts';
import { pythonTool } from '../support/python-tool.ts';

/** Requests that each operation must get. */
const leastRequests = 1_000;

const directory = join(projectDirectory, '.build', 'schemathesis');

/** Generates requests from `openapi.json`, and checks the responses against it. Throws when one contradicts it. */
const run = async (tool: string, { baseAddress, apiKey }: LocalService) => {
  const requestsFile = join(directory, 'requests.json');
  const config = join(import.meta.dirname, 'schemathesis.toml');
  const document = join(projectDirectory, 'lib', 'contract', 'openapi.json');
  const schemathesis = spawn(tool, ['--config-file', config, 'run', document], {
    cwd: directory,
    env: { ...process.env, BASE_URL: baseAddress, API_KEY: apiKey, REQUESTS: requestsFile },
    stdio: 'inherit',
  });
  const [exitCode] = await once(schemathesis, 'exit');
  if (exitCode !== 0) throw new Error('Service and document contradict each other');
  const requests: Record<string, number> = JSON.parse(readFileSync(requestsFile, 'utf8'));
  console.log('Requests', requests);
  if (Object.values(requests).some((count) => count < leastRequests)) {
    throw new Error(`An operation got fewer than ${leastRequests} requests`);
  }
};

const tool = pythonTool('schemathesis');
if (tool === undefined) throw new Error('.ci/python-tools installs Schemathesis');
mkdirSync(directory, { recursive: true });
const service = await startLocalService({ progress: console.log });
try {
  await run(tool, service);
} finally {
  await service.stop();
}
