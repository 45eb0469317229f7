import { execFileSync } from 'node:child_process';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { program } from 'commander';
import { build } from 'esbuild';
import { info } from '../../lib/openapi/document.ts';
import { projectDirectory } from '../build/project-directory.ts';
import { clientPackage } from '../settings/owner.ts';
import { runProgram } from './shared/run-program.ts';
import { shellWord } from './shared/terminal.ts';

const source = join('lib', 'client', 'animal-store.ts');

const main = './animal-store.js';
const types = './types/client/animal-store.d.ts';

/**
 * The client is a separate package in JavaScript, because Node.js does not run TypeScript from node_modules.
 * TypeScript 5 ignores `exports` in a project with `"module": "commonjs"`, and needs `main` and `types`.
 */
const manifest = {
  name: clientPackage,
  version: info.version,
  description: 'The typed client of the animal store service',
  license: info.license.name,
  type: 'module',
  sideEffects: false,
  engines: { node: '>=22' },
  main,
  types,
  exports: {
    '.': { types, default: main },
    './package.json': './package.json',
  },
  // npm publishes a package of a scope privately by default.
  publishConfig: { access: 'public' },
};

const directory = join(projectDirectory, '.build', 'client');

const writePackage = async () => {
  // Files of an earlier package must not stay.
  await rm(directory, { recursive: true, force: true });
  await build({
    absWorkingDir: projectDirectory,
    entryPoints: [source],
    outdir: directory,
    bundle: true,
    platform: 'neutral',
    target: 'es2024',
    // The code is not minified, because developers read it in stack traces.
    sourcemap: true,
  });
  // The declarations of the client, and of what it imports, are in `types/`.
  const tsc = `node_modules/typescript/bin/tsc --ignoreConfig ${source} --declaration --emitDeclarationOnly
    --rootDir lib --target ESNext --module NodeNext --types node --strict --exactOptionalPropertyTypes
    --skipLibCheck --allowImportingTsExtensions --outDir`;
  execFileSync(process.execPath, [...tsc.split(/\s+/), join(directory, 'types')], {
    cwd: projectDirectory,
    stdio: 'inherit',
  });
  for (const [from, to] of [
    ['lib/client/README.md', 'README.md'],
    ['LICENSE', 'LICENSE'],
  ] as const) {
    await cp(join(projectDirectory, from), join(directory, to));
  }
  await writeFile(join(directory, 'package.json'), JSON.stringify(manifest, null, 2));
  console.log(
    `Wrote a package. Pack it into a file for your project: npm pack ${shellWord(directory)}`,
  );
};

program
  .name('npm run client')
  .description('Writes the typed client as an npm package.')
  .action(writePackage);
await runProgram(program);
