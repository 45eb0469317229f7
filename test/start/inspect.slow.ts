import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../support/listen.ts';
import { copyProject, NpmStart } from './npm-start.ts';

const project = await copyProject(afterAll);

const file = 'functions/get-pet.ts';
const lines = (await readFile(join(project, file), 'utf8')).split('\n');
const breakpointLine = lines.findIndex((line) => line.includes('const pet = await'));

/** A script as the inspector tells of it: https://chromedevtools.github.io/devtools-protocol/v8/Debugger/ */
interface ParsedScript {
  readonly url: string;
  readonly sourceMapURL: string;
}

/** What the debugger of a worker sends: an event, or the result of a command. */
type WorkerMessage =
  | { readonly method: 'Debugger.scriptParsed'; readonly params: ParsedScript }
  | {
      readonly method: 'Debugger.paused';
      readonly params: {
        readonly reason: string;
        readonly data?: { readonly url?: string };
        readonly callFrames: readonly [{ readonly callFrameId: string }];
      };
    }
  | { readonly method?: undefined; readonly result?: { readonly result?: { value: unknown } } };

/** The place in a script to which the line of the breakpoint was compiled, if it is there. */
const breakpointIn = ({ url, sourceMapURL }: ParsedScript) => {
  const [, base64] = sourceMapURL.split(',');
  if (!base64) return undefined;
  const map = new SourceMap(JSON.parse(Buffer.from(base64, 'base64').toString()));
  const lineNumber = map.payload.mappings.split(';').findIndex((_mappings, number) => {
    const last = map.findEntry(number, 1_000);
    if (!('originalSource' in last) || !last.originalSource.endsWith(file)) return false;
    return last.generatedLine === number && last.originalLine === breakpointLine;
  });
  return lineNumber < 0 ? undefined : { url, lineNumber };
};

it('npm start -- --inspect lets a debugger stop in a source, see a variable, and go on', async () => {
  const started = new NpmStart(project, await freePort(), `--inspect ${await freePort()}`);
  const { baseAddress, apiKey } = await started.ready();
  const [address = ''] = /ws:\/\/\S+/.exec(started.err) ?? [];
  const socket = new WebSocket(address);
  await once(socket, 'open');
  const values: unknown[] = [];
  const pausedBefore: unknown[] = [];
  let id = 0;
  const send = (method: string, params: object) => {
    id += 1;
    socket.send(JSON.stringify({ id, method, params }));
  };
  const tellWorker = (sessionId: string, command: string, options: object = {}) => {
    const message = JSON.stringify({ id, method: command, params: options });
    send('NodeWorker.sendMessageToWorker', { sessionId, message });
  };
  const startDebugger = (sessionId: string) => {
    const instrumentation = 'beforeScriptWithSourceMapExecution';
    tellWorker(sessionId, 'Debugger.enable');
    tellWorker(sessionId, 'Debugger.setInstrumentationBreakpoint', { instrumentation });
    tellWorker(sessionId, 'Runtime.runIfWaitingForDebugger');
  };
  const answerWorker = (sessionId: string, message: WorkerMessage) => {
    if (message.method === 'Debugger.scriptParsed') {
      const breakpoint = breakpointIn(message.params);
      if (breakpoint) tellWorker(sessionId, 'Debugger.setBreakpointByUrl', breakpoint);
    } else if (message.method === 'Debugger.paused') {
      const { reason, data, callFrames } = message.params;
      if (reason === 'instrumentation') pausedBefore.push(data?.url);
      const [{ callFrameId }] = callFrames;
      const variable = { callFrameId, expression: 'input.path.petId' };
      // Other reasons are the start of a worker, and of a script with a source map.
      if (reason === 'other') tellWorker(sessionId, 'Debugger.evaluateOnCallFrame', variable);
      else tellWorker(sessionId, 'Debugger.resume');
    } else if (message.result?.result) {
      values.push(message.result.result.value);
      tellWorker(sessionId, 'Debugger.resume');
    }
  };
  socket.addEventListener('message', ({ data }) => {
    const { method, params } = JSON.parse(`${data}`);
    if (method === 'NodeWorker.attachedToWorker') startDebugger(params.sessionId);
    if (method === 'NodeWorker.receivedMessageFromWorker')
      answerWorker(params.sessionId, JSON.parse(params.message));
  });
  send('NodeWorker.enable', { waitForDebuggerOnStart: true });

  const headers = { Authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${baseAddress}/pets/4711`, { headers });
  expect(response.status).toBe(404);
  expect(values).toEqual([4711]);
  // Otherwise the function could run before the debugger has set the breakpoint.
  expect(pausedBefore).toContainEqual(expect.stringMatching(/get-pet\.cjs$/));

  socket.close();
  started.signal('SIGTERM');
  await started.ended();
}, 300_000);
