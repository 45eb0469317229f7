import cdk from '../cdk.json' with { type: 'json' };

/**
 * The CDK's feature flags, as `cdk.json` fixes them. The CDK's command line hands them to the app by itself; whoever
 * synthesises without it gives them to `App` as its `context`, and gets the same logical ids.
 * https://docs.aws.amazon.com/cdk/v2/guide/featureflags.html
 */
export const featureFlags: Readonly<Record<string, unknown>> = cdk.context;
