import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { projectDirectory } from '../../infra/project-directory.ts';
import { stages } from '../../infra/stages.ts';
import { faults } from '../support/fault-proxy.ts';
import { bearer, captureLog, invoke, readLines, startHandlers } from '../support/handlers.ts';
import { pythonTool } from '../support/python-tool.ts';
import { deployedTemplate } from '../support/stack.ts';

const read = (path: string) => readFileSync(join(projectDirectory, path), 'utf8');

const runbook = read('infra/runbook.md');
const script = read('infra/runbook.sh');
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
);
const procedures = ['Before you start', 'Deploy a change'];
const entries = [...sections].filter(([heading]) => !procedures.includes(heading));

const templates = Object.values(stages).map(deployedTemplate);
const alarms: [string, string][] = templates.flatMap((template) =>
  Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(
    ({ Properties }): [string, string] => [Properties.AlarmName, Properties.AlarmDescription],
  ),
);

describe('the runbook', () => {
  it.each(alarms)('has the entry that the alarm %s links', (_name, description) => {
    const [, file, entry] = /Runbook: (\S+)#(\S+)$/.exec(description) ?? [];
    expect(file).toMatch(/infra\/runbook\.md$/);
    expect(sections.keys()).toContain(entry);
  });

  it.each(entries)(
    'says about %s what it means, and how to diagnose, fix and verify',
    (_heading, section) => {
      const parts = section.split(/^\*\*(.+?)\.\*\* /m).slice(1);
      expect(parts.filter((_part, index) => index % 2 === 0)).toEqual([
        'Meaning',
        'Impact',
        'Diagnose',
        'Fix',
        'Verify',
      ]);
    },
  );

  it('looks in the region of prod', () => {
    const region = stages.prod.environment?.region;
    expect(script).toContain(`AWS_REGION=\${AWS_REGION:-${region}}`);
  });

  it('links only headings that it has', () => {
    const anchors = [...sections.keys()].map((heading) =>
      heading.toLowerCase().replaceAll(' ', '-'),
    );
    const linked = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(linked.length).toBeGreaterThan(anchors.length);
    for (const anchor of linked) expect(anchors).toContain(anchor);
  });

  it('names only files that the project has', () => {
    const files = [...runbook.matchAll(/`((?:functions|infra|lib|test)\/[\w./-]+)`/g)];
    expect(files.length).toBeGreaterThan(5);
    for (const [, file = ''] of files)
      expect(existsSync(join(projectDirectory, file)), file).toBe(true);
  });
});

describe('queries of logs', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const keywords =
    /^(filter|fields|stats|sort|desc|by|limit|like|parse|as|count|pct|max|latest|bin|d|and|ispresent)$/;

  /** The fields that a query names, besides those that CloudWatch finds in every line. */
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
    const [stage] = Object.values(templates[0]?.findResources('AWS::ApiGateway::Stage') ?? {});
    const line = JSON.parse(stage?.['Properties'].AccessLogSetting.Format);
    const named = queriesOf('access_log').flatMap(fieldsOf);
    expect(named).toContain('sourceIp');
    for (const field of named) expect(line).toHaveProperty(field);
  });

  it("of the functions' logs name fields that the line of a failed request with a corrupt item has", async () => {
    const service = await startHandlers();
    const apiKey = await service.issueApiKey();
    service.proxy.inject('Query Pets', faults.accessDenied);
    const { noteCorruptItem } = await import('../../lib/aws/telemetry.ts');
    noteCorruptItem('7');
    const lines = captureLog();
    await invoke(service.listPets, { headers: bearer(apiKey) });
    const [line] = readLines(lines);
    const named = queriesOf('function_logs').flatMap(fieldsOf);
    expect(named).toContain('cause.thrownAt');
    for (const field of named) expect(line).toHaveProperty(field);
  });
});

/** Examples for the words in angle brackets. */
const examples: Readonly<Record<string, string>> = {
  API_KEY: 'pets_test_example',
  BACKUP_ARN: 'arn:aws:dynamodb:eu-west-1:444455556666:table/Pets/backup/1',
  BURST: '20',
  COMMIT: 'HEAD',
  FUNCTION: 'get-pet',
  KEY_ID: '0123456789abcdef',
  LOG_GROUP: 'get-pet-log',
  NUMBER: '10',
  OWNER: 'alice',
  PET_ID: '1',
  PROFILE: 'on-call',
  QUOTA_CODE: 'L-B99A9384',
  RATE: '10',
  READS: '100',
  REQUEST_ID: '66c19a79-d9a8-40a3-af49-824e834c5e14',
  TABLE: 'Pets',
  THROWN_AT: 'get-pet.cjs:1:4711',
  TIME: '2030-01-31T03:00:00Z',
  VERSION: '7',
  WRITES: '50',
};

const commandNames = [...script.matchAll(/^(\w+)\(\)/gm)].map(([, name = '']) => name);

/** What a section shows in blocks, and in sentences if it starts with the name of a command. */
const blocksOf = (section: string) =>
  [
    ...section.matchAll(/^```sh\n(.*?)\n```$/gms),
    ...section.matchAll(
      new RegExp(`\`((?:${commandNames.join('|')}|[a-z]+(?:_[a-z]+)+)\\b[^\`]*)\``, 'g'),
    ),
  ].map(([, block = '']) =>
    block.replaceAll(/<([A-Z_]+)>/g, (placeholder, name) => examples[name] ?? placeholder),
  );

const workDirectory = mkdtempSync(join(tmpdir(), 'animal-store-runbook-'));

/** Records what a script would run instead of running it, and prints what passes for a name, an ARN and a state. */
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

/** The commands that runbook.sh and an entry run, word by word. Throws when bash fails. */
const commandsOf = (heading: string, section: string): string[][] => {
  const script = [recorder, ...blocksOf(section)].join('\n');
  const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${heading}: ${stderr}`);
  const calls = readFileSync(join(workDirectory, 'calls'), 'utf8').split('\x1e').slice(0, -1);
  rmSync(join(workDirectory, 'calls'));
  return calls.map((call) => call.split('\x1f').slice(0, -1));
};

const commands = [
  ...new Set(
    [...sections].flatMap(([heading, section]) =>
      commandsOf(heading, section).map((words) => JSON.stringify(words)),
    ),
  ),
].map((words): string[] => JSON.parse(words));
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

/** The long options of a command, as its help lists them. */
const optionsOf = (command: string, ...words: string[]) => {
  const { stdout } = spawnSync(command, [...words, '--help'], {
    cwd: projectDirectory,
    encoding: 'utf8',
  });
  return stdout.match(/--[\w-]+/g) ?? [];
};

describe('commands', () => {
  const awsCommands = commandsWith('aws');
  const objections = objectionsTo(awsCommands);
  rmSync(workDirectory, { recursive: true, force: true });

  it('leave no word in angle brackets without an example', () => {
    expect(commands.flat().filter((word) => /<[A-Z_]+>/.test(word))).toEqual([]);
  });

  it.for(awsCommands.map((words, index) => [words.join(' '), index] as const))(
    'are accepted by the AWS CLI: aws %s',
    ([_command, index], { skip }) => {
      if (objections === undefined)
        skip('awscli is not installed: pip install -r test/requirements.txt');
      expect(objections?.[index]).toBeNull();
    },
  );

  const { scripts } = JSON.parse(read('package.json'));
  const npmScripts = commandsWith('npm').filter(([command]) => command === 'run');

  it('run npm scripts that exist', () => {
    expect(npmScripts.length).toBeGreaterThan(0);
    for (const [, script = ''] of npmScripts) expect(scripts).toHaveProperty([script]);
  });

  // By what offers them: a command of the CDK, or one of the project.
  const options = [
    ...npmScripts.map(([, script = '', _dashes, ...words]) =>
      script === 'keys'
        ? [`keys ${words[0]}`, ...words]
        : [script === 'preflight' ? script : `cdk ${script}`, ...words],
    ),
    ...commandsWith('npx').map(([tool, command, ...words]) => [`${tool} ${command}`, ...words]),
  ].flatMap(([command = '', ...words]) =>
    words.filter((word) => word.startsWith('--')).map((option) => [command, option] as const),
  );
  const offered = new Map<string, string[]>();

  it.each([...new Map(options.map((pair) => [pair.join(' '), pair])).values()])(
    'use options that exist: %s %s',
    (command, option) => {
      const [tool = '', ...words] = command.split(' ');
      if (!offered.has(command)) {
        const helped =
          tool === 'cdk'
            ? optionsOf('node_modules/.bin/cdk', ...words)
            : optionsOf(process.execPath, `infra/commands/${tool}.ts`, ...words);
        offered.set(command, helped);
      }
      expect(offered.get(command)).toContain(option);
    },
  );

  it.each(
    commandsWith('npx')
      .filter(([tool]) => tool !== 'cdk')
      .map((words) => words.slice(1)),
  )('show the place of an error in the sources: npx node %s', (...words) => {
    const { stdout } = spawnSync(process.execPath, words, {
      cwd: projectDirectory,
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/fileName: '.+\.(ts|js|mjs)'/);
  });
});
