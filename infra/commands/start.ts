import { once } from 'node:events';
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { InvalidArgumentError, program } from 'commander';
import type { Exchange } from '../local/gateway/gateway.ts';
import { type LocalService, startLocalService } from '../local/local-service.ts';
import { messageOf } from '../message-of.ts';

interface Options {
  readonly data?: string;
  readonly reset?: true;
  readonly seed?: true;
  readonly cors?: string;
}

/** npm runs scripts in the project's folder; a path is relative to the folder of the user. */
const directory = (path: string): string => {
  if (path !== '') return resolve(process.env['INIT_CWD'] ?? '', path);
  throw new InvalidArgumentError('Give the name of a directory.');
};

const origin = (text: string): string => {
  if (URL.parse(text)?.origin === text) return text;
  throw new InvalidArgumentError('Give an origin such as http://localhost:5173.');
};

const portOfEnvironment = (): number => {
  const port = process.env['PORT'] ?? '3000';
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw new Error(`Set PORT to a number from 0 to 65535, not "${port}".`);
};

/** The log of a request: its last member, `_aws`, is for CloudWatch only. */
const requestLine = /,"_aws":\{.*$/;

const printExchange = ({ method, path, status, ms }: Exchange) => {
  const color = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  console.log(`${method} ${path} ${styleText(color, `${status}`)} ${ms} ms`);
};

/** On a terminal each request is a readable line, and a failure has its stack; elsewhere a request is its log as JSON. */
const output = process.stdout.isTTY
  ? {
      log: (line: string) => {
        if (!requestLine.test(line)) console.log(line);
      },
      exchange: printExchange,
      failure: (stack: string) => console.log(stack),
    }
  : { log: (line: string) => console.log(line.replace(requestLine, '}')) };

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

const run = async ({ data, reset, seed, cors }: Options, signal: AbortSignal): Promise<void> => {
  const service = await startLocalService({
    port: portOfEnvironment(),
    dataDirectory: data,
    reset,
    seed,
    corsOrigin: cors,
    ...output,
    watch: true,
    progress: (step) => console.log(step),
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

program
  .name('npm start --')
  .showSuggestionAfterError(false)
  .description('Runs the animal store service on this machine. Ctrl-C ends it.')
  .option('--data <directory>', 'keep the pets there; without it, in memory', directory)
  .option('--reset', 'first remove all pets and API keys that the directory holds')
  .option('--seed', 'add a hundred animals, with the ids 1 to 100')
  .option('--cors <origin>', 'let web pages of an origin call the service', origin)
  .addHelpText(
    'after',
    '\nPORT=8080 npm start listens on another port than 3000; 0 for any free one.',
  );

try {
  await run(program.parse().opts<Options>(), stopping.signal);
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted) process.exit(0);
  console.error(`Not started: ${messageOf(error)}`);
  process.exit(1);
}
