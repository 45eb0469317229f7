import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { copySources } from '../support/copy-sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A copy of the project with the installed packages, so that a test may change its sources. */
export const copyProject = async (
  ...atEnd: Parameters<typeof temporaryFolder>
): Promise<string> => {
  const path = join(await temporaryFolder(...atEnd), 'Straße mit Umläuten');
  await copySources(path);
  await symlink(join(projectDirectory, 'node_modules'), join(path, 'node_modules'));
  return path;
};

/** Replaces a text of a file in a copy of the project. */
export const editIn = async (project: string, file: string, from: string, to: string) => {
  const path = join(project, file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
};

/**
 * The processes of this machine: a line for each, its id before its command line. Not every machine has `ps`.
 */
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

/** The output of a command that is pasted into a shell. */
export const runInShell = async (line: string): Promise<string> =>
  (await promisify(execFile)('sh', ['-c', line])).stdout;

/** `npm start` in a copy of the project, in a process group of its own, until the test ends. */
export class NpmStart {
  out = '';
  err = '';
  readonly #project: string;
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown[]>;

  /** Starts it. With `on`, it runs on a terminal of its own. */
  constructor(project: string, port: number, options = '', on?: 'terminal') {
    const command = `npm start --silent -- ${options}`;
    const [program, ...words] =
      on === 'terminal'
        ? ['script', '-qefc', command, '/dev/null']
        : ['sh', '-c', `exec ${command}`];
    // Without the variables that an enclosing npm sets for its scripts.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|INIT_CWD)/.test(name),
    );
    this.#project = project;
    this.#child = spawn(`${program}`, words, {
      cwd: project,
      detached: true,
      env: { ...Object.fromEntries(inherited), PORT: `${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void this.signalGroup('SIGKILL'));
    this.#child.stdout?.on('data', (data) => {
      // A terminal ends its lines by two characters.
      this.out += `${data}`.replaceAll('\r', '');
    });
    this.#child.stderr?.on('data', (data) => {
      this.err += data;
    });
    this.#exit = once(this.#child, 'exit');
  }

  /** Waits for a line of the output, and returns its first group. */
  async printed(line: RegExp): Promise<string> {
    await expect
      .poll(() => line.test(this.out) || this.#child.exitCode !== null, { timeout: 90_000 })
      .toBe(true);
    const value = line.exec(this.out)?.[1];
    if (value === undefined) throw new Error(`npm start ended early: ${this.err}`);
    return value;
  }

  /** Waits until it has printed its addresses and the API key. */
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

  /** Waits until it and all processes that it started have ended. */
  async ended(): Promise<void> {
    await this.#exit;
    await expect.poll(() => this.signalGroup(0), { timeout: 30_000 }).toBe(false);
    // DynamoDB Local is no member of the group, and runs a file of this copy of the project.
    await expect.poll(commandLines, { timeout: 30_000 }).not.toContain(this.#project);
  }

  /** Sends a signal to npm only. */
  signal(name: NodeJS.Signals) {
    this.#child.kill(name);
  }

  /** Sends a signal to npm and all that it started, as a terminal does; 0 only checks whether any is left. */
  signalGroup(name: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-(this.#child.pid ?? Number.NaN), name);
    } catch {
      return false;
    }
  }
}
