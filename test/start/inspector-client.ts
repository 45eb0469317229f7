import { once } from 'node:events';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';

const Message = v.object({
  id: v.optional(v.number()),
  method: v.optional(v.string()),
  params: v.optional(v.looseObject({}), {}),
  result: v.optional(v.looseObject({})),
});

const WorkerMessage = v.object({ sessionId: v.string(), message: v.string() });
const ParsedScript = v.object({
  scriptId: v.string(),
  url: v.string(),
  sourceMapURL: v.string(),
});
const CallFrame = v.object({
  location: v.object({ scriptId: v.string(), lineNumber: v.number(), columnNumber: v.number() }),
  scopeChain: v.array(v.object({ type: v.string(), object: v.object({ objectId: v.string() }) })),
});
const Paused = v.object({ reason: v.string(), callFrames: v.array(CallFrame) });
const Properties = v.object({
  result: v.array(v.object({ name: v.string(), value: v.optional(v.looseObject({})) })),
});

/** A place in a source file: its path, and the number of the line from 1 on. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

/** A script of a worker, with the key of its source map. */
interface Script {
  readonly session: string;
  readonly script: string;
  readonly url: string;
}

/** The source map of a script, and the URL of the script. */
interface ScriptMap {
  readonly map: SourceMap;
  readonly url: string;
}

/** Where a worker has stopped, with its local variables. */
export interface Stop extends Place {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly resume: () => Promise<unknown>;
}

/**
 * Speaks the inspector's protocol with a process and its workers, as the debugger of VS Code does when it has
 * the setting `pauseForSourceMap`: it maps places in sources by the source maps of the scripts, and sets each
 * breakpoint again in each new script, before the script runs.
 * https://chromedevtools.github.io/devtools-protocol/v8/
 */
export class InspectorClient {
  readonly #socket: WebSocket;
  readonly #answers = new Map<string, (result: object) => void>();
  readonly #maps = new Map<string, ScriptMap>();
  readonly #stops: Stop[] = [];
  readonly #breakpoints: Place[] = [];
  #setting: Promise<unknown> = Promise.resolve();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive('', JSON.parse(`${data}`)));
  }

  static async connect(url: string): Promise<InspectorClient> {
    const socket = new WebSocket(url);
    await once(socket, 'open');
    const client = new InspectorClient(socket);
    await client.#send('', 'NodeWorker.enable', { waitForDebuggerOnStart: true });
    return client;
  }

  close(): void {
    this.#socket.close();
  }

  /** The places where workers have stopped, and have not yet been taken. */
  takeStop(): Stop | undefined {
    return this.#stops.shift();
  }

  /** Sets a breakpoint in all scripts that come. */
  setBreakpoint(place: Place): void {
    this.#breakpoints.push(place);
  }

  async #setIn({ session, script, url }: Script, place: Place): Promise<void> {
    const position = generatedPosition(this.#maps.get(script), place);
    if (!position) return;
    await this.#send(session, 'Debugger.setBreakpointByUrl', { url, ...position });
  }

  /** Sends a command to a worker, or to the process itself as session ''. Returns its result. */
  #send(session: string, method: string, params: object = {}): Promise<object> {
    this.#lastId += 1;
    const id = this.#lastId;
    const text = JSON.stringify({ id, method, params });
    const answer = new Promise<object>((resolve) => this.#answers.set(`${session} ${id}`, resolve));
    if (session === '') this.#socket.send(text);
    else {
      this.#send('', 'NodeWorker.sendMessageToWorker', { sessionId: session, message: text });
    }
    return answer;
  }

  #receive(session: string, data: unknown): void {
    const { id, method, params, result = {} } = v.parse(Message, data);
    if (id !== undefined) this.#answers.get(`${session} ${id}`)?.(result);
    if (method === 'NodeWorker.receivedMessageFromWorker') {
      const { sessionId, message } = v.parse(WorkerMessage, params);
      this.#receive(sessionId, JSON.parse(message));
    }
    if (method === 'NodeWorker.attachedToWorker') this.#prepare(`${params['sessionId']}`);
    if (method === 'Debugger.scriptParsed') this.#keepScript(session, params);
    if (method === 'Debugger.paused') this.#keepStop(session, params);
  }

  async #prepare(session: string): Promise<void> {
    await this.#send(session, 'Debugger.enable');
    const instrumentation = 'beforeScriptWithSourceMapExecution';
    await this.#send(session, 'Debugger.setInstrumentationBreakpoint', { instrumentation });
    await this.#send(session, 'Runtime.runIfWaitingForDebugger');
  }

  #keepScript(session: string, params: object): void {
    const { scriptId, url, sourceMapURL } = v.parse(ParsedScript, params);
    if (!sourceMapURL.startsWith('data:')) return;
    const [, base64 = ''] = sourceMapURL.split(',');
    const script = `${session} ${scriptId}`;
    const payload = JSON.parse(Buffer.from(base64, 'base64').toString());
    this.#maps.set(script, { map: new SourceMap(payload), url });
    const places = this.#breakpoints.map((place) => this.#setIn({ session, script, url }, place));
    this.#setting = Promise.all([this.#setting, ...places]);
  }

  async #keepStop(session: string, params: object): Promise<void> {
    const { reason, callFrames } = v.parse(Paused, params);
    const resume = () => this.#send(session, 'Debugger.resume');
    // The start of a worker, or of a script with a source map, and no breakpoint.
    if (reason !== 'other') {
      await this.#setting;
      await resume();
      return;
    }
    const [frame] = callFrames;
    if (!frame) return;
    const { scriptId, lineNumber, columnNumber } = frame.location;
    const script = this.#maps.get(`${session} ${scriptId}`);
    const origin = script?.map.findOrigin(lineNumber + 1, columnNumber + 1);
    const variables: Record<string, unknown> = {};
    for (const { type, object } of frame.scopeChain) {
      if (type !== 'local' && type !== 'block') continue;
      const properties = await this.#send(session, 'Runtime.getProperties', object);
      for (const { name, value } of v.parse(Properties, properties).result)
        variables[name] = value?.['value'];
    }
    this.#stops.push({
      file:
        script && origin && 'fileName' in origin ? sourcePath(script, origin.fileName) : scriptId,
      line: origin && 'lineNumber' in origin ? origin.lineNumber : lineNumber + 1,
      variables,
      resume,
    });
  }
}

/** The path of a source, which a source map names relative to its script. */
const sourcePath = ({ url }: ScriptMap, source: string) => fileURLToPath(new URL(source, url));

/** The longest line of a bundle of which each column is looked up. */
const maxColumns = 200;

/** The place in a script, counted from 0 on, to which a place in a source was compiled. */
const generatedPosition = (script: ScriptMap | undefined, { file, line }: Place) => {
  if (!script) return undefined;
  const lines = script.map.payload.mappings.split(';').length;
  for (let lineNumber = 0; lineNumber < lines; lineNumber += 1) {
    for (let columnNumber = 0; columnNumber < maxColumns; columnNumber += 1) {
      const entry = script.map.findEntry(lineNumber, columnNumber);
      if (!('originalSource' in entry) || sourcePath(script, entry.originalSource) !== file) break;
      const isStart = entry.generatedLine === lineNumber && entry.generatedColumn === columnNumber;
      if (isStart && entry.originalLine + 1 === line) return { lineNumber, columnNumber };
    }
  }
  return undefined;
};
