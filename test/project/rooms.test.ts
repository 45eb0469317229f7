import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDirectory } from '../../infra/build/project-directory.ts';

/**
 * Each room, which is a folder, or a file that other rules hold for than for its folder: what it is for, and
 * what of the project it imports besides its own files, which is other rooms, or single files of them.
 */
const rooms: Readonly<Record<string, readonly [purpose: string, imports: string]>> = {
  'lib/contract': ['what clients and the service agree on', ''],
  'lib/client': ['the typed client, which also runs in browsers', 'lib/contract'],
  'lib/openapi': ['the contract as documents', 'lib/contract lib/operations'],

  functions: [
    'the functions of the API',
    'lib/contract lib/http lib/keys lib/operations lib/pets/pet-store.ts',
  ],
  'lib/operations': [
    'all that is known of an operation, for functions, documents and stack',
    'lib/contract lib/pets/cursor.ts lib/pets/stored-pet.ts',
  ],
  'lib/http': [
    'the Middy chain around each operation',
    'lib/aws lib/contract lib/environment.ts lib/keys lib/operations lib/telemetry',
  ],
  'lib/pets': ['the store of pets', 'lib/aws lib/contract lib/environment.ts lib/telemetry'],
  'lib/keys': ['the store of API keys', 'lib/aws lib/environment.ts lib/telemetry'],
  'lib/aws': ['calls of DynamoDB', 'lib/contract lib/environment.ts lib/telemetry'],
  'lib/telemetry': ['logs and metrics', 'lib/environment.ts'],
  'lib/environment.ts': ['the environment variables of functions', ''],

  'functions/self-check': [
    'the functions with which a stage checks itself',
    'lib/contract lib/environment.ts lib/self-check lib/telemetry',
  ],
  'lib/self-check': [
    'what these functions send, and with which key',
    'lib/contract lib/environment.ts lib/gateway-events lib/keys/api-key.ts lib/operations',
  ],
  'lib/gateway-events': [
    'events as API Gateway makes them, for self-checks and the local gateway',
    'lib/contract lib/operations',
  ],

  infra: [
    'the apps of the CDK',
    'cdk.json infra/build infra/constructs infra/settings infra/stacks',
  ],
  'infra/settings': [
    'the settings and names of stages, and what clients are told of them',
    'package.json lib/contract lib/keys/api-key.ts lib/openapi/schemas.ts lib/operations lib/pets/stored-pet.ts',
  ],
  'infra/stacks': [
    'the stacks',
    'cdk.json infra/constructs infra/settings lib/contract lib/operations',
  ],
  'infra/constructs': [
    'the parts of a stack, which know no code of a function',
    'infra/build infra/settings lib/contract lib/operations lib/telemetry/metric-names.ts',
  ],
  'infra/build': ['what is made of the sources: bundles and templates', 'infra/settings'],

  'infra/local': [
    'the local service, which reads templates and so needs no construct',
    'infra/build infra/local/dynamodb infra/local/gateway infra/local/lambda infra/settings lib/contract lib/gateway-events lib/keys/api-key.ts lib/keys/key-administration.ts lib/openapi',
  ],
  'infra/local/dynamodb': ['DynamoDB Local', 'infra/build infra/local'],
  'infra/local/gateway': [
    'a gateway that does what API Gateway does',
    'infra/local infra/local/lambda lib/contract lib/gateway-events',
  ],
  'infra/local/lambda': ['functions as Lambda runs them', 'infra/build infra/local infra/settings'],

  'infra/commands': [
    'a file for each command of operators and contributors, which needs no other one',
    'infra/build infra/commands/shared infra/local infra/local/gateway infra/settings lib/openapi',
  ],
  'infra/commands/shared': [
    'what several commands use',
    'infra/local infra/settings lib/keys/key-administration.ts',
  ],
  'infra/commands/keys.ts': [
    'the command that manages API keys',
    'infra/commands/keys infra/commands/shared infra/local infra/settings lib/keys/api-key.ts lib/keys/key-administration.ts',
  ],
  'infra/commands/keys': [
    'the local keys and the output of that command',
    'infra/commands/shared infra/local lib/keys/key-administration.ts',
  ],
  'infra/commands/deploy.ts': [
    'the command that deploys a stage',
    'infra/build infra/commands/deploy infra/commands/shared infra/settings',
  ],
  'infra/commands/deploy': ['the steps of that command', 'infra/commands/shared infra/settings'],
};

/** The rooms whose files are programs. A program imports no other one. */
const ofPrograms = ['functions', 'functions/self-check', 'infra', 'infra/commands'];

/** The room of a file. A folder without a line in the table is a room too, which may import nothing. */
const roomOf = (file: string): string => (file in rooms ? file : dirname(file));

const files = globSync('{functions,infra,lib}/**/*.{ts,mjs,cjs,js}', { cwd: projectDirectory });

/** Each import of a file of the project, by its path: of types, and while a program runs, too. */
const imports = files.flatMap((file) => {
  const text = readFileSync(join(projectDirectory, file), 'utf8');
  const paths = text.matchAll(/\b(?:from|import|require)\b[ (]*['"](\.[^'"]*)['"]/g);
  return [...paths].map(([, path = '']) => ({ file, imported: join(dirname(file), path) }));
});

const table = 'The table is in test/project/rooms.test.ts.';

it('every folder has a line that says what it is for', () => {
  expect(new Set(files.map(roomOf)), table).toEqual(new Set(Object.keys(rooms)));
});

it('every room imports what its line says, and nothing else', () => {
  const allowed = new Set<string>();
  for (const [room, [, names]] of Object.entries(rooms))
    for (const name of names.split(' ').filter(Boolean)) allowed.add(`${room} imports ${name}`);
  const unused = new Set(allowed);
  const wrong: string[] = [];
  for (const { file, imported } of imports) {
    const [room, target] = [roomOf(file), roomOf(imported)];
    if (room === target && !ofPrograms.includes(room)) continue;
    const needed = [`${room} imports ${target}`, `${room} imports ${imported}`];
    for (const line of needed) unused.delete(line);
    if (!needed.some((line) => allowed.has(line)))
      wrong.push(`${file} imports ${imported}: ${room} may not import ${target}`);
  }
  expect(wrong, table).toEqual([]);
  expect([...unused], `No file does what these words allow. ${table}`).toEqual([]);
});
