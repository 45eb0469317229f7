import type { Stage } from '../../settings/stages.ts';
import { openStage } from '../shared/open-stage.ts';
import { change } from '../shared/run-program.ts';
import { stageWords } from '../shared/stage-option.ts';
import { printable } from '../shared/terminal.ts';

/**
 * Prints what the owner of a personal stage needs to know: how to call it, and how to remove it. On a
 * terminal, issues its first API key, which must not get into a log.
 */
export const printNextSteps = async (stage: Stage, isOnTerminal: boolean): Promise<void> => {
  const opened = await openStage(stage);
  const keys = opened.keys();
  const given = stageWords(stage);
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
  const lines = [
    `API key          ${about}`,
    '',
    'Add a pet, and list the pets:',
    `curl -X POST '${opened.baseAddress}/pets' ${authorization} ${pet}`,
    `curl '${opened.baseAddress}/pets?limit=5' ${authorization}`,
    '',
    `Print the address and the logs again: npm run status -- ${given}`,
    `Remove everything: npm run destroy -- --context stage=${stage.name}${stage.isEmulated ? ' --context emulator=true' : ''}`,
  ];
  for (const line of lines) console.log(printable(line));
};
