import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { projectDirectory } from '../../infra/project-directory.ts';

/** An edit that breaks the code which keeps a promise of test/README.md. */
interface Break {
  readonly promise: string;
  /** The test that must fail, as test/README.md names it. */
  readonly test: string;
  readonly file: string;
  /** The text to replace, which the file must have once. */
  readonly text: string;
  readonly replacement: string;
}

const breaks: readonly Break[] = [
  {
    promise: 'a pet is stored exactly once',
    test: 'service/exactly-once-model.test.ts',
    file: 'lib/pets/pet-store.ts',
    text: "'attribute_not_exists(id)'",
    replacement: "'attribute_not_exists(id) OR attribute_exists(id)'",
  },
  {
    promise: 'pages show each pet exactly once',
    test: 'service/paging.test.ts',
    file: 'lib/pets/pet-store.ts',
    text: 'BigInt(id) + 1n',
    replacement: 'BigInt(id)',
  },
  {
    promise: 'an integer keeps every digit',
    test: 'service/json.test.ts',
    file: 'lib/contract/exact-json.ts',
    text: 'return BigInt(digits)',
    replacement: 'return value',
  },
  {
    promise: 'a request costs the same at any size of the catalogue',
    test: 'service/dynamodb-cost.test.ts',
    file: 'lib/pets/pet-store.ts',
    text: 'Limit: limit,',
    replacement: '',
  },
  {
    promise: 'an id that the service never writes breaks no list',
    test: 'service/stored-ids.test.ts',
    file: 'lib/pets/integer-part.ts',
    text: 'integer.length + Number(exponent)',
    replacement: 'integer.length',
  },
  {
    promise: 'a defect returns 500',
    test: 'service/unexpected-errors.test.ts',
    file: 'lib/http/error-responses.ts',
    text: 'errors.internalError(thrown)',
    replacement: 'errors.serviceUnavailable(thrown)',
  },
  {
    promise: 'no log level drops a metric',
    test: 'service/observability.test.ts',
    file: 'lib/http/observability.ts',
    text: '    record.write({',
    replacement: '    if (failed || logsSuccesses) record.write({',
  },
  {
    promise: 'a revoked key is refused within about 60 s',
    test: 'service/keys.test.ts',
    file: 'lib/keys/find-api-key.ts',
    text: 'const knownFreshMs = 60_000;',
    replacement: 'const knownFreshMs = 90_000;',
  },
  {
    promise: 'an expired key is refused at once',
    test: 'service/keys.test.ts',
    file: 'lib/keys/authenticate.ts',
    text: 'isAhead(expiresAt) && ',
    replacement: '',
  },
  {
    promise: 'wrong secrets evict no valid keys',
    test: 'service/keys.test.ts',
    file: 'lib/keys/find-api-key.ts',
    text: 'remember(record ? keys : unprovenKeys,',
    replacement: 'remember(record ? provenKeys : unprovenKeys,',
  },
  {
    promise: 'the successor of a rotated key gets the lifetime with which the key was issued',
    test: 'commands/keys-cli.test.ts',
    file: 'lib/keys/key-administration.ts',
    text: 'lifetimeMs ?? record.lifetimeMs',
    replacement: 'lifetimeMs',
  },
  {
    promise: 'no input takes CPU time quadratic in its size',
    test: 'service/hostile-inputs.test.ts',
    file: 'lib/http/body-limits.ts',
    text: 'if (contentType.length > maxContentTypeLength) return false;',
    replacement: '',
  },
  {
    promise: 'a name has a visible character',
    test: 'service/request-body.test.ts',
    file: 'lib/contract/pet.ts',
    text: 'visible.test(text) && ',
    replacement: '',
  },
  {
    promise: 'the typed client sends its API key to no other host',
    test: 'client/hostile-server.test.ts',
    file: 'lib/client/connection.ts',
    text: "redirect: 'manual'",
    replacement: "redirect: 'follow'",
  },
  {
    promise: 'no response makes the typed client hang',
    test: 'client/hostile-server.test.ts',
    file: 'lib/client/animal-store.ts',
    text: 'if (cursor === remembered) throw',
    replacement: 'if (!cursor) throw',
  },
  {
    promise: 'the typed client returns nothing that the service does not send',
    test: 'client/hostile-server.test.ts',
    file: 'lib/client/bodies.ts',
    text: 'isInt64(categoryId) &&',
    replacement: '',
  },
  {
    promise: 'the preflight finds a problem of an account',
    test: 'commands/preflight.test.ts',
    file: 'infra/commands/preflight/preflight.ts',
    text: 'quota < needed &&',
    replacement: 'quota < 0 &&',
  },
  {
    promise: 'a deployment never loses a table',
    test: 'commands/deploy.test.ts',
    file: 'infra/commands/deploy/main.ts',
    text: '...lossesOf(changes), ',
    replacement: '',
  },
  {
    promise: 'a hotfix does not wait for other releases',
    test: 'project/workflows.test.ts',
    file: '.github/workflows/release.yml',
    text: "github.event_name == 'workflow_dispatch' && 'hotfix' || 'release'",
    replacement: "'release'",
  },
  {
    promise: 'a pull request cannot read data',
    test: 'project/workflows.test.ts',
    file: '.github/workflows/check.yml',
    text: 'environment: diff',
    replacement: 'environment: prod',
  },
  {
    promise: 'a change of a stage is asked for',
    test: 'commands/operate.test.ts',
    file: 'infra/commands/operate/program.ts',
    text: ') !== word) throw',
    replacement: ") === '') throw",
  },
  {
    promise: 'an operation without a method of the client is named',
    test: 'project/operations.test.ts',
    file: 'lib/client/animal-store.ts',
    text: 'async getPet(',
    replacement: 'async getAnimal(',
  },
  {
    promise: 'a saved source file is live within seconds',
    test: 'local/watch-sources.test.ts',
    file: 'infra/local/watch-sources.ts',
    text: "watcher.on('all'",
    replacement: "watcher.on('unlink'",
  },
  {
    promise: 'dependencies are pinned by hash',
    test: 'project/dependencies.test.ts',
    file: 'package.json',
    text: '"valibot": "',
    replacement: '"valibot": "^',
  },
];

const readme = readFileSync(join(projectDirectory, 'test/README.md'), 'utf8');
const [, promises = ''] = /^## Promises$(.*?)^## /ms.exec(readme) ?? [];
const promised = new Set(
  promises.matchAll(/\]\(([\w/-]+\.test\.ts)\)/g).map(([, test = '']) => test),
);

/** The rows whose file does not have their text once. */
const staleRows = () =>
  breaks
    .filter(({ file, text }) => {
      const parts = readFileSync(join(projectDirectory, file), 'utf8').split(text);
      return parts.length !== 2;
    })
    .map(({ promise, file }) => `${file} does not have once the text that "${promise}" replaces.`);

const Report = v.object({
  testResults: v.array(
    v.object({
      assertionResults: v.array(v.object({ status: v.string(), fullName: v.string() })),
    }),
  ),
});

/** Returns the first test that fails in a copy of the project with an edit, or `undefined`. */
const failingTest = (copy: string, { test, file, text, replacement }: Break) => {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  const report = join(copy, 'report.json');
  writeFileSync(report, '{"testResults":[]}');
  writeFileSync(
    path,
    source.replace(text, () => replacement),
  );
  const words = ['run', '--config', 'test/vitest.config.ts', `test/${test}`, '--bail=1'];
  try {
    spawnSync('vitest', [...words, '--reporter=json', `--outputFile=${report}`], { cwd: copy });
  } finally {
    writeFileSync(path, source);
  }
  const { testResults } = v.parse(Report, JSON.parse(readFileSync(report, 'utf8')));
  // A file that can't be loaded has no results, and so counts as a break that no test noticed.
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed')?.fullName;
};

const copyProject = () => {
  const copy = mkdtempSync(join(tmpdir(), 'animal-store-broken-'));
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: projectDirectory });
  for (const name of `${listed}`.split('\0').filter(Boolean))
    cpSync(join(projectDirectory, name), join(copy, name));
  symlinkSync(join(projectDirectory, 'node_modules'), join(copy, 'node_modules'));
  return copy;
};

/** Breaks each promise in a copy of the project. Arguments select tests by parts of their names. */
const run = (selected: readonly string[]) => {
  const stale = staleRows();
  if (stale.length > 0) throw new Error(stale.join('\n'));
  const broken = new Set(breaks.map(({ test }) => test));
  for (const test of promised.difference(broken)) console.log(`LEFT OUT: no edit for ${test}`);
  const copy = copyProject();
  let unnoticed = 0;
  try {
    for (const each of breaks) {
      if (selected.length > 0 && !selected.some((word) => each.test.includes(word))) continue;
      const startedAt = performance.now();
      const failing = failingTest(copy, each);
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      if (failing === undefined) unnoticed += 1;
      const result = failing === undefined ? 'NOT NOTICED' : `noticed by "${failing}"`;
      console.log(`${each.promise}: ${result} (${each.test}, ${seconds} s)`);
    }
  } finally {
    rmSync(copy, { recursive: true });
  }
  if (unnoticed > 0) throw new Error(`No test noticed ${unnoticed} of the breaks`);
};

run(process.argv.slice(2));
