import {
  ParameterNotFound,
  PutParameterCommand,
  paginateGetParameterHistory,
  SSMClient,
} from '@aws-sdk/client-ssm';
import { CloudAssembly, EnvironmentPlaceholders } from 'aws-cdk-lib/cx-api';
import * as v from 'valibot';
import { releaseParameter, stackName } from '../../settings/names.ts';
import { regionOf } from '../../settings/region-of.ts';
import type { Stage } from '../../settings/stages.ts';
import type { OpenedStack } from '../deployed-stack.ts';

const Release = v.object({ commit: v.string(), template: v.string() });

/** A release that passed its tests: its commit, and the address of its template, `https://…`. */
export type Release = v.InferOutput<typeof Release>;

const StoredRelease = v.pipe(v.string(), v.parseJson(), Release);

/**
 * Returns the good releases of a stage, the oldest first, from the last 100 values of its SSM parameter. A
 * release that was recorded again withdraws those between.
 * https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-versions.html
 */
export const goodReleases = async (stage: Stage): Promise<Release[]> => {
  const client = new SSMClient(regionOf(stage));
  const releases: Release[] = [];
  try {
    const pages = paginateGetParameterHistory({ client }, { Name: releaseParameter(stage) });
    for await (const { Parameters = [] } of pages)
      for (const { Value } of Parameters) {
        const release = v.parse(StoredRelease, Value);
        const earlier = releases.findIndex(({ commit }) => commit === release.commit);
        if (earlier !== -1) releases.splice(earlier);
        releases.push(release);
      }
  } catch (error) {
    if (!(error instanceof ParameterNotFound)) throw error;
  }
  return releases;
};

/** Records a release as the newest good one of a stage. */
export const recordGood = async (stage: Stage, release: Release): Promise<void> => {
  const Value = JSON.stringify(release);
  const value = { Name: releaseParameter(stage), Value, Type: 'String', Overwrite: true } as const;
  await new SSMClient(regionOf(stage)).send(new PutParameterCommand(value));
};

/** Returns the address of a stage's template in CDK's bucket, of the stacks that a folder declares. */
export const templateAddress = (
  folder: string,
  stage: Stage,
  { account = '', region }: OpenedStack,
): string => {
  const { stackTemplateAssetObjectUrl } = new CloudAssembly(folder).getStackByName(
    stackName(stage),
  );
  const places = { accountId: account, region, partition: 'aws' };
  // CloudFormation wants `https:`.
  return EnvironmentPlaceholders.replace(`${stackTemplateAssetObjectUrl}`, places).replace(
    's3://',
    `https://s3.${region}.amazonaws.com/`,
  );
};
