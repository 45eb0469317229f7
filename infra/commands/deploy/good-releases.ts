import {
  ParameterNotFound,
  PutParameterCommand,
  paginateGetParameterHistory,
  SSMClient,
} from '@aws-sdk/client-ssm';
import * as v from 'valibot';
import { releaseParameter } from '../../settings/names.ts';
import type { Stage } from '../../settings/stages.ts';
import { awsConfig } from '../aws-config.ts';

/**
 * A release that passed its tests: its commit, and the name of the file of its template in the bucket of the
 * CDK's bootstrap. Neither can point elsewhere.
 */
export const Release = v.object({
  commit: v.pipe(v.string(), v.regex(/^[0-9a-f]{40,64}$/)),
  template: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}\.json$/)),
});

export type Release = v.InferOutput<typeof Release>;

const StoredRelease = v.pipe(v.string(), v.parseJson(), Release);

/**
 * Returns the good releases of a stage, the oldest first, from the last 100 values of its SSM parameter. A
 * release that was recorded again withdraws those between. Skips a value that is not a release, and
 * prints a line about it.
 * https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-versions.html
 */
export const goodReleases = async (stage: Stage): Promise<Release[]> => {
  const Name = releaseParameter(stage);
  const releases: Release[] = [];
  for (const { Version, Value } of await historyOf(stage, Name)) {
    const { success, output: release } = v.safeParse(StoredRelease, Value);
    if (!success) {
      console.error(
        `Skipped the version ${Version} of the SSM parameter ${Name}, because it is not a release.`,
      );
      continue;
    }
    const earlier = releases.findIndex(({ commit }) => commit === release.commit);
    if (earlier !== -1) releases.splice(earlier);
    releases.push(release);
  }
  return releases;
};

/** Returns the values of a parameter, the oldest first; none if there is no such parameter. */
const historyOf = async (stage: Stage, Name: string) => {
  const client = new SSMClient(await awsConfig(stage));
  try {
    const pages = await Array.fromAsync(paginateGetParameterHistory({ client }, { Name }));
    const values = pages.flatMap(({ Parameters = [] }) => Parameters);
    // No page of AWS promises an order.
    return values.toSorted((one, other) => Number(one.Version) - Number(other.Version));
  } catch (error) {
    if (error instanceof ParameterNotFound) return [];
    throw error;
  }
};

/** Records a release as the newest good one of a stage. */
export const recordGood = async (stage: Stage, release: Release): Promise<void> => {
  const Value = JSON.stringify(release);
  const value = { Name: releaseParameter(stage), Value, Type: 'String', Overwrite: true } as const;
  await new SSMClient(await awsConfig(stage)).send(new PutParameterCommand(value));
};
