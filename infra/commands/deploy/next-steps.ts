import { isPersonal, type Stage } from '../../settings/stages.ts';
import type { OpenedAccount } from '../open-account.ts';
import { openStage } from '../open-stage.ts';
import { preflight } from '../preflight.ts';
import { change } from '../run-program.ts';
import { stageWords } from '../stage-option.ts';
import { printable } from '../terminal.ts';

/**
 * Prints what the owner of a deployed stage can do next: how to call a personal stage, with its first API key,
 * what it costs and how to remove it, and what any stage needs before its next deployment.
 */
export const printNextSteps = async (
  stage: Stage,
  account: OpenedAccount,
  isOnTerminal: boolean,
): Promise<void> => {
  const introduction = isPersonal(stage) ? await introductionOf(stage, isOnTerminal) : [];
  const lines = [...introduction, ...(await lacksOf(stage, account))];
  for (const line of lines) console.log(printable(line));
};

/** Returns what a stage lacks before its next deployment, such as the key of its probe. */
const lacksOf = async (stage: Stage, account: OpenedAccount) => {
  const findings = await preflight(stage, account);
  if (findings.length === 0) return [];
  return ['', 'Before the next deployment:', ...findings.map(({ problem }) => problem)];
};

/**
 * Returns what the owner of a personal stage needs to know. On a terminal, issues its first API key, which
 * must not get into a log.
 */
const introductionOf = async (stage: Stage, isOnTerminal: boolean) => {
  const opened = await openStage(stage);
  const keys = opened.keys();
  const given = stageWords(stage);
  const hasWatch = stage.firewall !== undefined || stage.alarmRecipients !== undefined;
  const costs = hasWatch
    ? 'A month costs about $30, and $5.60 for a million requests, mostly for what watches the stage: see "Cost" in infra/operations.md.'
    : 'A month costs next to nothing without calls, at most $10.50 with calls in each hour, and $5 for a million requests.';
  const isFirst = (await keys.list(() => {})).length === 0;
  let apiKey = '$API_KEY';
  const issue = `npm run keys -- issue --owner <NAME> ${given}`;
  let about = `was shown once. Another one: ${issue}`;
  if (isFirst && isOnTerminal) {
    apiKey = (await change(() => keys.issue({ owner: stage.name }))).apiKey;
    about = `${apiKey}, which is shown this once`;
  } else if (isFirst) about = `none yet. Issue one: ${issue}`;
  const authorization = `-H "Authorization: Bearer ${apiKey}"`;
  const pet = `-H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":1}'`;
  return [
    `API key          ${about}`,
    '',
    'Add a pet, and list the pets:',
    `curl -X POST '${opened.baseAddress}/pets' ${authorization} ${pet}`,
    `curl '${opened.baseAddress}/pets?limit=5' ${authorization}`,
    '',
    costs,
    `Print the address and the logs again: npm run status -- ${given}`,
    `Remove everything: npm run destroy -- ${given}`,
  ];
};
