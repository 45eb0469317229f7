import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import { clientPackage, runbookLink } from '../../infra/settings/owner.ts';
import { copySources } from './copy-sources.ts';

type Setting = readonly [file: string, present: RegExp | string, value: string];

/** Finds a setting of a stage in stages.ts. */
const settingOf = (stage: string, name: string) =>
  new RegExp(`(?<=name: '${stage}',[^]*?\\b${name}: )(\\{[^}]*\\}|\\[[^\\]]*\\]|undefined)`);

/** The region of the stages of a copy. */
const region = 'eu-west-1';

/** The settings of a repository without any stage in an account. */
const unset: readonly Setting[] = [
  ['infra/settings/stages.ts', /(?<=stages: readonly Stage\[\] = )\[.*\]/, '[staging, prod]'],
  ...['staging', 'prod'].flatMap((stage): Setting[] => [
    ['infra/settings/stages.ts', settingOf(stage, 'environment'), `{ region: '${region}' }`],
    ['infra/settings/stages.ts', settingOf(stage, 'alarmRecipients'), '[]'],
  ]),
  ['infra/settings/owner.ts', runbookLink, 'https://git.store.test/runbook.md'],
];

/** The settings with which the operator of a stage replaces those of the repository. */
const ownSettings = (stage: 'staging' | 'prod', account: string): readonly Setting[] => [
  [
    'infra/settings/stages.ts',
    settingOf(stage, 'environment'),
    `{ account: '${account}', region: '${region}' }`,
  ],
  ['infra/settings/stages.ts', settingOf(stage, 'alarmRecipients'), "['on-call@store.test']"],
  ...(stage === 'prod'
    ? [['infra/settings/owner.ts', clientPackage, '@store/animal-store'] as const]
    : []),
];

interface RunOptions {
  /** Returns what an operator types in a terminal, when the output asks. Without it, nobody can be asked. */
  readonly answer?: () => string;
  /** Whether the CDK is the real one. */
  readonly isRealCdk?: true;
}

/**
 * Copies the project into a repository of its own, whose stages have no account yet. In it, commands run with a
 * `cdk` that writes down its words and does nothing else.
 */
export const copyProject = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'animal-store-copy-'));
  const programs = join(directory, '.build');
  const cdkLog = join(programs, 'cdk.log');
  await copySources(directory);
  await symlink(join(projectDirectory, 'node_modules'), join(directory, 'node_modules'));
  await mkdir(programs);
  await writeFile(join(programs, 'cdk'), '#!/bin/sh\necho "$*" >>"$0.log"\n', { mode: 0o755 });

  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@store.test', ...words], {
      cwd: directory,
      encoding: 'utf8',
    }).trim();
  const apply = async (settings: readonly Setting[]) => {
    for (const [file, present, value] of settings) {
      const path = join(directory, file);
      const source = await readFile(path, 'utf8');
      if (source.search(present) === -1 && typeof present !== 'string')
        throw new Error(`${file} has another form than ${present}`);
      await writeFile(path, source.replace(present, value));
    }
  };
  let running: ChildProcess | undefined;
  await apply(unset);
  git('init', '--quiet', '--initial-branch', 'main');
  // The link to the packages is no folder, which .gitignore names.
  await writeFile(join(directory, '.git/info/exclude'), 'node_modules\n');

  return {
    directory,
    git,
    /** Commits every file, and returns the commit. */
    commit: (name: string) => {
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', '--message', name);
      return git('rev-parse', 'HEAD');
    },
    /** Gives a stage an account and recipients of alarms, as its operator does. */
    set: (stage: 'staging' | 'prod', account: string) => apply(ownSettings(stage, account)),
    /**
     * Runs a command with variables, and returns its output, and the commands of the CDK that it ran. With a
     * terminal, all output is in `out`.
     */
    run: async (
      command: string,
      variables: Readonly<Record<string, string>>,
      { answer, isRealCdk }: RunOptions = {},
    ) => {
      await writeFile(cdkLog, '');
      const inTerminal = ['script', '--quiet', '--return', '--command', command, '/dev/null'];
      const [program = '', ...words] = answer ? inTerminal : command.split(' ');
      const binaries = join(projectDirectory, 'node_modules', '.bin');
      const child = spawn(program, words, {
        cwd: directory,
        env: {
          AWS_REGION: region,
          ...variables,
          PATH: [...(isRealCdk ? [] : [programs]), binaries, process.env['PATH']].join(delimiter),
        },
      });
      running = child;
      let shown = '';
      child.stdout.on('data', (chunk: Buffer) => {
        const wasAsked = shown.includes('Type ');
        shown += chunk;
        if (answer && !wasAsked && shown.includes('Type ')) child.stdin.write(`${answer()}\n`);
      });
      const [err, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')]);
      const cdk = (await readFile(cdkLog, 'utf8')).split('\n').filter(Boolean);
      return { out: shown, err, exitCode, cdk };
    },
    /** Interrupts the command that runs, as Ctrl-C does. */
    interrupt: () => running?.kill('SIGINT'),
    remove: () => rm(directory, { recursive: true }),
  };
};
