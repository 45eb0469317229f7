/** The version of the contract, which is the last segment of every base address. */
export const apiVersion = 'v1';
