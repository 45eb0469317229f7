import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type LocalService, startLocalService } from '../local/local-service.ts';

const usage = `Runs the animal store service on this machine.

  npm start                       on http://127.0.0.1:3000/v1, pets kept in memory
  npm start -- --data DIR         keeps the pets in DIR
  PORT=8080 npm start             on another port

Ctrl-C ends it.`;

const readArguments = () => {
  try {
    return parseArgs({
      options: { data: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    }).values;
  } catch (error) {
    const [problem] = error instanceof Error ? error.message.split('. ') : [error];
    throw new Error(`${problem}. Run npm start -- --help for what there is.`);
  }
};

const readOptions = () => {
  const values = readArguments();
  const port = process.env['PORT'] ?? '3000';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new Error(`Set PORT to a number from 0 to 65535, not "${port}".`);
  }
  if (values.data === '') throw new Error('--data needs the name of a directory.');
  // npm runs scripts in the project's folder; a path is relative to the folder of the user.
  const from = process.env['INIT_CWD'] ?? process.cwd();
  return {
    help: values.help,
    port: Number(port),
    dataDirectory: values.data === undefined ? undefined : resolve(from, values.data),
  };
};

/** Prints what the functions do, without the member that only CloudWatch reads, the last one of a line. */
const log = (line: string) => console.log(line.replace(/,"_aws":\{.*$/, '}'));

const announce = ({ baseAddress, docsAddress, apiKey, dynamodbEndpoint }: LocalService) => {
  console.log(`
Base address    ${baseAddress}
Reference page  ${docsAddress}
API key         ${apiKey}
DynamoDB Local  ${dynamodbEndpoint}

Try:
curl -H 'Authorization: Bearer ${apiKey}' '${baseAddress}/pets?limit=5'
`);
};

const run = async (signal: AbortSignal): Promise<void> => {
  const { help, ...options } = readOptions();
  if (help) {
    console.log(usage);
    return;
  }
  const service = await startLocalService({
    ...options,
    watch: true,
    progress: (step) => console.log(step),
    log,
    signal,
  });
  if (!signal.aborted) {
    announce(service);
    await once(signal, 'abort');
  }
  await service.stop();
};

const stopping = new AbortController();
const stop = () => {
  stopping.abort();
  // Should anything hang, what was started ends with this process anyway.
  setTimeout(() => process.exit(1), 5_000).unref();
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);

// Lambda's clock is UTC.
process.env['TZ'] = 'UTC';

// npm may be killed without handing on a signal.
const parent = process.ppid;
if (process.env['npm_lifecycle_event'] !== undefined) {
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, 500).unref();
}

try {
  await run(stopping.signal);
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted) process.exit(0);
  console.error(`Not started: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
