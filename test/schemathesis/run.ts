import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { startLocalService } from '../../infra/local/local-service.ts';
import { pythonTool } from '../support/python-tool.ts';
import { runsOf } from '../support/runs.ts';

const directory = join(projectDirectory, '.build', 'schemathesis');
const config = join(import.meta.dirname, 'schemathesis.toml');
const document = join(projectDirectory, 'lib', 'contract', 'openapi.json');

// Generates requests from `openapi.json`, and checks the responses against it.
const tool = pythonTool('schemathesis');
if (tool === undefined) throw new Error('.ci/python-tools installs Schemathesis');
mkdirSync(directory, { recursive: true });
const service = await startLocalService({ progress: console.log });
try {
  const { baseAddress: BASE_URL, apiKey: API_KEY } = service;
  const options = ['--max-examples', `${runsOf(100, 1_000)}`];
  const schemathesis = spawn(tool, ['--config-file', config, 'run', document, ...options], {
    cwd: directory,
    env: { ...process.env, BASE_URL, API_KEY },
    stdio: 'inherit',
  });
  const [exitCode] = await once(schemathesis, 'exit');
  if (exitCode !== 0) throw new Error('Service and document contradict each other');
} finally {
  await service.stop();
}
