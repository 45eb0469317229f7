import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Stage, stages } from '../../infra/settings/stages.ts';
import { deployedText } from '../support/deployed-text.ts';
import { templateOf } from '../support/templates.ts';

/** What operators set for their own stages, so that nobody has to write the files anew for it. */
const own: Partial<Stage> = {
  environment: { account: '777777777777', region: 'eu-west-1' },
  alarmRecipients: ['on-call@store.test'],
  corsOrigins: [],
  customDomain: undefined,
};

it.each(stages)(
  '$name is deployed as its file in test/infra/deployed/ says: npx vitest run --config test/vitest.config.ts deployed --update writes it',
  async (stage) => {
    const file = join(import.meta.dirname, 'deployed', `${stage.name}.txt`);
    await expect(deployedText(templateOf({ ...stage, ...own }))).toMatchFileSnapshot(file);
  },
);
