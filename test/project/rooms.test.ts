import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';

/**
 * The rooms of the house, and what of the project each imports besides its own files: other rooms, or single
 * files of them. A folder in a room is part of it, unless the room has a line for one of its folders.
 */
const rooms: Readonly<Record<string, string>> = {
  // What everybody may know, and the client, which runs in browsers.
  'lib/contract': '',
  'lib/client': 'lib/contract',

  // What the functions consist of.
  'lib/environment.ts': '',
  'lib/telemetry': 'lib/environment.ts',
  'lib/aws': 'lib/contract lib/environment.ts lib/telemetry',
  'lib/keys': 'lib/aws lib/environment.ts lib/telemetry',
  'lib/pets': 'lib/aws lib/contract lib/environment.ts lib/telemetry',
  'lib/operations': 'lib/contract lib/pets/cursor.ts lib/pets/stored-pet.ts',
  'lib/http': 'lib/aws lib/contract lib/environment.ts lib/keys lib/operations lib/telemetry',
  functions: 'lib/contract lib/http lib/keys lib/operations lib/pets',

  // What a stage checks itself with.
  'lib/gateway-events': 'lib/contract lib/operations',
  'lib/self-check':
    'lib/contract lib/environment.ts lib/gateway-events lib/keys/api-key.ts lib/operations',
  'functions/self-check': 'lib/contract lib/environment.ts lib/self-check lib/telemetry',

  // What declares a stage knows names of lib, but no code of a function.
  'infra/settings':
    'package.json lib/contract lib/keys/api-key.ts lib/operations lib/pets/stored-pet.ts',
  'infra/build': 'infra/settings',
  'infra/build/code-cache':
    'infra/build/bundle-functions.ts infra/build/project-directory.ts infra/settings lib/contract lib/gateway-events lib/keys/api-key.ts lib/operations',
  'infra/constructs':
    'infra/build infra/settings lib/contract lib/operations lib/telemetry/metric-names.ts',
  'infra/stacks': 'cdk.json infra/constructs infra/settings lib/contract lib/operations',
  infra: 'cdk.json infra/build infra/build/code-cache infra/constructs infra/settings infra/stacks',

  // Commands and the local service read templates, so they need no construct. No command needs another one.
  'lib/openapi': 'lib/contract lib/operations',
  'infra/local':
    'infra/build infra/settings lib/contract lib/gateway-events lib/keys/api-key.ts lib/keys/key-administration.ts lib/openapi',
  'infra/commands/shared': 'infra/local infra/settings lib/keys/key-administration.ts',
  'infra/commands':
    'infra/build infra/commands/shared infra/local infra/settings lib/keys/api-key.ts lib/keys/key-administration.ts lib/openapi',
  'infra/commands/deploy': 'infra/commands/shared infra/settings',
  'infra/commands/deploy.ts':
    'infra/build infra/commands/deploy infra/commands/shared infra/settings',
};

/** The rooms whose files are programs. A program imports no other one. */
const ofPrograms = ['functions', 'functions/self-check', 'infra', 'infra/commands'];

const roomOf = (file: string): string => {
  const names = Object.keys(rooms);
  const isWhole = (name: string) => !names.some((other) => other.startsWith(`${name}/`));
  const around = names.find((name) => file.startsWith(`${name}/`) && isWhole(name));
  return [file, dirname(file)].find((each) => names.includes(each)) ?? around ?? 'no room';
};

const files = globSync('{functions,infra,lib}/**/*.{ts,mjs,cjs,js}', { cwd: projectDirectory });

/** Each import of a file of the project, by its path: of types, and while a program runs, too. */
const imports = files.flatMap((file) => {
  const text = readFileSync(join(projectDirectory, file), 'utf8');
  const paths = text.matchAll(/\b(?:from|import|require)\b[ (]*['"](\.[^'"]*)['"]/g);
  return [...paths].map(([, path = '']) => ({ file, imported: join(dirname(file), path) }));
});

const table = 'The table is in test/project/rooms.test.ts.';

it('every file is in a room', () => {
  const homeless = files.filter((file) => roomOf(file) === 'no room');
  expect(homeless, `Give their folders a line. ${table}`).toEqual([]);
});

it('every room imports what its line says, and nothing else', () => {
  const unused = new Set<string>();
  for (const [room, allowed] of Object.entries(rooms))
    for (const each of allowed.split(' ').filter(Boolean)) unused.add(`${room} imports ${each}`);
  const allowed = new Set(unused);
  const wrong = imports.filter(({ file, imported }) => {
    const [room, target] = [roomOf(file), roomOf(imported)];
    if (room === target && !ofPrograms.includes(room)) return false;
    const lines = [target, imported].map((each) => `${room} imports ${each}`);
    for (const line of lines) unused.delete(line);
    return !lines.some((line) => allowed.has(line));
  });
  const told = wrong.map(
    ({ file, imported }) =>
      `${file} imports ${imported}: ${roomOf(file)} may not import ${roomOf(imported)}`,
  );
  expect(told, table).toEqual([]);
  expect([...unused], `No file does what these words allow. ${table}`).toEqual([]);
});
