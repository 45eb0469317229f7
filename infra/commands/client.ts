import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { program } from 'commander';
import { build } from 'esbuild';
import { projectDirectory } from '../project-directory.ts';

const source = join('lib', 'client', 'animal-store.ts');
const directory = join(projectDirectory, '.build', 'client');

/** The client is a package of its own: Node.js runs no TypeScript from node_modules, and a client needs no part of the service. */
const manifest = async () => {
  const text = await readFile(join(projectDirectory, 'lib', 'contract', 'openapi.json'), 'utf8');
  const { info }: { info: { version: string; license: { name: string } } } = JSON.parse(text);
  return {
    name: 'animal-store-client',
    version: info.version,
    description: 'The typed client of the animal store service',
    license: info.license.name,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=22' },
    exports: {
      '.': { types: './types/client/animal-store.d.ts', default: './animal-store.js' },
      './openapi.json': './openapi.json',
    },
  };
};

/** Compiles the declarations of the client, and of what it imports, to `types/`. */
const writeTypes = () => {
  const options = [
    ...['--declaration', '--emitDeclarationOnly', '--outDir', join(directory, 'types')],
    ...['--rootDir', 'lib', '--target', 'ESNext', '--module', 'NodeNext', '--types', 'node'],
    ...['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck'],
    '--allowImportingTsExtensions',
  ];
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
  return promisify(execFile)(process.execPath, [tsc, '--ignoreConfig', source, ...options], {
    cwd: projectDirectory,
  });
};

program
  .name('npm run client')
  .description('Writes the typed client to .build/client, as a package for npm.')
  .parse();

await rm(directory, { recursive: true, force: true });
await build({
  absWorkingDir: projectDirectory,
  entryPoints: [source],
  outdir: directory,
  bundle: true,
  platform: 'neutral',
  target: 'es2024',
  minify: true,
  sourcemap: true,
  // The licence of ky is a file of its own.
  legalComments: 'none',
});
await writeTypes();
// The bundle contains ky, whose licence must be distributed with it.
for (const [from, to] of [
  ['lib/contract/openapi.json', 'openapi.json'],
  ['lib/client/README.md', 'README.md'],
  ['LICENSE', 'LICENSE'],
  ['node_modules/ky/license', 'license-of-ky'],
] as const) {
  await cp(join(projectDirectory, from), join(directory, to));
}
await writeFile(join(directory, 'package.json'), JSON.stringify(await manifest(), null, 2));
console.log(`Wrote ${directory}: npm install it, or npm publish it.`);
