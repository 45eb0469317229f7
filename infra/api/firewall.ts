import { ArnFormat, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { maxBodyBytes } from '../../lib/contract/limits.ts';

export interface FirewallProps {
  /** Name of the web ACL and prefix of its metrics. */
  readonly name: string;
  /** The stage of the API that it protects. */
  readonly stageArn: string;
  /** The headers of an answer with this error. */
  readonly headersOf: (error: ApiError) => Readonly<Record<string, string>>;
  /** How many requests an address may send in 5 minutes. */
  readonly requestsPerAddress: number;
  /** How many requests may come with the same API key in 5 minutes. */
  readonly requestsPerApiKey: number;
  readonly logRetentionDays: RetentionDays;
  readonly logRemovalPolicy: RemovalPolicy;
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
  readonly #props: FirewallProps;

  constructor(scope: Construct, id: string, props: FirewallProps) {
    super(scope, id);
    this.#props = props;
    const rules = [
      this.#largeBody(),
      this.#floodFromAddress(),
      this.#floodWithApiKey(),
      ...Object.entries(managedRules).map(([group, counted]) => this.#managed(group, counted)),
    ];
    const webAcl = new CfnWebACL(this, 'WebAcl', {
      name: props.name,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      rules: rules.map((rule, priority) => ({ ...rule, priority })),
      customResponseBodies: Object.fromEntries(
        [errors.payloadTooLarge(), errors.tooManyRequests()].map(({ code, body }) => [
          code,
          { contentType: 'APPLICATION_JSON', content: JSON.stringify(body) },
        ]),
      ),
      // Sampled requests and logs would show whole API keys. The path can't be protected: it has no field type.
      // https://docs.aws.amazon.com/waf/latest/APIReference/API_FieldToProtect.html
      dataProtectionConfig: {
        dataProtections: [
          {
            field: { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization'] },
            action: 'SUBSTITUTION',
          },
          { field: { fieldType: 'QUERY_STRING' }, action: 'SUBSTITUTION' },
        ],
      },
      visibilityConfig: visibility(props.name),
    });
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: props.stageArn,
      webAclArn: webAcl.attrArn,
    });
    this.#addLog(webAcl.attrArn);
  }

  /**
   * Logs the requests that a rule blocks or counts, without what may hold an API key.
   * https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
   */
  #addLog(resourceArn: string) {
    const { name, logRetentionDays, logRemovalPolicy } = this.#props;
    const { logGroupName } = new LogGroup(this, 'Log', {
      logGroupName: `aws-waf-logs-${name}`,
      retention: logRetentionDays,
      removalPolicy: logRemovalPolicy,
    });
    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn,
      logDestinationConfigs: [
        Stack.of(this).formatArn({
          service: 'logs',
          resource: 'log-group',
          resourceName: logGroupName,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ],
      redactedFields: [
        { singleHeader: { Name: 'authorization' } },
        { queryString: {} },
        { uriPath: {} },
      ],
      loggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [
          {
            Behavior: 'KEEP',
            Requirement: 'MEETS_ANY',
            Conditions: ['BLOCK', 'COUNT'].map((Action) => ({ ActionCondition: { Action } })),
          },
        ],
      },
    });
  }

  #largeBody(): Rule {
    return this.#blocking('large-body', errors.payloadTooLarge(), {
      sizeConstraintStatement: {
        fieldToMatch: { body: { oversizeHandling: 'MATCH' } },
        comparisonOperator: 'GT',
        size: maxBodyBytes,
        textTransformations: [{ priority: 0, type: 'NONE' }],
      },
    });
  }

  #floodFromAddress(): Rule {
    return this.#blocking('flood-from-address', errors.tooManyRequests(), {
      rateBasedStatement: {
        limit: this.#props.requestsPerAddress,
        evaluationWindowSec,
        aggregateKeyType: 'IP',
      },
    });
  }

  /**
   * The functions take `bearer` in any case, followed by any number of spaces, so each spelling counts for one key.
   * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-transformation.html
   */
  #floodWithApiKey(): Rule {
    const textTransformations = [
      { priority: 0, type: 'COMPRESS_WHITE_SPACE' },
      { priority: 1, type: 'LOWERCASE' },
    ];
    return this.#blocking('flood-with-api-key', errors.tooManyRequests(), {
      rateBasedStatement: {
        limit: this.#props.requestsPerApiKey,
        evaluationWindowSec,
        aggregateKeyType: 'CUSTOM_KEYS',
        customKeys: [{ header: { name: 'Authorization', textTransformations } }],
      },
    });
  }

  #managed(group: string, counted: readonly string[]): Rule {
    return {
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
      visibilityConfig: visibility(`${this.#props.name}-${group}`),
    };
  }

  #blocking(name: string, error: ApiError, statement: CfnWebACL.StatementProperty): Rule {
    const responseHeaders = Object.entries(this.#props.headersOf(error)).map(([header, value]) => ({
      name: header,
      // Who is blocked stays so until the window has passed.
      value: header === 'Retry-After' ? `${evaluationWindowSec}` : value,
    }));
    return {
      name,
      statement,
      action: {
        block: {
          customResponse: {
            responseCode: error.status,
            customResponseBodyKey: error.code,
            responseHeaders,
          },
        },
      },
      visibilityConfig: visibility(`${this.#props.name}-${name}`),
    };
  }
}

type Rule = Omit<CfnWebACL.RuleProperty, 'priority'>;

/** The time in which requests are counted. */
const evaluationWindowSec = 300;

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
});
