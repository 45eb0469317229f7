import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnLoggingConfiguration, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { maxBodyBytes } from '../../lib/contract/limits.ts';
import { serviceName } from '../settings/names.ts';
import { firewallLimit, firewallWindowSec, type Stage } from '../settings/stages.ts';
import { errorHeaders } from './error-headers.ts';

/**
 * How many bytes of a body AWS WAF inspects in front of API Gateway, if nothing else is set. More costs extra
 * for each larger body (https://aws.amazon.com/waf/pricing/).
 * https://docs.aws.amazon.com/waf/latest/developerguide/web-acl-setting-body-inspection-limit.html
 */
const inspectedBytes = 16 * 1_024;

/**
 * A web ACL (AWS WAF) in front of the API. It blocks large bodies and floods, each with a response of ours,
 * and known attacks, to which API Gateway responds with its gateway response WAF_FILTERED.
 */
export class Firewall extends Construct {
  readonly log: LogGroup;

  constructor(scope: Construct, id: string, stage: Stage, stageArn: string) {
    super(scope, id);
    if (maxBodyBytes > inspectedBytes)
      throw new Error(
        `maxBodyBytes is above ${inspectedBytes}: the firewall would block larger bodies`,
      );
    const name = serviceName(stage);
    const rules = [
      ...blocks(stage).map(({ error, ...rule }) => ({ ...rule, action: block(stage, error) })),
      ...managedRules,
    ];
    const webAcl = new CfnWebACL(this, 'WebAcl', {
      name,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      rules: rules.map((rule, priority) => ({
        ...rule,
        priority,
        visibilityConfig: visibility(`${name}-${rule.name}`),
      })),
      customResponseBodies: Object.fromEntries(
        blocks(stage).map(({ error: { code, body } }) => [
          code,
          { contentType: 'APPLICATION_JSON', content: JSON.stringify(body) },
        ]),
      ),
      // Sampled requests and logs would show whole API keys. AWS WAF can't redact a path here, because data
      // protection has no field type for it.
      // https://docs.aws.amazon.com/waf/latest/APIReference/API_FieldToProtect.html
      dataProtectionConfig: {
        dataProtections: [
          { fieldType: 'SINGLE_HEADER', fieldKeys: ['authorization'] },
          { fieldType: 'QUERY_STRING' },
        ].map((field) => ({ field, action: 'SUBSTITUTION' })),
      },
      visibilityConfig: visibility(name),
    });
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: stageArn,
      webAclArn: webAcl.attrArn,
    });
    this.log = this.#addLog(stage, webAcl.attrArn);
  }

  /**
   * Logs the requests that a rule blocks or counts, without the fields that may contain an API key.
   * https://docs.aws.amazon.com/waf/latest/developerguide/logging-cw-logs.html
   */
  #addLog(stage: Stage, resourceArn: string): LogGroup {
    const log = new LogGroup(this, 'Log', {
      logGroupName: `aws-waf-logs-${serviceName(stage)}`,
      retention: stage.logRetentionDays,
      // The log group has a fixed name. One that a failed deployment leaves behind would make
      // the next deployment fail.
      removalPolicy: stage.retainData
        ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        : RemovalPolicy.DESTROY,
    });
    const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
    const resourceName = log.logGroupName;
    const arn = { service: 'logs', resource: 'log-group', resourceName, arnFormat };
    const Conditions = ['BLOCK', 'COUNT'].map((Action) => ({ ActionCondition: { Action } }));
    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn,
      logDestinationConfigs: [Stack.of(this).formatArn(arn)],
      redactedFields: [
        { singleHeader: { Name: 'authorization' } },
        { queryString: {} },
        { uriPath: {} },
      ],
      loggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [{ Behavior: 'KEEP', Requirement: 'MEETS_ANY', Conditions }],
      },
    });
    return log;
  }
}

/** Returns the rules that block requests, each with the error that the client gets. */
const blocks = (stage: Stage) => [
  {
    name: 'large-body',
    error: errors.payloadTooLarge(),
    statement: {
      sizeConstraintStatement: {
        fieldToMatch: { body: { oversizeHandling: 'MATCH' } },
        comparisonOperator: 'GT',
        size: maxBodyBytes,
        textTransformations: [{ priority: 0, type: 'NONE' }],
      },
    },
  },
  {
    name: 'flood-from-address',
    error: errors.tooManyRequests(),
    statement: over(firewallLimit(stage), { aggregateKeyType: 'IP' }),
  },
  {
    name: 'flood-with-api-key',
    error: errors.tooManyRequests(),
    statement: over(firewallLimit(stage), {
      aggregateKeyType: 'CUSTOM_KEYS',
      customKeys: [{ header: { name: 'Authorization', textTransformations: oneSpelling } }],
    }),
  },
];

const over = (limit: number, by: { aggregateKeyType: string; customKeys?: object[] }) => ({
  rateBasedStatement: { limit, evaluationWindowSec: firewallWindowSec, ...by },
});

/**
 * Transformations that make all spellings of a key count as one. The functions accept `bearer` in any case
 * and with any number of spaces after it.
 * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-transformation.html
 */
const oneSpelling = [
  { priority: 0, type: 'COMPRESS_WHITE_SPACE' },
  { priority: 1, type: 'LOWERCASE' },
];

const block = (stage: Stage, error: ApiError): CfnWebACL.RuleActionProperty => ({
  block: {
    customResponse: {
      responseCode: error.status,
      customResponseBodyKey: error.code,
      responseHeaders: Object.entries(errorHeaders(stage, error)).map(([name, value]) => ({
        name,
        // A client stays blocked until the window has passed.
        value: name === 'Retry-After' ? `${firewallWindowSec}` : value,
      })),
    },
  },
});

/**
 * AWS's managed rule groups, each with the rules that only count requests. Those rules would block valid
 * requests: a pet may be named `<b>`, and clients need not send a `User-Agent`.
 */
const managedRules = Object.entries({
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
}).map(([name, counted]) => ({
  name,
  statement: {
    managedRuleGroupStatement: {
      vendorName: 'AWS',
      name,
      ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
    },
  },
  overrideAction: { none: {} },
}));

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
});
