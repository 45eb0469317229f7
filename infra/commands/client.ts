import { execFile } from 'node:child_process';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { program } from 'commander';
import { build } from 'esbuild';
import { info } from '../../lib/openapi/document.ts';
import { projectDirectory } from '../project-directory.ts';

const source = join('lib', 'client', 'animal-store.ts');
const directory = join(projectDirectory, '.build', 'client');

/** The client is a separate package in JavaScript, because Node.js does not run TypeScript from node_modules. */
const manifest = {
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

program
  .name('npm run client')
  .description('Writes the typed client to .build/client as an npm package.')
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
  // The licence of ky is copied to a separate file below.
  legalComments: 'none',
});
// The declarations of the client, and of what it imports, are in `types/`.
const tsc = `node_modules/typescript/bin/tsc --ignoreConfig ${source} --declaration --emitDeclarationOnly
  --rootDir lib --target ESNext --module NodeNext --types node --strict --exactOptionalPropertyTypes
  --skipLibCheck --allowImportingTsExtensions --outDir`;
await promisify(execFile)(process.execPath, [...tsc.split(/\s+/), join(directory, 'types')], {
  cwd: projectDirectory,
});
// The bundle contains ky, whose licence must be distributed with it.
for (const [from, to] of [
  ['lib/contract/openapi.json', 'openapi.json'],
  ['lib/client/README.md', 'README.md'],
  ['LICENSE', 'LICENSE'],
  ['node_modules/ky/license', 'license-of-ky'],
] as const) {
  await cp(join(projectDirectory, from), join(directory, to));
}
await writeFile(join(directory, 'package.json'), JSON.stringify(manifest, null, 2));
console.log(`Wrote ${directory}, a package for npm install and npm publish.`);
