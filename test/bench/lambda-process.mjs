import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * Runs a function in a process of its own, as Lambda's runtime does:
 * `node lambda-process.mjs <module> <event as JSON>…`. Its last line of output is what came of it, as JSON.
 * It loads nothing that the function might need.
 */
const [, , file, ...events] = process.argv;
const loadedBefore = new Set(process.moduleLoadList);

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

// Lambda's runtime imports an ES module and requires any other.
const { handler } = file.endsWith('.mjs')
  ? await import(pathToFileURL(file))
  : createRequire(import.meta.url)(file);
// Ends the count of the instructions of INIT (instructions.ts).
process.getegid();

const context = {
  awsRequestId: 'request-id',
  callbackWaitsForEmptyEventLoop: true,
  functionName: 'function',
  functionVersion: '$LATEST',
  invokedFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:function',
  memoryLimitInMB: '1024',
  logGroupName: 'log',
  logStreamName: 'log',
  getRemainingTimeInMillis: () => 9_000,
};

const invocations = [];
for (const event of events) {
  const { statusCode, headers, body } = await handler(JSON.parse(event), context);
  invocations.push({ cpuMs: cpuMs(), statusCode, headers, body });
}

const report = {
  codeCache: process.env.CODE_CACHE,
  invocations,
  loaded: process.moduleLoadList.filter((module) => !loadedBefore.has(module)),
};
writeSync(1, `\n${JSON.stringify(report)}`);
process.exit();
