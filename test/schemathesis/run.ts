import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalService, startLocalService } from '../../infra/local/local-service.ts';

/** Requests that each operation must have got, or the run shows less than it says. */
const leastRequests = 1_000;

const projectDirectory = join(import.meta.dirname, '..', '..');
/** Holds Schemathesis itself, and what it writes. */
const directory = join(projectDirectory, '.build', 'schemathesis');

/** Installs the pinned release, which asks the network only for what is missing. */
const install = () => {
  const run = (program: string, ...options: string[]) =>
    execFileSync(program, options, { stdio: 'inherit' });
  if (!existsSync(join(directory, 'bin', 'pip'))) run('python3', '-m', 'venv', directory);
  run(
    join(directory, 'bin', 'pip'),
    '--disable-pip-version-check',
    'install',
    '--quiet',
    '--requirement',
    join(import.meta.dirname, 'requirements.txt'),
  );
};

/** Generates requests from `openapi.json`, and holds the service's answers to it. Throws when one departs from it. */
const run = async ({ baseAddress, apiKey }: LocalService) => {
  const requestsFile = join(directory, 'requests.json');
  const schemathesis = spawn(
    join(directory, 'bin', 'schemathesis'),
    [
      '--config-file',
      join(import.meta.dirname, 'schemathesis.toml'),
      'run',
      join(projectDirectory, 'openapi.json'),
    ],
    {
      cwd: directory,
      env: { ...process.env, BASE_URL: baseAddress, API_KEY: apiKey, REQUESTS: requestsFile },
      stdio: 'inherit',
    },
  );
  const [exitCode] = await once(schemathesis, 'exit');
  if (exitCode !== 0) throw new Error('Service and document contradict each other');
  const requests: Record<string, number> = JSON.parse(readFileSync(requestsFile, 'utf8'));
  console.log('Requests', requests);
  if (Object.values(requests).some((count) => count < leastRequests)) {
    throw new Error(`An operation got fewer than ${leastRequests} requests`);
  }
};

install();
const service = await startLocalService({ progress: console.log });
try {
  await run(service);
} finally {
  await service.stop();
}
