import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { projectDirectory } from '../project-directory.ts';

const source = join('lib', 'client', 'animal-store.ts');
const directory = join(projectDirectory, '.build', 'client');

/** Node.js runs no TypeScript from node_modules, and a client needs nothing of the service: so it is a package of its own. */
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
      '.': { types: './animal-store.d.ts', default: './animal-store.js' },
      './openapi.json': './openapi.json',
    },
  };
};

/** Compiles the declarations, which lie like their sources below `lib`, and keeps those of the client. */
const writeTypes = async () => {
  const declarations = await mkdtemp(join(tmpdir(), 'animal-store-client-'));
  const options = [
    ...['--declaration', '--emitDeclarationOnly', '--outDir', declarations, '--rootDir', 'lib'],
    ...['--target', 'ESNext', '--module', 'NodeNext', '--types', 'node', '--skipLibCheck'],
    ...['--strict', '--exactOptionalPropertyTypes', '--allowImportingTsExtensions'],
  ];
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '--ignoreConfig', source, ...options], {
    cwd: projectDirectory,
  });
  await cp(join(declarations, 'client'), directory, { recursive: true });
  await rm(declarations, { recursive: true });
};

await rm(directory, { recursive: true, force: true });
await build({
  absWorkingDir: projectDirectory,
  entryPoints: [source],
  outdir: directory,
  bundle: true,
  platform: 'neutral',
  target: 'es2024',
});
await writeTypes();
await cp(
  join(projectDirectory, 'lib', 'contract', 'openapi.json'),
  join(directory, 'openapi.json'),
);
// The bundle holds ky, whose licence asks to be kept with it.
await cp(join(projectDirectory, 'node_modules', 'ky', 'license'), join(directory, 'license-of-ky'));
await writeFile(join(directory, 'package.json'), JSON.stringify(await manifest(), null, 2));
console.log(`Wrote ${directory}: npm install it, or npm publish it.`);
