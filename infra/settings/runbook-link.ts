/**
 * The link to the runbook that each alarm shows. It is the path in this repository, or the URL at which
 * addressees can read the runbook.
 */
export const runbookLink = 'infra/runbook.md';
