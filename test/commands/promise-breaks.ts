import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
    promise: 'clients never see a temporary fault',
    test: 'service/faults.test.ts',
    file: 'lib/aws/dynamodb.ts',
    text: 'const maxAttempts = 3;',
    replacement: 'const maxAttempts = 1;',
  },
  {
    promise: 'a lasting fault returns 503 within 5 s',
    test: 'service/faults.test.ts',
    file: 'lib/aws/dynamodb.ts',
    text: 'const attemptMs = 1_000;',
    replacement: 'const attemptMs = 3_000;',
  },
  {
    promise: 'clients never see a temporary fault of TLS',
    test: 'service/tls.test.ts',
    file: 'lib/aws/call-dynamodb.ts',
    text: '!(error instanceof DynamoDBServiceException) || ',
    replacement: '',
  },
  {
    promise: 'an invalid response never becomes []',
    test: 'service/faults.test.ts',
    file: 'lib/pets/pet-store.ts',
    text: 'Items ?? [{}]',
    replacement: 'Items ?? []',
  },
  {
    promise: 'a corrupt item never breaks a list',
    test: 'service/faults.test.ts',
    file: 'lib/pets/pet-store.ts',
    text: '} catch {\n        return [];',
    replacement: '} catch (error) {\n        throw error;',
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
    promise: 'no secret of a client is in a log line',
    test: 'service/secrets.test.ts',
    file: 'lib/http/observability.ts',
    text: '{ name: cause.name,',
    replacement: '{ name: cause.message,',
  },
  {
    promise: 'no secret of a client is in an error',
    test: 'service/secrets.test.ts',
    file: 'lib/contract/refusals.ts',
    text: '(?!pets_(live|test)_)',
    replacement: '',
  },
  {
    promise: 'the successor of a rotated key gets the lifetime with which the key was issued',
    test: 'commands/keys-cli.test.ts',
    file: 'lib/keys/key-administration.ts',
    text: 'lifetimeMs ?? record.lifetimeMs',
    replacement: 'lifetimeMs',
  },
  {
    promise: 'no request gets a 5xx',
    test: 'service/fuzz.test.ts',
    file: 'lib/http/error-responses.ts',
    text: 'return parserError(thrown) ?? errors',
    replacement: 'return errors',
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
    promise: 'a lost response never makes the typed client create a second pet',
    test: 'client/client-faults.test.ts',
    file: 'lib/client/animal-store.ts',
    text: ", 'Idempotency-Key': idempotencyKey",
    replacement: '',
  },
  {
    promise: 'the typed client sends its API key to no other host',
    test: 'client/hostile-server.check.ts',
    file: 'lib/client/connection.ts',
    text: "redirect: 'manual'",
    replacement: "redirect: 'follow'",
  },
  {
    promise: 'no response makes the typed client hang',
    test: 'client/hostile-server.check.ts',
    file: 'lib/client/animal-store.ts',
    text: 'if (cursor === remembered) throw',
    replacement: 'if (!cursor) throw',
  },
  {
    promise: 'no response makes the typed client repeat its API key in an error',
    test: 'client/hostile-server.check.ts',
    file: 'lib/client/connection.ts',
    text: "text.replaceAll(this.#apiKey, '<API key>')",
    replacement: 'text',
  },
  {
    promise: 'the typed client returns nothing that the service does not send',
    test: 'client/hostile-server.check.ts',
    file: 'lib/client/bodies.ts',
    text: 'isInt64(categoryId) &&',
    replacement: '',
  },
  {
    promise: 'the package of the client alters no integer',
    test: 'client/client-package.check.ts',
    file: 'lib/contract/exact-json.ts',
    text: 'JSON.rawJSON(member.toString())',
    replacement: 'Number(member)',
  },
  {
    promise: 'the examples of the reference page work',
    test: 'project/reference-page.test.ts',
    file: 'lib/openapi/code-samples.ts',
    text: '-H "Content-Type: application/json"',
    replacement: '-H "Content-Type: text/plain"',
  },
  {
    promise: 'the reference page is accessible',
    test: 'project/reference-page-in-browser.check.ts',
    file: 'lib/openapi/reference-page.css',
    text: '--scalar-color-2: #5a5a5a;',
    replacement: '--scalar-color-2: #cccccc;',
  },
  {
    promise: 'the preflight finds a problem of an account',
    test: 'commands/preflight.test.ts',
    file: 'infra/commands/preflight/preflight.ts',
    text: 'quota < needed &&',
    replacement: 'quota < 0 &&',
  },
  {
    promise: 'staging can be deployed before prod is decided',
    test: 'commands/first-deployment.check.ts',
    file: 'infra/app.ts',
    text: 'if (placeholders.length === 0) return true;',
    replacement: 'return true;',
  },
  {
    promise: 'a stage of your own has no name that could be taken for prod',
    test: 'infra/own-stages.test.ts',
    file: 'infra/own-stage-name.ts',
    text: ' || differByOneSlip(appearance, seen)',
    replacement: '',
  },
  {
    promise: 'a stage of your own leaves nothing behind',
    test: 'infra/own-stages.test.ts',
    file: 'infra/stages.ts',
    text: 'pointInTimeRecoveryDays: 0,',
    replacement: 'pointInTimeRecoveryDays: 1,',
  },
  {
    promise: 'a deployment never loses a table',
    test: 'commands/deploy.check.ts',
    file: 'infra/commands/deploy/main.ts',
    text: '...lossesOf(changes), ',
    replacement: '',
  },
  {
    promise: 'a release deploys what was checked',
    test: 'project/workflows.test.ts',
    file: '.github/workflows/release.yml',
    text: '            .build/stacks\n',
    replacement: '',
  },
  {
    promise: 'a release goes back by a deployment',
    test: 'project/workflows.test.ts',
    file: '.github/workflows/release.yml',
    text: 'AnimalStore-prod --before "$GITHUB_RUN_ID"',
    replacement: 'AnimalStore-prod',
  },
  {
    promise: 'prod goes back to a good release only',
    test: 'commands/releases.test.ts',
    file: 'infra/commands/deploy/releases.ts',
    text: 'if (withdrawnAt(commit) <= job.end) last',
    replacement: 'last',
  },
  {
    promise: 'a hotfix does not wait for other releases',
    test: 'project/workflows.test.ts',
    file: '.github/workflows/release.yml',
    text: "github.event_name == 'workflow_dispatch' && 'hotfix' || 'release'",
    replacement: "'release'",
  },
  {
    promise: 'no older release can revert a hotfix',
    test: 'project/workflows.test.ts',
    file: '.github/workflows/release.yml',
    text: '&& ! git merge-base',
    replacement: '&& git merge-base',
  },
  {
    promise: 'a pull request cannot read data',
    test: 'project/workflows.test.ts',
    file: '.github/workflows/check.yml',
    text: 'environment: diff',
    replacement: 'environment: prod',
  },
  {
    promise: 'a failed release can be repeated',
    test: 'infra/stack.test.ts',
    file: 'infra/constructs/firewall.ts',
    text: 'RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE',
    replacement: 'RemovalPolicy.RETAIN',
  },
  {
    promise: 'a canary requires alarms',
    test: 'infra/stages.test.ts',
    file: 'infra/require-safe.ts',
    text: 'stage.canaryMinutes !== undefined && ',
    replacement: 'stage.canaryMinutes === -1 && ',
  },
  {
    promise: "the firewall counts every spelling of a key's header as one",
    test: 'infra/stages.test.ts',
    file: 'infra/constructs/firewall.ts',
    text: "{ priority: 1, type: 'LOWERCASE' },",
    replacement: '',
  },
  {
    promise: 'a function starts from its code cache',
    test: 'infra/code-cache.check.ts',
    file: 'infra/build/entry-module.ts',
    text: '    cachedData,\n',
    replacement: '',
  },
  {
    promise: 'a function starts without a code cache',
    test: 'infra/code-cache.check.ts',
    file: 'infra/build/entry-module.ts',
    text: '// The function runs without it.',
    replacement: "throw new Error('There is no cache');",
  },
  {
    promise: 'a version is checked before it gets traffic',
    test: 'infra/before-traffic.test.ts',
    file: 'functions/checks/before-traffic.ts',
    text: "status: passed ? 'Succeeded' : 'Failed'",
    replacement: "status: 'Succeeded'",
  },
  {
    promise: 'a version that fails is rolled back',
    test: 'infra/alarms.test.ts',
    file: 'infra/constructs/canary-deployment.ts',
    text: 'threshold: 0.5,',
    replacement: 'threshold: 50,',
  },
  {
    promise: 'a version that is slow is rolled back',
    test: 'infra/alarms.test.ts',
    file: 'infra/constructs/canary-deployment.ts',
    text: 'threshold: latencyLimitMs,',
    replacement: 'threshold: 10 * latencyLimitMs,',
  },
  {
    promise: 'an alarm rolls a deployment back',
    test: 'infra/stages.test.ts',
    file: 'infra/constructs/canary-deployment.ts',
    text: 'deploymentInAlarm: true',
    replacement: 'deploymentInAlarm: false',
  },
  {
    promise: 'each function has permissions for its own calls only',
    test: 'infra/permissions.test.ts',
    file: 'infra/operations.ts',
    text: "[{ action: 'GetItem', target: 'pets table', units: 1 }]",
    replacement:
      "[{ action: 'GetItem', target: 'pets table', units: 1 }, { action: 'PutItem', target: 'pets table', units: 2 }]",
  },
  {
    promise: 'the probe reports whether clients get answers',
    test: 'infra/probe.test.ts',
    file: 'functions/checks/probe.ts',
    text: 'if (response.status !== 200) throw',
    replacement: 'if (response.status >= 600) throw',
  },
  {
    promise: 'alarms stay off without data',
    test: 'infra/alarms.test.ts',
    file: 'infra/constructs/monitoring.ts',
    text: 'TreatMissingData.NOT_BREACHING,',
    replacement: 'TreatMissingData.BREACHING,',
  },
  {
    promise: 'the alarm of the probe goes off without data',
    test: 'infra/alarms.test.ts',
    file: 'infra/constructs/probe.ts',
    text: 'TreatMissingData.BREACHING,',
    replacement: 'TreatMissingData.NOT_BREACHING,',
  },
  {
    promise: 'alarms reach every addressee',
    test: 'infra/monitoring.test.ts',
    file: 'infra/constructs/monitoring.ts',
    text: 'alarm.addAlarmAction(...this.#addressees);',
    replacement: '',
  },
  {
    promise: 'each saved query names fields that the lines of its logs have',
    test: 'infra/saved-queries.test.ts',
    file: 'lib/http/observability.ts',
    text: 'durationMs,\n  timestamp',
    replacement: 'timestamp',
  },
  {
    promise: 'the runbook has an entry for each alarm',
    test: 'infra/runbook.test.ts',
    file: 'infra/runbook.md',
    text: '\n## probe\n',
    replacement: '\n## probes\n',
  },
  {
    promise: 'a change of a stage is printed',
    test: 'commands/operate.test.ts',
    file: 'infra/commands/operate/program.ts',
    text: 'steps.map(({ description }) => description),',
    replacement: '[],',
  },
  {
    promise: 'a change of a stage is asked for',
    test: 'commands/operate.test.ts',
    file: 'infra/commands/operate/program.ts',
    text: "await confirm(ask, named.name, ': add --yes')",
    replacement: 'undefined',
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
  promises.matchAll(/\]\(([\w/-]+\.(?:test|check)\.ts)\)/g).map(([, test = '']) => test),
);

/** What is wrong with the table: it lacks a promised test, or an edit's file lacks its text. */
const staleRows = () => [
  ...promised
    .symmetricDifference(new Set(breaks.map(({ test }) => test)))
    .values()
    .map((test) => `${test} is only in one of test/README.md and the table of this command.`),
  ...breaks
    .filter(({ file, text }) => {
      const parts = readFileSync(join(projectDirectory, file), 'utf8').split(text);
      return parts.length !== 2;
    })
    .map(({ promise, file }) => `${file} does not have once the text that "${promise}" replaces.`),
];

const Report = v.object({
  testResults: v.array(
    v.object({
      assertionResults: v.array(v.object({ status: v.string(), fullName: v.string() })),
    }),
  ),
});

/** Matches all tests but two, which can't pass where node_modules is a link. */
const tests = '^(?!npm run docs |lib/NOTICE )';

/** Runs the tests of a file in a copy of the project, until one fails. Returns their names. */
const runTests = (copy: string, file: string) => {
  const report = join(copy, 'report.json');
  writeFileSync(report, '{"testResults":[]}');
  const config = file.endsWith('.check.ts') ? 'vitest.checks.config.ts' : 'vitest.config.ts';
  const words = ['run', '--config', `test/${config}`, `test/${file}`, '--bail=1', '-t', tests];
  spawnSync('vitest', [...words, '--reporter=json', `--outputFile=${report}`], { cwd: copy });
  const { testResults } = v.parse(Report, JSON.parse(readFileSync(report, 'utf8')));
  // A file that can't be loaded has no results.
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const named = (wanted: string) =>
    results.filter(({ status }) => status === wanted).map(({ fullName }) => fullName);
  return { passed: named('passed'), failed: named('failed') };
};

/** Throws unless the tests of a file pass in a copy that has no edit: else they would notice every edit. */
const requirePass = (copy: string, file: string) => {
  const { passed, failed } = runTests(copy, file);
  if (passed.length === 0 || failed.length > 0)
    throw new Error(`${file} does not pass without a break: ${failed[0] ?? 'it has no results'}`);
};

/** Returns the first test that fails in a copy of the project with an edit, or `undefined`. */
const failingTest = (copy: string, { test, file, text, replacement }: Break) => {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    source.replace(text, () => replacement),
  );
  try {
    return runTests(copy, test).failed[0];
  } finally {
    writeFileSync(path, source);
  }
};

const copyProject = () => {
  const copy = mkdtempSync(join(tmpdir(), 'animal-store-broken-'));
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: projectDirectory });
  for (const name of `${listed}`.split('\0').filter(Boolean))
    cpSync(join(projectDirectory, name), join(copy, name));
  mkdirSync(join(copy, '.build'));
  for (const installed of ['node_modules', '.build/venv'])
    symlinkSync(join(projectDirectory, installed), join(copy, installed));
  return copy;
};

/** Breaks each promise in a copy of the project. Arguments select tests by parts of their names. */
const run = (selected: readonly string[]) => {
  const stale = staleRows();
  if (stale.length > 0) throw new Error(stale.join('\n'));
  const copy = copyProject();
  const isSelected = ({ test }: Break) =>
    selected.length === 0 || selected.some((word) => test.includes(word));
  const chosen = breaks.filter(isSelected);
  let unnoticed = 0;
  try {
    for (const test of new Set(chosen.map(({ test }) => test))) requirePass(copy, test);
    for (const each of chosen) {
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
