/**
 * The link to the runbook in each alarm: its path in this repository, or the URL at
 * which addressees can read it.
 */
export const runbookLink = 'infra/runbook.md';
