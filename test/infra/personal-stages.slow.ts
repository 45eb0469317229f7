import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { withAssembly } from '../../infra/build/with-assembly.ts';

const templatesIn = async (assembly: string) =>
  (await readdir(assembly)).filter((name) => name.endsWith('.template.json')).sort();

it.each(['dev-alice', 'dev-rehearsal'])(
  '%s is the only stage that the app declares for --context stage',
  async (stage) => {
    const templates = await withAssembly(templatesIn, { context: { stage } });
    expect(templates).toEqual([`AnimalStore-${stage}.template.json`]);
  },
);

it('the app declares no stage of another name', async () => {
  await expect(withAssembly(templatesIn, { context: { stage: 'prod2' } })).rejects.toThrow(
    'There is no stage "prod2"',
  );
});
