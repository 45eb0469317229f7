import type { FunctionName } from '../../lib/contract/routes.ts';
import { operations } from '../../lib/operations/operations.ts';
import type { Stage } from './stages.ts';

/** The name of a stage's API, metrics, logs, alarms and dashboard. */
export const serviceName = ({ name }: Stage) => `animal-store-${name}`;

/**
 * The name of the SSM parameter (a SecureString) with the API key of the probe and of the check requests.
 */
export const probeKeyParameter = ({ name }: Pick<Stage, 'name'>) =>
  `/animal-store/${name}/probe-api-key`;

/** The parameter of a stage's stack that says which commit is deployed. */
export const commitParameter = 'Commit';

/** The parameter of a stage's stack that says which commit was deployed before that one. */
export const previousCommitParameter = 'PreviousCommit';

/** The parameter of a stage's stack that says how traffic moves to a new version. */
export const trafficParameter = 'Traffic';

/** How traffic moves: 10 % of it first, or all of it at once. A check comes before both. */
export const trafficShifts = ['canary', 'all-at-once'] as const;

/** The name of a stage's stack. */
export const stackName = ({ name }: Pick<Stage, 'name'>) => `AnimalStore-${name}`;

/** The tags of everything in a stage's stack. */
export const stageTags = ({ name }: Pick<Stage, 'name'>) => ({
  service: 'animal-store',
  stage: name,
});

/** Every function of the API. */
export const functionNames: readonly FunctionName[] = [
  ...operations.map(({ name }) => name),
  'fallback',
];

/** The name of a function's file in `functions/` and of its bundle, such as `list-pets` for `listPets`. */
export const bundleName = (name: FunctionName): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The script in the folder of a function with which Lambda starts Node.js (`AWS_LAMBDA_EXEC_WRAPPER`). */
export const execWrapper = 'exec-wrapper';

/** The name of the stack with the roles of the workflows on GitHub, which an account needs once. */
export const githubStackName = 'AnimalStore-github';

/** The id that CDK commands use for the GitHub stack of a stage's account. */
export const githubStackId = ({ env }: Pick<Stage, 'env'>): string =>
  env?.account !== undefined ? `${githubStackName}-${env.account}` : githubStackName;
