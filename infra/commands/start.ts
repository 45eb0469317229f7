import inspector from 'node:inspector';
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { InvalidArgumentError, Option, program } from 'commander';
import { stop as stopEsbuild } from 'esbuild';
import type { Exchange } from '../local/gateway/gateway.ts';
import {
  type LocalService,
  type LocalServiceOptions,
  startLocalService,
} from '../local/local-service.ts';
import { refuseOptionsOfNpm } from './shared/refuse-options-of-npm.ts';
import { messageOf, printable, shellWord } from './shared/terminal.ts';

/**
 * Resolves a path in the folder where the user called npm, because npm runs scripts in the project's folder.
 */
const directory = (path: string): string => resolve(process.env['INIT_CWD'] ?? '', path);

const origin = (text: string): string => {
  if (URL.parse(text)?.origin === text) return text;
  throw new InvalidArgumentError('Give an origin such as http://localhost:5173.');
};

const portNumber = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Give a number from 0 to 65535.');
};

/** Matches the end of a request's log line. Its last member, `_aws`, is only for CloudWatch. */
const requestLine = /,"_aws":\{.*$/;

const printExchange = ({ method, path, status, error, ms }: Exchange) => {
  const color = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const outcome = styleText(color, error ? `${status} ${error.code}` : `${status}`);
  const why = error ? `  ${printable(error.message)}` : '';
  console.log(`${method} ${path} ${outcome} ${ms} ms${why}`);
};

/**
 * Prints a readable line for each request on a terminal. Otherwise prints each log line as JSON. Any other
 * output of a function goes to standard error, so that programs that read the log lines don't get it.
 */
const log = (line: string) => {
  if (!line.startsWith('{')) console.error(line);
  else if (!requestLine.test(line)) console.log(line);
  else if (!process.stdout.isTTY) console.log(line.replace(requestLine, '}'));
};
const exchange = process.stdout.isTTY ? printExchange : undefined;

const announce = ({ baseAddress, docsAddress, apiKey, dynamodbEndpoint }: LocalService) => {
  console.log(`
Base address    ${baseAddress}
Reference page  ${docsAddress}
API key         ${apiKey}
DynamoDB Local  ${dynamodbEndpoint}

Try:
curl -H ${shellWord(`Authorization: Bearer ${apiKey}`)} ${shellWord(`${baseAddress}/pets?limit=5`)}
`);
};

type StartOptions = LocalServiceOptions & { readonly inspect?: number };

/** Lets debuggers of this machine connect to this process, which has a worker thread for each function. */
const openInspector = (port: number) => {
  inspector.open(port, '127.0.0.1');
  if (!inspector.url())
    throw new Error(`A debugger can't use port ${port}. Choose another one with --inspect <port>.`);
};

// DynamoDB Local ends with this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(0));
// If esbuild is building meanwhile, its process would never end.
process.once('exit', () => void stopEsbuild());
// `console.log` ignores such an error, for example that of `npm start | head`.
process.stdout.once('error', ({ message }) => {
  console.error(`Stopped, because the output can't be written: ${message}`);
  process.exit(1);
});

program
  .name('npm start --')
  .showSuggestionAfterError(false)
  .description('Runs the animal store service on this machine. Ctrl-C ends it.')
  .option('--data <directory>', 'keep the pets in this directory instead of in memory', directory)
  .option('--seed', 'add a hundred animals, with the ids 1 to 100')
  .option('--cors <origin>', 'let web pages of an origin call the service', origin)
  .addOption(
    new Option('--inspect [port]', 'let a debugger stop in the TypeScript sources of the functions')
      .preset('9229')
      .argParser(portNumber),
  )
  .addOption(
    new Option('--port <number>', 'listen on this port, 0 for any free one')
      .env('PORT')
      .default(3_000)
      .argParser(portNumber),
  );

try {
  refuseOptionsOfNpm(program);
  const { inspect, ...options } = program.parse().opts<StartOptions>();
  if (inspect !== undefined) openInspector(inspect);
  const progress = (step: string) => console.log(step);
  const service = await startLocalService({ ...options, log, exchange, progress, watch: true });
  announce(service);
  void service.databaseEnded.then(() => {
    console.error('Stopped, because DynamoDB Local has ended: start again');
    process.exit(1);
  });
} catch (error) {
  console.error(`Not started: ${messageOf(error)}`);
  process.exit(1);
}
