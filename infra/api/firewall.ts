import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { maxBodyBytes } from '../../lib/contract/limits.ts';

export interface FirewallProps {
  /** Name of the web ACL and prefix of its metrics. */
  readonly name: string;
  /** The stage of the API that it stands before. */
  readonly stageArn: string;
  /** The headers of an answer with this error. */
  readonly headersOf: (error: ApiError) => Readonly<Record<string, string>>;
  /** How many requests an address may send in 5 minutes. */
  readonly requestsPerAddress: number;
  /** How many requests may come with the same API key in 5 minutes. */
  readonly requestsPerApiKey: number;
}

/** AWS's rules, and those among them that only count: `<b>` is a name for a pet, and no client needs a `User-Agent`. */
const managedRules = {
  AWSManagedRulesCommonRuleSet: [
    'SizeRestrictions_BODY',
    'EC2MetaDataSSRF_BODY',
    'GenericLFI_BODY',
    'GenericRFI_BODY',
    'CrossSiteScripting_BODY',
    'NoUserAgent_HEADER',
  ],
  AWSManagedRulesKnownBadInputsRuleSet: [
    'JavaDeserializationRCE_BODY',
    'Log4JRCE_BODY',
    'ReactJSRCE_BODY',
  ],
  AWSManagedRulesAmazonIpReputationList: [],
};

/**
 * A web ACL (AWS WAF) before the API: refuses large bodies with 413, floods from one address or with one API key with
 * 429, each with an Error body of its own, and known attacks, which the API's gateway response WAF_FILTERED answers.
 */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, props: FirewallProps) {
    super(scope, id);
    const { name, stageArn, headersOf, requestsPerAddress, requestsPerApiKey } = props;
    const payloadTooLarge = errors.payloadTooLarge();
    const tooManyRequests = errors.tooManyRequests();

    const visibility = (metricName: string) => ({
      metricName,
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: true,
    });
    const blocking = (
      ruleName: string,
      statement: CfnWebACL.StatementProperty,
      error: ApiError,
    ): Omit<CfnWebACL.RuleProperty, 'priority'> => ({
      name: ruleName,
      statement,
      action: {
        block: {
          customResponse: {
            responseCode: error.status,
            customResponseBodyKey: error.code,
            responseHeaders: Object.entries(headersOf(error)).map(([header, value]) => ({
              name: header,
              value,
            })),
          },
        },
      },
      visibilityConfig: visibility(`${name}-${ruleName}`),
    });
    const flood = (
      limit: number,
      aggregation: Pick<CfnWebACL.RateBasedStatementProperty, 'aggregateKeyType' | 'customKeys'>,
    ) => ({ rateBasedStatement: { limit, evaluationWindowSec: 300, ...aggregation } });

    const rules = [
      blocking(
        'large-body',
        {
          sizeConstraintStatement: {
            fieldToMatch: { body: { oversizeHandling: 'MATCH' } },
            comparisonOperator: 'GT',
            size: maxBodyBytes,
            textTransformations: [noTransformation],
          },
        },
        payloadTooLarge,
      ),
      blocking(
        'flood-from-address',
        flood(requestsPerAddress, { aggregateKeyType: 'IP' }),
        tooManyRequests,
      ),
      blocking(
        'flood-with-api-key',
        flood(requestsPerApiKey, {
          aggregateKeyType: 'CUSTOM_KEYS',
          customKeys: [
            { header: { name: 'Authorization', textTransformations: [noTransformation] } },
          ],
        }),
        tooManyRequests,
      ),
      ...Object.entries(managedRules).map(([group, counted]) => ({
        name: group,
        statement: {
          managedRuleGroupStatement: {
            vendorName: 'AWS',
            name: group,
            ruleActionOverrides: counted.map((rule) => ({
              name: rule,
              actionToUse: { count: {} },
            })),
          },
        },
        overrideAction: { none: {} },
        visibilityConfig: visibility(`${name}-${group}`),
      })),
    ];

    const webAcl = new CfnWebACL(this, 'WebAcl', {
      name,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      rules: rules.map((rule, priority) => ({ ...rule, priority })),
      customResponseBodies: Object.fromEntries(
        [payloadTooLarge, tooManyRequests].map(({ code, body }) => [
          code,
          { contentType: 'APPLICATION_JSON', content: JSON.stringify(body) },
        ]),
      ),
      // Sampled requests and logs would show whole API keys.
      dataProtectionConfig: {
        dataProtections: [
          {
            field: { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization'] },
            action: 'SUBSTITUTION',
          },
        ],
      },
      visibilityConfig: visibility(name),
    });
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: stageArn,
      webAclArn: webAcl.attrArn,
    });
  }
}

const noTransformation = { priority: 0, type: 'NONE' };
