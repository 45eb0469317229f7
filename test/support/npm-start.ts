import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { projectDirectory } from '../../infra/project-directory.ts';

/** A copy of the project with the installed packages, so that a test may change its sources, and what runs of it. */
export class ProjectCopy {
  readonly path: string;
  readonly #running: NpmStart[] = [];

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<ProjectCopy> {
    const path = await mkdtemp(join(tmpdir(), 'Straße mit Umläuten '));
    for (const name of ['functions', 'infra', 'lib', 'cdk.json', 'package.json', 'tsconfig.json']) {
      await cp(join(projectDirectory, name), join(path, name), { recursive: true });
    }
    await symlink(join(projectDirectory, 'node_modules'), join(path, 'node_modules'));
    return new ProjectCopy(path);
  }

  npmStart(port: number, ...words: readonly string[]): NpmStart {
    return this.#start(port, ['npm', 'start', '--silent', '--', ...words]);
  }

  /** In a terminal of its own. */
  npmStartOnTerminal(port: number, words: string): NpmStart {
    return this.#start(port, ['script', '-qefc', `npm start --silent -- ${words}`, '/dev/null']);
  }

  #start(port: number, command: readonly [string, ...string[]]): NpmStart {
    const started = new NpmStart(this.path, port, command);
    this.#running.push(started);
    return started;
  }

  async edit(file: string, from: string, to: string): Promise<void> {
    const text = await readFile(join(this.path, file), 'utf8');
    expect(text).toContain(from);
    await writeFile(join(this.path, file), text.replace(from, to));
  }

  async expectNothingLeft(started: NpmStart): Promise<void> {
    await expect.poll(() => started.signalGroup(0), { timeout: 30_000 }).toBe(false);
    // DynamoDB Local is no member of the group, and runs a file of this copy of the project.
    await expect.poll(commandLines, { timeout: 30_000 }).not.toContain(this.path);
  }

  endAll(): void {
    for (const started of this.#running.splice(0)) started.signalGroup('SIGKILL');
  }
}

/** The processes of this machine: a line for each, its id before its command line. Not every machine has `ps`. */
export const commandLines = async (): Promise<string> => {
  if (process.platform !== 'linux') {
    return (await promisify(execFile)('ps', ['-A', '-o', 'pid,args'])).stdout;
  }
  const lines = (await readdir('/proc')).map(async (id) => {
    const words = await readFile(join('/proc', id, 'cmdline'), 'utf8').catch(() => '');
    return `${id} ${words.replaceAll('\0', ' ')}`;
  });
  return (await Promise.all(lines)).join('\n');
};

/** What a command prints that is pasted into a shell. */
export const runInShell = async (line: string): Promise<string> =>
  (await promisify(execFile)('sh', ['-c', line])).stdout;

/** A running `npm start`, in a process group of its own. */
export class NpmStart {
  out = '';
  err = '';
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown[]>;

  constructor(
    directory: string,
    port: number,
    [program, ...words]: readonly [string, ...string[]],
  ) {
    // Without what an enclosing npm tells its scripts, and without its lines around the script's own.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|INIT_CWD)/.test(name),
    );
    this.#child = spawn(program, words, {
      cwd: directory,
      detached: true,
      env: { ...Object.fromEntries(inherited), PORT: `${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (data) => {
      // A terminal ends its lines by two characters.
      this.out += `${data}`.replaceAll('\r', '');
    });
    this.#child.stderr?.on('data', (data) => {
      this.err += data;
    });
    this.#exit = once(this.#child, 'exit');
  }

  /** Waits for a line of the output and gives what its group holds. */
  async printed(line: RegExp): Promise<string> {
    await expect
      .poll(() => line.test(this.out) || this.#child.exitCode !== null, { timeout: 60_000 })
      .toBe(true);
    const value = line.exec(this.out)?.[1];
    if (value === undefined) throw new Error(`npm start ended early: ${this.err}`);
    return value;
  }

  /** Waits until it has printed how to reach it. */
  async ready() {
    const curl = await this.printed(/^(curl .+)\n/m);
    return {
      curl,
      baseAddress: await this.printed(/^Base address +(\S+)$/m),
      docsAddress: await this.printed(/^Reference page +(\S+)$/m),
      apiKey: await this.printed(/^API key +(\S+)$/m),
      dynamodbPort: Number(await this.printed(/^DynamoDB Local +\S+:(\d+)$/m)),
    };
  }

  async exitCode(): Promise<unknown> {
    const [code] = await this.#exit;
    return code;
  }

  /** To npm only. */
  signal(name: NodeJS.Signals) {
    this.#child.kill(name);
  }

  /** To npm and all that it started, as a terminal does; 0 asks only whether any of them is left. */
  signalGroup(name: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-(this.#child.pid ?? Number.NaN), name);
    } catch {
      return false;
    }
  }
}
