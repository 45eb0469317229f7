import { mkdtemp } from 'node:fs/promises';
import { measureColdInstructions } from '/work/main/test/bench/cold.ts';
import { buildContenders } from '/work/main/test/bench/contenders.ts';
import { measureWarmInvocations } from '/work/main/test/bench/warm.ts';

const dir = await mkdtemp('/tmp/cgq-');
const c = await buildContenders(dir, { peers: false });
const rows = await measureColdInstructions(c, ['bare', 'sdkCall', 'service', 'notWarmedUp'], 1);
for (const r of rows) console.log(r.request, r.name, r.millions.median.toFixed(1));
const of = (n: string, q: string) =>
  rows.find((r) => r.name === n && r.request === q)!.millions.median;
for (const q of ['getPet', 'createPet', 'listPets'])
  console.log(
    q,
    '/doc',
    (of('service', q) / of('sdkCall', q)).toFixed(3),
    '/L',
    (of('service', q) / of('bare', q)).toFixed(3),
  );
const t = Date.now();
const w = await measureWarmInvocations(c, 500, true);
console.log(w, (Date.now() - t) / 1000);
