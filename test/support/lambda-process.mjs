import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * Runs a function in a process of its own, as Lambda's runtime does:
 * `node lambda-process.mjs <module> <plan as JSON>`. The plan is described in lambda-process.ts. The last
 * line of output is what came of it, as JSON.
 */
const [, , file, plan] = process.argv;
const { events, warmUps = 0, runs = 0, invocationsOfRun = 0 } = JSON.parse(plan);
const require = createRequire(import.meta.url);
// AWS's runtime client loads these before any function: aws-lambda-ric 4.0.2, index.mjs.
for (const name of ['async_hooks', 'fs', 'http', 'net', 'os', 'path', 'util', 'worker_threads'])
  require(`node:${name}`);

// Lambda's runtime imports an ES module and requires any other.
const { handler } = file.endsWith('.mjs') ? await import(pathToFileURL(file)) : require(file);

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
  // A copy, because a handler may change its event.
  const { statusCode, headers, body } = await handler({ ...event }, context);
  invocations.push({ statusCode, headers, body });
}

const invokeAgain = async (count) => {
  for (let done = 0; done < count; done += 1) {
    const { statusCode } = await handler({ ...events[0] }, context);
    if (statusCode >= 300) throw new Error(`The function responds with ${statusCode}`);
  }
};
await invokeAgain(warmUps);
for (let run = 0; run < runs; run += 1) {
  // Each call ends one count of instructions and begins the next (instructions.ts).
  process.getegid();
  await invokeAgain(invocationsOfRun);
}
process.getegid();

// Since the start of the process, also of the wrapper, which Node.js replaces.
const { user, system } = process.cpuUsage();
const report = { cpuMs: (user + system) / 1_000, invocations };
writeSync(1, `\n${JSON.stringify(report)}`);
process.exit();
