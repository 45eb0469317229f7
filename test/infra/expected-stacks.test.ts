import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type GithubRepository, githubRepository } from '../../infra/settings/owner.ts';
import { type Stage, stages } from '../../infra/settings/stages.ts';
import { deployedText } from './stack-text.ts';

/** What operators set for their own stages, so that nobody has to write the file anew for it. */
const own: Partial<Stage> = {
  env: { account: '777777777777', region: 'eu-west-1' },
  alarmRecipients: ['on-call@store.test'],
  corsOrigins: [],
  customDomain: undefined,
};

/** As above, but with their `subjectsLackIds`, which opens the roles and so must show in the diff. */
const repository: GithubRepository = {
  ...githubRepository,
  owner: 'octocat',
  name: 'animal-store',
  ownerId: 123456,
  repositoryId: 456789,
  accountsWithProvider: [],
};

it('the stages are deployed as test/infra/expected-stacks.txt says: npx vitest run --config test/vitest.config.ts expected-stacks --update writes it', async () => {
  const file = join(import.meta.dirname, 'expected-stacks.txt');
  const ownStages = stages.map((stage) => ({ ...stage, ...own }));
  const text = deployedText(ownStages, repository);
  await expect(text).toMatchFileSnapshot(file);
});
