import type { Stage } from './stages.ts';

/** Settings that prod must have, each with what happens without it. */
const dangersInProd = [
  ['environment', 'prod is deployed to the account of the credentials'],
  ['retainData', 'tables are deleted with the stack'],
  ['deletionProtection', 'one call deletes a table'],
  ['terminationProtection', 'one call deletes the stack'],
  ['pointInTimeRecoveryDays', 'nothing can be restored'],
  ['alarmAddressees', 'no one hears an alarm'],
] as const;

/**
 * Throws an error that lists the reasons when a canary has no alarms to stop it, when prod could lose data or fail unnoticed,
 * or when an origin for CORS is not a scheme, a host and an optional port, in lower case, without a path.
 */
export const requireSafe = (stage: Stage): void => {
  const isSet = (name: keyof Stage) => [stage[name]].flat().some(Boolean);
  // `URL` accepts `*` and `'` in a host. API Gateway ends a value at `'`, and browsers send no `*`.
  const isOrigin = (given: string) => URL.parse(given)?.origin === given && !/[*']/.test(given);
  const problems: string[] = [];
  if (isSet('canaryMinutes') && !isSet('alarmAddressees'))
    problems.push('canaryMinutes is set without alarmAddressees: no alarm can stop a canary');
  for (const [name, danger] of stage.name === 'prod' ? dangersInProd : [])
    if (!isSet(name)) problems.push(`${name} is not set, so ${danger}`);
  for (const given of stage.corsOrigins)
    if (!isOrigin(given)) problems.push(`corsOrigins: ${given} is not an origin`);
  if (problems.length > 0) throw new Error(`${stage.name} is unsafe: ${problems.join('; ')}.`);
};
