import cdk from '../cdk.json' with { type: 'json' };

/**
 * The CDK's feature flags, as `cdk.json` fixes them. The CDK's command line passes them to the app by itself; without
 * it, pass them to `App` as `context`, and the logical ids are the same.
 * https://docs.aws.amazon.com/cdk/v2/guide/featureflags.html
 */
export const featureFlags: Readonly<Record<string, unknown>> = cdk.context;
