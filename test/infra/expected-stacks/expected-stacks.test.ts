import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Stage, stages } from '../../../infra/settings/stages.ts';
import { templateOf } from '../../support/templates.ts';
import { deployedText } from './stack-text.ts';

/** What operators set for their own stages, so that nobody has to write the files anew for it. */
const own: Partial<Stage> = {
  environment: { account: '777777777777', region: 'eu-west-1' },
  alarmRecipients: ['on-call@store.test'],
  corsOrigins: [],
  customDomain: undefined,
};

it.each(stages)(
  '$name is deployed as its file in test/infra/expected-stacks/ says: npx vitest run --config test/vitest.config.ts expected-stacks --update writes it',
  async (stage) => {
    const file = join(import.meta.dirname, `${stage.name}.txt`);
    await expect(deployedText(templateOf({ ...stage, ...own }))).toMatchFileSnapshot(file);
  },
);
