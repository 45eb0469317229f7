import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { maxBodyBytes } from '../../lib/contract/limits.ts';
import { type Stage, serviceName } from '../stages.ts';
import { errorHeaders } from './error-headers.ts';

export interface FirewallProps {
  readonly stage: Stage;
  readonly limits: NonNullable<Stage['firewall']>;
  /** The ARN of the API's stage, which the firewall protects. */
  readonly stageArn: string;
}

/** AWS's rule groups, each with its rules that only count: a pet may be named `<b>`, and clients need no `User-Agent`. */
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
 * A web ACL (AWS WAF) in front of the API. Responds to a large body with 413, and to a flood from one address or with
 * one API key with 429, each with an Error body. Blocks known attacks with the API's gateway response WAF_FILTERED.
 */
export class Firewall extends Construct {
  readonly #stage: Stage;
  readonly #name: string;

  constructor(scope: Construct, id: string, { stage, limits, stageArn }: FirewallProps) {
    super(scope, id);
    this.#stage = stage;
    this.#name = serviceName(stage);
    const rules = [
      this.#largeBody(),
      this.#floodFromAddress(limits.requestsPerAddress),
      this.#floodWithApiKey(limits.requestsPerApiKey),
      ...Object.entries(managedRules).map(([group, counted]) => this.#managed(group, counted)),
    ];
    const webAcl = new CfnWebACL(this, 'WebAcl', {
      name: this.#name,
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
      visibilityConfig: visibility(this.#name),
    });
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: stageArn,
      webAclArn: webAcl.attrArn,
    });
    this.#addLog(webAcl.attrArn);
  }

  /**
   * Logs the requests that a rule blocks or counts, without the fields that may contain an API key.
   * https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
   */
  #addLog(resourceArn: string) {
    const { retainData, accessLogRetentionDays } = this.#stage;
    const { logGroupName } = new LogGroup(this, 'Log', {
      logGroupName: `aws-waf-logs-${this.#name}`,
      retention: accessLogRetentionDays,
      // The name is fixed: a log group that a failed deployment leaves behind would make the next one fail.
      removalPolicy: retainData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
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

  #floodFromAddress(limit: number): Rule {
    return this.#blocking('flood-from-address', errors.tooManyRequests(), {
      rateBasedStatement: {
        limit,
        evaluationWindowSec,
        aggregateKeyType: 'IP',
      },
    });
  }

  /**
   * The functions accept `bearer` in any case and any number of spaces after it. All spellings count as one key.
   * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-transformation.html
   */
  #floodWithApiKey(limit: number): Rule {
    const textTransformations = [
      { priority: 0, type: 'COMPRESS_WHITE_SPACE' },
      { priority: 1, type: 'LOWERCASE' },
    ];
    return this.#blocking('flood-with-api-key', errors.tooManyRequests(), {
      rateBasedStatement: {
        limit,
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
      visibilityConfig: visibility(`${this.#name}-${group}`),
    };
  }

  #blocking(name: string, error: ApiError, statement: CfnWebACL.StatementProperty): Rule {
    const responseHeaders = Object.entries(errorHeaders(this.#stage, error)).map(
      ([header, value]) => ({
        name: header,
        // A client stays blocked until the window has passed.
        value: header === 'Retry-After' ? `${evaluationWindowSec}` : value,
      }),
    );
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
      visibilityConfig: visibility(`${this.#name}-${name}`),
    };
  }
}

type Rule = Omit<CfnWebACL.RuleProperty, 'priority'>;

/** The time in which requests are counted, in seconds. */
const evaluationWindowSec = 300;

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
});
