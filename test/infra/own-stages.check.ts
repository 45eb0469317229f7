import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { withAssembly } from '../../infra/build/build-stack.ts';
import { staging } from '../../infra/settings/stages.ts';

const templatesIn = async (assembly: string) =>
  (await readdir(assembly)).filter((name) => name.endsWith('.template.json')).sort();

it('a stage of its own is the only one that the app declares for --context stage, and passes its security checks', async () => {
  const { account, region } = staging.environment ?? {};
  const templates = await withAssembly(templatesIn, { context: { stage: 'dev-rehearsal' } });
  expect(templates).toEqual([
    `AnimalStore-account-${account}-${region}.template.json`,
    'AnimalStore-dev-rehearsal.template.json',
  ]);
  await expect(withAssembly(templatesIn, { context: { stage: 'prod2' } })).rejects.toThrow(
    'There is no stage "prod2"',
  );
});
