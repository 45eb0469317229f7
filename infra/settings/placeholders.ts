import { clientPackage } from './client-package.ts';
import { type GithubRepository, githubRepository } from './github-repository.ts';
import { runbookLink } from './runbook-link.ts';
import { isProduction, type Stage } from './stages.ts';

/**
 * Matches values that are only examples: a domain of RFC 2606, and the account ids in AWS's documentation.
 */
const placeholder = /\bexample\.com\b|\b(?:111122223333|444455556666)\b/;

/**
 * Returns the values of a stage that came with the repository and that an operator must
 * replace, each with the reason.
 */
export const placeholdersIn = (
  stage: Stage,
  { link = runbookLink, packageName = clientPackage } = {},
): string[] => {
  const problems = (['environment', 'alarmAddressees', 'customDomain'] as const)
    .filter((name) => placeholder.test(JSON.stringify(stage[name] ?? '')))
    .map(
      (name) => `${name} of ${stage.name} is a placeholder: set it in infra/settings/stages.ts.`,
    );
  if ((stage.alarmAddressees ?? []).length > 0 && !URL.canParse(link)) {
    problems.push(
      'runbookLink is no URL, so an alarm links nothing: set it in infra/settings/runbook-link.ts to where infra/runbook.md can be read.',
    );
  }
  if (isProduction(stage) && (placeholder.test(packageName) || !packageName.startsWith('@'))) {
    problems.push(
      'clientPackage has no npm scope of yours, so others could publish that package: set it in infra/settings/client-package.ts.',
    );
  }
  return problems;
};

/** Returns what the repository on GitHub lacks before its workflows may get roles, with the solution. */
export const missingInRepository = (repository: GithubRepository = githubRepository): string[] => {
  const { owner, name, ownerId, repositoryId } = repository;
  const isSet =
    [owner, name].every((part) => /^[\w.-]+$/.test(part)) && ownerId > 0 && repositoryId > 0;
  return isSet
    ? []
    : ['githubRepository is not set: set it in infra/settings/github-repository.ts.'];
};
