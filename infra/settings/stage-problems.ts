import { isProduction, type Stage } from './stages.ts';

/**
 * Returns the ways in which a stage in production could lose data or fail unnoticed, each with the setting
 * that prevents it.
 */
const dangersOfProduction = (stage: Stage): string[] => {
  const dangers: string[] = [];
  if (stage.env === undefined)
    dangers.push('env is not set, so the credentials decide on the account');
  if (!stage.retainData)
    dangers.push('retainData is not set, so tables are deleted with the stack');
  if (!stage.deletionProtection)
    dangers.push('deletionProtection is not set, so one call deletes a table');
  if (!stage.terminationProtection)
    dangers.push('terminationProtection is not set, so one call deletes the stack');
  if (stage.pointInTimeRecoveryDays === 0)
    dangers.push('pointInTimeRecoveryDays is not set, so nothing can be restored');
  if (!stage.monitoring) dangers.push('monitoring is not set, so nothing watches the stage');
  return dangers;
};

// `URL` accepts `*` and `'` in a host. API Gateway ends a header value at `'`, and browsers
// never send `*` in an origin.
const isOrigin = (given: string): boolean =>
  URL.parse(given)?.origin === given && !/[*']/.test(given);

/**
 * Throws an error that lists every reason why a stage is unsafe: a canary without a check, a check without
 * the probe's API key, a production that could lose data or fail unnoticed, or a CORS origin that is not a
 * scheme, a host and an optional port in lower case.
 */
export const validateStage = (stage: Stage): void => {
  const problems: string[] = [];
  if (stage.canaryMinutes > 0 && !stage.checkBeforeTraffic)
    problems.push('canaryMinutes is set without checkBeforeTraffic: clients would be the check');
  if (stage.checkBeforeTraffic && !stage.monitoring)
    problems.push(
      'checkBeforeTraffic is set without monitoring: the check uses the API key of the probe, and there is none',
    );
  if (isProduction(stage)) problems.push(...dangersOfProduction(stage));
  for (const given of stage.corsOrigins)
    if (!isOrigin(given)) problems.push(`corsOrigins: ${given} is not an origin`);
  if (problems.length > 0) throw new Error(`${stage.name} is unsafe: ${problems.join('; ')}.`);
};
