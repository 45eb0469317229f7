import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { projectDirectory } from '../../infra/project-directory.ts';
import { prod, stages } from '../../infra/stages.ts';
import { invoke } from '../support/invoke.ts';
import { captureLog, readLines } from '../support/log-lines.ts';
import { pythonTool } from '../support/python-tool.ts';
import { bearer } from '../support/requests.ts';
import { deployedTemplate, propertiesOf } from '../support/stack.ts';
import { startHandlers } from '../support/start-handlers.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');

const runbook = read('infra/runbook.md');
const script = read('infra/runbook.sh');
const sections = runbook
  .split(/^## /m)
  .slice(1)
  .map((section) => [section.slice(0, section.indexOf('\n')), section] as const);
const procedures = ['Before you start', 'Deploy a change'];
const entries = sections.filter(([heading]) => !procedures.includes(heading));

const templates = stages.map(deployedTemplate);
const alarms = templates.flatMap((template) => propertiesOf(template, 'AWS::CloudWatch::Alarm'));

describe('the runbook', () => {
  it.each(alarms)(
    'has the entry that the alarm links: $AlarmDescription',
    ({ AlarmDescription }) => {
      expect(AlarmDescription).toMatch(/ Runbook: \S*infra\/runbook\.md#[\w-]+$/);
      expect(entries.map(([heading]) => heading)).toContain(AlarmDescription.split('#')[1]);
    },
  );

  it.each(entries)(
    'says about %s what it means, and how to diagnose, fix and verify',
    (_heading, section) => {
      const parts = [...section.matchAll(/^\*\*(.+?)\.\*\* /gm)].map(([, part]) => part);
      expect(parts).toEqual(['Meaning', 'Impact', 'Diagnose', 'Fix', 'Verify']);
    },
  );

  it('looks in the region of prod', () => {
    const region = prod.environment?.region;
    expect(script).toContain(`AWS_REGION=\${AWS_REGION:-${region}}`);
  });

  it('names only files that the project has', () => {
    const files = [...runbook.matchAll(/`((?:functions|infra|lib|test)\/[\w./-]+)`/g)];
    expect(files.length).toBeGreaterThan(5);
    const missing = files.filter(([, file = '']) => !existsSync(join(projectDirectory, file)));
    expect(missing).toEqual([]);
  });
});

describe('queries of logs', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const keywords =
    /^(filter|fields|stats|sort|desc|by|limit|like|parse|as|count|pct|max|latest|bin|d|and|ispresent)$/;

  /** Returns the fields that a query names, except those that CloudWatch finds in every line. */
  const fieldsOf = (query: string) => {
    const aliases = [...query.matchAll(/ as (\w+)/g)].map(([, alias]) => alias);
    const withoutValues = query.replaceAll(/"[^"]*"|\/[^/]+\/|@\w+/g, '');
    return [...withoutValues.matchAll(/[a-z][\w.]*/gi)]
      .map(([word]) => word)
      .filter((word) => !keywords.test(word) && !aliases.includes(word));
  };

  const queriesOf = (command: 'access_log' | 'function_logs') =>
    [...script.matchAll(new RegExp(`^ *${command} (['"])(.+)\\1$`, 'gm'))].map(([, , query = '']) =>
      query.replaceAll('\\"', '"'),
    );

  it('of the access log name fields that its lines have', () => {
    const [stage] = propertiesOf(deployedTemplate(prod), 'AWS::ApiGateway::Stage');
    const line = JSON.parse(stage?.['AccessLogSetting'].Format);
    const named = queriesOf('access_log').flatMap(fieldsOf);
    expect(named).toContain('sourceIp');
    for (const field of named) expect(line).toHaveProperty(field);
  });

  it("of the functions' logs name fields that the line of a failed request with a corrupt item has", async () => {
    const service = await startHandlers();
    const apiKey = await service.issueApiKey();
    await service.putPet({ id: 7, status: 'sold' });
    const lines = captureLog();
    await invoke(service.getPet, { petId: '7', headers: bearer(apiKey) });
    const [line] = readLines(lines);
    const named = queriesOf('function_logs').flatMap(fieldsOf);
    expect(named).toContain('cause.thrownAt');
    for (const field of named) expect(line).toHaveProperty(field);
  });
});

/** Examples for words in angle brackets that tools check. All other words become `example`. */
const examples: Readonly<Record<string, string>> = {
  BACKUP_ARN: 'arn:aws:dynamodb:eu-west-1:444455556666:table/Pets/backup/1',
  BURST: '20',
  NUMBER: '10',
  RATE: '10',
  READS: '100',
  THROWN_AT: 'get-pet.cjs:1:4711',
  TIME: '2030-01-31T03:00:00Z',
  WRITES: '50',
};

const commandNames = [...script.matchAll(/^(\w+)\(\)/gm)].map(([, name = '']) => name);

/**
 * Returns the commands that a section shows: those in blocks, and those in sentences that start
 * with the name of a command.
 */
const blocksOf = (section: string) =>
  [
    ...section.matchAll(/^```sh\n(.*?)\n```$/gms),
    ...section.matchAll(
      new RegExp(`\`((?:${commandNames.join('|')}|[a-z]+(?:_[a-z]+)+)\\b[^\`]*)\``, 'g'),
    ),
  ].map(([, block = '']) =>
    block.replaceAll(/<([A-Z_]+)>/g, (_placeholder, name) => examples[name] ?? 'example'),
  );

const workDirectory = mkdtempSync(join(tmpdir(), 'animal-store-runbook-'));

/**
 * Records what a script would run instead of running it, and prints what passes for a
 * name, an ARN and a state.
 */
const recorder = `
set -euo pipefail
cd '${workDirectory}'
mkdir -p .local infra
touch infra/runbook.sh
record() {
  { printf '%s\\x1f' "$@"; printf '\\x1e'; } >>calls
  case "$*" in
    *'--output json'*) echo '{}' ;;
    *Stacks*StackStatus*) echo ROLLBACK_COMPLETE ;;
    *BackupStatus*) echo AVAILABLE ;;
    *'scan --table-name'*) echo 0 ;;
    *get-template*) echo 35 ;;
    *) echo arn:aws:lambda:eu-west-1:444455556666:function:Complete:live ;;
  esac
}
for tool in aws npm npx git curl; do eval "$tool() { record $tool \\"\\$@\\"; }"; done
date() { echo 1900000000; }
sleep() { :; }
. '${join(projectDirectory, 'infra/runbook.sh')}' prod
`;

afterAll(() => rmSync(workDirectory, { recursive: true }));

/**
 * What bash printed when it ran these lines after runbook.sh, and the commands that they ran, word by word.
 */
const runInBash = (lines: readonly string[], ...words: readonly string[]) => {
  const calls = join(workDirectory, 'calls');
  writeFileSync(calls, '');
  const command = ['-c', [recorder, ...lines].join('\n'), 'bash', ...words];
  const { status, stderr } = spawnSync('bash', command, { encoding: 'utf8' });
  const commands = readFileSync(calls, 'utf8').split('\x1e').slice(0, -1);
  return { status, stderr, commands: commands.map((call) => call.split('\x1f').slice(0, -1)) };
};

const runs = sections.map(([heading, section]) => ({
  heading,
  ...runInBash(blocksOf(section)),
}));

it.each(runs)('bash runs the commands of the entry $heading', ({ status, stderr }) => {
  expect(status, stderr).toBe(0);
});

describe('source_of', () => {
  it.each([
    "get-pet.cjs:1:0);console.log('injected');(",
    "get-pet.cjs:console.log('injected'):1",
    "x'+console.log('injected')+'.cjs:1:1",
    '../../package.json:1:1',
    'get-pet.cjs:1',
    'get-pet.cjs:1:1:1',
    'get-pet.cjs:1:1\nget-pet.cjs:1:1',
  ])('refuses %j, and runs nothing', (place) => {
    const { status, stderr, commands } = runInBash([': >calls', 'source_of "$1"'], place);
    expect(stderr).toBe('Give a place in a bundle, such as get-pet.cjs:1:4711.\n');
    expect({ status, commands }).toEqual({ status: 1, commands: [] });
  });
});

const all = runs.flatMap(({ commands }) => commands);
const commands = [...new Map(all.map((words) => [words.join(' '), words])).values()];
const commandsWith = (tool: string) =>
  commands.filter(([name]) => name === tool).map(([, ...words]) => words);

/** What the AWS CLI has against each list of arguments; undefined where there is no AWS CLI. */
const objectionsTo = (awsCommands: string[][]): (string | null)[] | undefined => {
  const python = pythonTool('python3');
  if (python === undefined) return undefined;
  const { status, stdout, stderr } = spawnSync(
    python,
    [join(import.meta.dirname, 'aws-commands.py')],
    { input: JSON.stringify(awsCommands), cwd: workDirectory, encoding: 'utf8' },
  );
  if (status === 0) return JSON.parse(stdout);
  if (process.env['CI'] || !stderr.includes("No module named 'awscli'")) throw new Error(stderr);
  return undefined;
};

describe('commands', () => {
  const awsCommands = commandsWith('aws');
  const objections = objectionsTo(awsCommands);

  // To install the AWS CLI: pip install -r test/requirements.txt
  it
    .skipIf(objections === undefined)
    .each(awsCommands.map((words, index) => [words.join(' '), objections?.[index]]))(
    'are accepted by the AWS CLI: aws %s',
    (_command, objection) => {
      expect(objection).toBeNull();
    },
  );

  const { scripts } = JSON.parse(read('package.json'));
  const npmScripts = commandsWith('npm').filter(([command]) => command === 'run');

  it('run npm scripts that exist', () => {
    expect(npmScripts.length).toBeGreaterThan(0);
    for (const [, script = ''] of npmScripts) expect(scripts).toHaveProperty([script]);
  });

  const npx = Map.groupBy(commandsWith('npx'), ([tool]) => tool);
  const withOptions = [...npmScripts, ...(npx.get('cdk') ?? [])].map(([, ...words]) => words);
  /** What offers options: a command of the CDK, or one of the project. */
  const offering = ([script = '', _dashes, command]: readonly string[]) => {
    if (script === 'keys') return `infra/commands/keys/main.ts ${command}`;
    return ['deploy', 'preflight'].includes(script)
      ? `infra/commands/${script}/main.ts`
      : `node_modules/.bin/cdk ${script}`;
  };
  const runNode = (words: readonly string[]) =>
    spawnSync(process.execPath, words, { cwd: projectDirectory, encoding: 'utf8' }).stdout;

  it.each([...Map.groupBy(withOptions, offering)])(
    'use options that exist: %s',
    (command, uses) => {
      const offered = runNode([...command.split(' '), '--help']).match(/--[\w-]+/g);
      const used = uses.flat().filter((word) => /^--./.test(word));
      expect(offered).toEqual(expect.arrayContaining(used));
    },
  );

  it.each(npx.get('node') ?? [])(
    'show the place of an error in the sources: npx node %s',
    (_node, ...words) => {
      expect(runNode(words)).toMatch(/fileName: '.+\.(ts|js|mjs)'/);
    },
  );
});
