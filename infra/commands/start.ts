import { once } from 'node:events';
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import { InvalidArgumentError, Option, program } from 'commander';
import type { Exchange } from '../local/gateway/gateway.ts';
import {
  type LocalService,
  type LocalServiceOptions,
  startLocalService,
} from '../local/local-service.ts';
import { messageOf } from '../message-of.ts';

/** npm runs scripts in the project's folder; a path is relative to the folder of the user. */
const directory = (path: string): string => resolve(process.env['INIT_CWD'] ?? '', path);

const origin = (text: string): string => {
  if (URL.parse(text)?.origin === text) return text;
  throw new InvalidArgumentError('Give an origin such as http://localhost:5173.');
};

const portNumber = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Give a number from 0 to 65535.');
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

const announce = ({ baseAddress, apiKey, dynamodbEndpoint }: LocalService) => {
  console.log(`
Base address    ${baseAddress}
Reference page  ${new URL('/docs', baseAddress)}
API key         ${apiKey}
DynamoDB Local  ${dynamodbEndpoint}

Try:
curl -H 'Authorization: Bearer ${apiKey}' '${baseAddress}/pets?limit=5'
`);
};

const stopping = new AbortController();
const stop = () => {
  stopping.abort();
  // Should anything hang, what was started ends with this process anyway.
  setTimeout(() => process.exit(1), 5_000).unref();
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);

program
  .name('npm start --')
  .showSuggestionAfterError(false)
  .description('Runs the animal store service on this machine. Ctrl-C ends it.')
  .option('--data <directory>', 'keep the pets there; without it, in memory', directory)
  .option('--reset', 'first remove all pets and API keys that the directory holds')
  .option('--seed', 'add a hundred animals, with the ids 1 to 100')
  .option('--cors <origin>', 'let web pages of an origin call the service', origin)
  .addOption(
    new Option('--port <number>', 'listen on this port, 0 for any free one')
      .env('PORT')
      .default(3_000)
      .argParser(portNumber),
  );

try {
  const options = program.parse().opts<LocalServiceOptions>();
  const progress = (step: string) => console.log(step);
  const { signal } = stopping;
  const service = await startLocalService({ ...options, ...output, watch: true, progress, signal });
  if (!signal.aborted) {
    announce(service);
    await once(signal, 'abort');
  }
  await service.stop();
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted) process.exit(0);
  console.error(`Not started: ${messageOf(error)}`);
  process.exit(1);
}
