import { EventEmitter } from 'node:events';
import { writeSync } from 'node:fs';
import https from 'node:https';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { lambdaContext } from '../support/proxy-event.ts';
import { cannedAnswers } from './canned-answers.ts';

/*
 * Invokes a function again and again, with the network stubbed out. The last line that it prints is the CPU time of a
 * measured invocation in µs: `node warm-process.ts <module> <event as JSON> <invocations before> <measured invocations>`.
 */
const [, , module = '', eventJson = '', warmUps = '', measured = ''] = process.argv;
const event = JSON.parse(eventJson);

const answer = cannedAnswers(process.env['API_KEY'] ?? '');
const bodies = new Map<string, Buffer>();

/** The answer to a request, worked out once for each, for only what the function does shall be measured. */
const bodyFor = (target: string, text: string): Buffer => {
  const key = target + text.length;
  const known = bodies.get(key) ?? Buffer.from(answer(target, text).body);
  bodies.set(key, known);
  return known;
};

class StubResponse extends Readable {
  readonly statusCode = 200;
  readonly headers = { 'content-type': 'application/x-amz-json-1.0' };
  readonly #body: Buffer;

  constructor(body: Buffer) {
    super();
    this.#body = body;
  }

  override _read() {
    this.push(this.#body);
    this.push(null);
  }
}

class StubRequest extends EventEmitter {
  readonly #target: string;
  readonly #onResponse: (response: StubResponse) => void;

  constructor(target: string, onResponse: (response: StubResponse) => void) {
    super();
    this.#target = target;
    this.#onResponse = onResponse;
  }

  end(body: string | Uint8Array) {
    const text = typeof body === 'string' ? body : Buffer.from(body).toString();
    setImmediate(() => {
      this.#onResponse(new StubResponse(bodyFor(this.#target, text)));
      this.emit('close');
    });
  }

  destroy() {}
}

Object.assign(https, {
  request: (
    { headers }: { headers: Record<string, string> },
    onResponse: (response: StubResponse) => void,
  ) => new StubRequest(`${headers['x-amz-target']}`, onResponse),
});

const { handler } = createRequire(import.meta.url)(module);

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const invoke = async (count: number) => {
  for (let done = 0; done < count; done += 1) {
    const { statusCode } = await handler({ ...event }, lambdaContext('request-id'));
    if (statusCode > 201) throw new Error(`${module} answers ${statusCode}`);
  }
};

await invoke(Number(warmUps));
const start = cpuMs();
await invoke(Number(measured));
writeSync(1, `\n${((cpuMs() - start) * 1_000) / Number(measured)}`);
// Stretched timers of the SDK would keep the process for minutes.
process.exit();
