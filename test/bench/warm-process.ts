import { EventEmitter } from 'node:events';
import https from 'node:https';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { lambdaContext } from '../support/proxy-event.ts';
import { cannedAnswers } from './canned-answers.ts';

/*
 * Invokes a function many times, with the network stubbed out: first some that are not measured, then short
 * runs: `node warm-process.ts <module> <event as JSON> <invocations before> <runs> <invocations of a run>`.
 */
const [, , module = '', eventJson = '', warmUps = '', runs = '', invocations = ''] = process.argv;
const event = JSON.parse(eventJson);

const answer = cannedAnswers(process.env['API_KEY'] ?? '');
const bodies = new Map<string, Buffer>();

/** The response to a request, computed once, so that only the function is measured. */
const bodyFor = (target: string, text: string): Buffer => {
  const key = target + text.length;
  const known = bodies.get(key) ?? Buffer.from(answer(target, text).body);
  bodies.set(key, known);
  return known;
};

const responseOf = (body: Buffer) =>
  Object.assign(
    new Readable({
      read() {
        this.push(body);
        this.push(null);
      },
    }),
    { statusCode: 200, headers: { 'content-type': 'application/x-amz-json-1.0' } },
  );

Object.assign(https, {
  request: (
    { headers }: { headers: Record<string, string> },
    onResponse: (response: Readable) => void,
  ) => {
    const request = new EventEmitter();
    const end = (body: string | Uint8Array) =>
      setImmediate(() => {
        const text = typeof body === 'string' ? body : Buffer.from(body).toString();
        onResponse(responseOf(bodyFor(`${headers['x-amz-target']}`, text)));
        request.emit('close');
      });
    return Object.assign(request, { end, destroy() {} });
  },
});

// Lambda's runtime imports an ES module and requires any other.
const { handler } = module.endsWith('.mjs')
  ? await import(pathToFileURL(module).href)
  : createRequire(import.meta.url)(module);

const invoke = async (count: number) => {
  for (let done = 0; done < count; done += 1) {
    const { statusCode } = await handler({ ...event }, lambdaContext('request-id'));
    if (statusCode > 201) throw new Error(`${module} answers ${statusCode}`);
  }
};

await invoke(Number(warmUps));
for (let run = 0; run < Number(runs); run += 1) {
  // Each call ends one count of instructions and begins the next (instructions.ts).
  process.getegid?.();
  await invoke(Number(invocations));
}
process.getegid?.();
// Stretched timers of the SDK would keep the process for minutes.
process.exit();
