import type { Stage } from './stages.ts';

/**
 * Returns the region of a stage as an option for the SDK's clients. The result is empty if the
 * stage has no `environment`.
 */
export const regionOf = ({ environment }: Pick<Stage, 'environment'>): { region?: string } =>
  environment ? { region: environment.region } : {};
