import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { parse } from 'yaml';
import { projectDirectory } from '../../infra/build/project-directory.ts';

type Values = Readonly<Record<string, unknown>>;

/** A job, or a step of one. */
export interface Job {
  readonly if?: boolean;
  readonly needs?: string | readonly string[];
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Values;
  readonly concurrency?: string;
  readonly permissions?: Values;
  readonly 'timeout-minutes'?: number;
  readonly steps?: readonly Job[];
}

/** Returns the jobs of a workflow, with each expression in them as GitHub's own engine evaluates it. */
export const jobsOf = (workflow: string, context: Values = {}): Readonly<Record<string, Job>> => {
  const none = { github: {}, inputs: {}, jobs: {}, needs: {}, secrets: {}, steps: {}, vars: {} };
  const contexts = { ...none, success: true, cancelled: false, ...context };
  const values: data.Dictionary = JSON.parse(JSON.stringify(contexts), data.reviver);
  const evaluate = (text: string): unknown => {
    const expression = new Parser(new Lexer(text).lex().tokens, Object.keys(contexts), []).parse();
    const value = new Evaluator(expression, values).evaluate();
    return JSON.parse(JSON.stringify(value, data.replacer)) ?? '';
  };
  const file = join(projectDirectory, `.github/workflows/${workflow}.yml`);
  return parse(readFileSync(file, 'utf8'), (key, value) => {
    const [, before, inner = `${value}`] = /^(.*)\$\{\{(.*)\}\}$/.exec(`${value}`) ?? [];
    // A condition that does not ask for the status holds only if all jobs before succeeded:
    // https://docs.github.com/en/actions/reference/workflows-and-actions/expressions#status-check-functions
    const status = /always\(\)|cancelled\(\)/;
    if (key === 'if' && !status.test(inner)) return Boolean(evaluate(`success && (${inner})`));
    const ofRun = inner.replace('always()', 'true').replace('cancelled()', 'cancelled');
    if (key === 'if') return Boolean(evaluate(ofRun));
    if (before === undefined) return value;
    return before === '' ? evaluate(inner) : `${before}${evaluate(inner)}`;
  }).jobs;
};

/** Returns the jobs of `release.yml` that GitHub starts. They succeed, unless `results` says otherwise. */
export const startedJobs = (
  run: Values,
  results: Readonly<Record<string, string>> = {},
): string[] => {
  const done: Record<string, { result: string; outputs: Values; isComplete: boolean }> = {};
  for (const [name, { needs: needed = [], uses }] of Object.entries(jobsOf('release'))) {
    const needs = Object.fromEntries([needed].flat().map((need) => [need, done[need]]));
    const success = Object.values(needs).every((each) => each?.isComplete);
    const job = jobsOf('release', { ...run, needs, success })[name];
    const result = (job?.if ?? success) ? (results[name] ?? 'success') : 'skipped';
    // The tests of a stage can fail after its deployment. Without tests, GitHub skips the jobs after it that
    // do not ask for the status (https://github.com/actions/runner/issues/2205).
    const hasTests = Boolean(job?.with?.['tests']);
    const isDeployed = result === 'success' || (result !== 'skipped' && hasTests);
    const isComplete = success && result === 'success' && (hasTests || !uses);
    done[name] = { result, outputs: isDeployed ? { deployed: 'true' } : {}, isComplete };
  }
  return Object.keys(done).filter((name) => done[name]?.result !== 'skipped');
};
