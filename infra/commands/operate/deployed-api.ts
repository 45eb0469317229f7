import type { FunctionName } from '../../../lib/contract/routes.ts';
import { bundleName } from '../../settings/names.ts';
import { deployedResources } from '../deployed-stack.ts';
import type { DeployedStage } from '../open-stage.ts';

/** Finds the API of a deployed stage, and its functions, by their ids in AWS. */
export const deployedApi = async (opened: DeployedStage) => {
  const { stage } = opened;
  const resources = await deployedResources(stage, opened);
  /** The physical id of the one resource of a type whose logical id starts with a text. */
  const idOf = (type: string, start = ''): string => {
    const found = resources.find(
      ({ ResourceType, LogicalResourceId }) =>
        ResourceType === `AWS::${type}` && LogicalResourceId?.startsWith(start),
    );
    if (found?.PhysicalResourceId !== undefined) return found.PhysicalResourceId;
    throw new Error(`The stack of ${stage.name} has no ${type} ${start}: deploy it first`);
  };
  // The CDK names an alias after its function.
  const functionsWithAlias = resources.flatMap(({ ResourceType, LogicalResourceId = '' }) => {
    if (ResourceType !== 'AWS::Lambda::Alias') return [];
    return [idOf('Lambda::Function', LogicalResourceId.replace(/FunctionAlias.*/, 'Function'))];
  });
  return {
    idOf,
    /**
     * Returns the functions that the deployed API calls. This commit may have an operation that is not
     * released yet, or have removed one that is still deployed. Throws if there is none.
     */
    apiFunctions: () => {
      if (functionsWithAlias.length > 0) return functionsWithAlias;
      throw new Error(`The stack of ${stage.name} has no function of the API: deploy it first`);
    },
    functionOf: (name: FunctionName) =>
      idOf('Lambda::Function', `${bundleName(name).replaceAll('-', '')}Function`),
  };
};
