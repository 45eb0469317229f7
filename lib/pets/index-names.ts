/** The index of the pets table that lists pets by status and id. */
export const statusIndex = 'byStatus';
