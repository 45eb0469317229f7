import type { Stage } from './stages.ts';

/** The region of a stage as an option of the SDK's clients; empty if the stage has no `environment`. */
export const regionOf = ({ environment }: Pick<Stage, 'environment'>): { region?: string } =>
  environment ? { region: environment.region } : {};
