import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const read = (...path: string[]) => readFileSync(join(projectDirectory, ...path), 'utf8');

const folders = ['', 'test/runtime-client'];

describe('the lock files', () => {
  it.each(folders)('have the hash of each package: %s', (folder) => {
    const { packages } = JSON.parse(read(folder, 'package-lock.json'));
    const { '': _root, ...installed }: Record<string, { inBundle?: true }> = packages;
    const integrity = expect.stringMatching(/^sha512-/);
    for (const one of Object.values(installed)) {
      // What another package contains has the hash of that package.
      if (!one.inBundle) expect(one).toMatchObject({ integrity });
    }
  });

  it('hold the binaries of every platform', () => {
    const { packages } = JSON.parse(read('package-lock.json'));
    const entries: { optionalDependencies?: object }[] = Object.values(packages);
    const names = entries.flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(names).toContain('@esbuild/darwin-arm64');
    const ofPlatforms = names.filter((name) => name.startsWith('@'));
    expect(ofPlatforms.filter((name) => !packages[`node_modules/${name}`])).toEqual([]);
  });
});

it.each(folders)('no package runs a script when it is installed: %s', async (folder) => {
  const directory = await temporaryFolder();
  cpSync(join(projectDirectory, folder, '.npmrc'), join(directory, '.npmrc'));
  mkdirSync(join(directory, 'other'));
  const scripts = { postinstall: 'touch ../ran' };
  const other = { name: 'other', version: '1.0.0', scripts };
  writeFileSync(join(directory, 'other', 'package.json'), JSON.stringify(other));
  const manifest = { dependencies: { other: 'file:other' } };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  // Without the settings that an enclosing npm gives its scripts.
  const env = { PATH: process.env['PATH'] };
  const words = ['install', '--offline', '--no-audit'];
  const { status } = spawnSync('npm', words, { cwd: directory, env });
  expect([status, existsSync(join(directory, 'ran'))]).toEqual([0, false]);
});
