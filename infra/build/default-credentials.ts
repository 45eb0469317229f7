import { fromEnv } from '@aws-sdk/credential-provider-env';

/**
 * The default credentials of every client of the SDK in a bundle. Lambda sets them in the environment.
 * Bundles have this module in the place of `@aws-sdk/credential-provider-node`, which looks for credentials
 * at places that a function does not have.
 */
export const defaultProvider = fromEnv;
