import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  EndpointAccessMode,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  ResponseType,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { apiVersion } from '../../lib/contract/api-version.ts';
import { errors } from '../../lib/contract/errors.ts';
import { type FunctionName, methodsOf } from '../../lib/contract/routes.ts';
import type { Throttle } from '../../lib/operations/operation-details.ts';
import { operations } from '../../lib/operations/operations.ts';
import { serviceName } from '../settings/names.ts';
import { type Stage, throttleOf } from '../settings/stages.ts';
import type { ApiFunctions } from './bundled-function.ts';
import { errorHeaders } from './error-headers.ts';
import { Firewall } from './firewall.ts';
import { acknowledge, managedPolicyRule } from './security-rules.ts';

/**
 * The REST API. It has a route for each operation and a catch-all for all other requests. Every gateway
 * response has an Error body.
 */
export class ServiceApi extends Construct {
  readonly restApi: RestApi;
  /** The address by which clients reach the stage: its custom domain, if it has one. */
  readonly baseAddress: string;
  /** The log of every request. */
  readonly accessLog: LogGroup | undefined;
  readonly firewall: Firewall | undefined;

  constructor(scope: Construct, id: string, stage: Stage, functions: ApiFunctions) {
    super(scope, id);
    if (stage.accessLog) {
      this.accessLog = new LogGroup(this, 'AccessLog', {
        retention: stage.logRetentionDays,
        removalPolicy: stage.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      });
    }
    this.restApi = this.#addRestApi(stage);
    const { region, urlSuffix } = Stack.of(this);
    const ownHost = `${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}`;
    this.baseAddress = `https://${stage.customDomain?.domainName ?? ownHost}/${apiVersion}`;
    const { stageArn } = this.restApi.deploymentStage;
    this.firewall = stage.firewall && new Firewall(this, 'Firewall', stage, stageArn);
    this.#addRoutes(functions);
    this.#addGatewayResponses(stage);
    acknowledge(this, {
      [managedPolicyRule('service-role/AmazonAPIGatewayPushToCloudWatchLogs')]:
        'AWS made the policy for this one use.',
      ...(!this.accessLog && {
        'AwsSolutions-APIG1': 'Personal stages and emulators have no access log.',
        'Serverless-APIGWAccessLogging': 'Personal stages and emulators have no access log.',
      }),
      'AwsSolutions-APIG2': 'The functions validate requests, and name what is wrong.',
      ...(!stage.firewall && {
        'AwsSolutions-APIG3': 'Personal stages and emulators have no firewall.',
      }),
      'AwsSolutions-APIG4': "Functions check API keys; `fallback` only names a path's methods.",
      'AwsSolutions-APIG6': 'Execution logs can hold API keys; other logs have every request.',
      'AwsSolutions-COG4': "Functions check API keys; `fallback` only names a path's methods.",
      'Serverless-APIGWXrayEnabled': 'X-Ray would keep URLs, which can contain API keys.',
    });
  }

  #addRestApi(stage: Stage): RestApi {
    const { customDomain: domain } = stage;
    const api = new RestApi(this, 'RestApi', {
      restApiName: serviceName(stage),
      endpointTypes: [EndpointType.REGIONAL],
      ...(domain && {
        domainName: {
          domainName: domain.domainName,
          certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
          ...tls,
          basePath: apiVersion,
        },
      }),
      ...(this.accessLog && {
        // The role with which API Gateway writes the logs of every API of the account in this region:
        // https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
        // It stays, because other logs would end without an error (aws/aws-cdk#10878).
        cloudWatchRole: true,
        cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      }),
      deployOptions: {
        stageName: apiVersion,
        ...(this.accessLog && {
          accessLogDestination: new LogGroupLogDestination(this.accessLog),
          accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogLine)),
        }),
        ...methodOptions(stage.throttle),
        methodOptions: operationOptions(stage),
      },
    });
    // `RestApi` has no properties for these settings.
    Object.assign(api.node.findChild('Resource'), tls);
    // The stack has an output of its own, `BaseAddress`, without a trailing slash.
    api.node.tryRemoveChild('Endpoint');
    return api;
  }

  #addRoutes(functions: ApiFunctions) {
    const addRoute = (path: string, method: string, name: FunctionName) => {
      const alias = functions.get(name)?.alias;
      if (!alias) throw new Error(`${name} has no function`);
      const integration = new LambdaIntegration(alias, { allowTestInvoke: false });
      this.restApi.root.resourceForPath(path).addMethod(method, integration);
    };
    for (const operation of operations) {
      for (const method of methodsOf(operation)) addRoute(operation.path, method, operation.name);
    }
    // Without a catch-all, API Gateway would read a Bearer token as a malformed signature, and respond with
    // DEFAULT_4XX (DataBiosphere/azul#7470).
    for (const path of new Set(['/', ...operations.map(({ path }) => path), '/{proxy+}'])) {
      addRoute(path, 'ANY', 'fallback');
    }
  }

  #addGatewayResponses(stage: Stage) {
    for (const [types, error] of gatewayErrors) {
      for (const type of types) {
        this.restApi.addGatewayResponse(type, {
          type: ResponseType.of(type),
          statusCode: `${error.status}`,
          responseHeaders: literals(errorHeaders(stage, error)),
          // `$context.error.message` must not be used here, because it can contain
          // the API key of the request.
          templates: { 'application/json': JSON.stringify(error.body) },
        });
      }
    }
  }
}

/**
 * Accepts TLS 1.3, and TLS 1.2 with forward secrecy. Uses a post-quantum key exchange if a client offers it.
 * SNI and `Host` must name the same host.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies.html
 */
const tls = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
};

/** Puts header values in single quotes, as API Gateway requires for literals. */
const literals = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]));

/** Returns the options of each method of an operation, by `<path>/<method>`. */
const operationOptions = (stage: Stage) =>
  Object.fromEntries(
    operations.flatMap((operation) =>
      methodsOf(operation).map((method) => [
        `${operation.path}/${method}`,
        methodOptions(throttleOf(stage, operation.name)),
      ]),
    ),
  );

/**
 * Returns every option of a method. API Gateway turns an option off if it is left out; it does
 * not use the stage's value.
 */
const methodOptions = ({ ratePerSecond, burst }: Throttle): MethodDeploymentOptions => ({
  throttlingRateLimit: ratePerSecond,
  throttlingBurstLimit: burst,
  metricsEnabled: false,
  cachingEnabled: false,
  dataTraceEnabled: false,
  // Execution logs can contain API keys. The access log and the functions' logs have
  // a line for every request.
  loggingLevel: MethodLoggingLevel.OFF,
});

/**
 * The format of a line in the access log. It leaves out everything that a client can choose freely, because
 * that can contain an API key: `$context.error.message`, the path, `requestId` and the trace id. The ids in
 * the line are made by AWS.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const accessLogLine = {
  extendedRequestId: '$context.extendedRequestId',
  lambdaRequestId: '$context.integration.requestId',
  requestTime: '$context.requestTime',
  sourceIp: '$context.identity.sourceIp',
  tlsVersion: '$context.tlsVersion',
  cipherSuite: '$context.cipherSuite',
  httpMethod: '$context.httpMethod',
  resourcePath: '$context.resourcePath',
  status: '$context.status',
  errorType: '$context.error.responseType',
  responseBytes: '$context.responseLength',
  latencyMs: '$context.responseLatency',
  integrationStatus: '$context.integration.status',
  integrationLatencyMs: '$context.integration.latency',
};

/** The error that a client gets for each type of error that API Gateway itself returns. */
const gatewayErrors = [
  [['DEFAULT_4XX'], errors.invalidRequest('The request is not valid.')],
  [['BAD_REQUEST_BODY'], errors.invalidRequest('The body is not valid.')],
  [['BAD_REQUEST_PARAMETERS'], errors.invalidRequest('A parameter is not valid.')],
  [
    ['UNAUTHORIZED', 'ACCESS_DENIED', 'EXPIRED_TOKEN', 'INVALID_API_KEY', 'INVALID_SIGNATURE'],
    errors.unauthorized(),
  ],
  [['MISSING_AUTHENTICATION_TOKEN', 'RESOURCE_NOT_FOUND'], errors.unknownPath()],
  [['REQUEST_TOO_LARGE'], errors.payloadTooLarge()],
  [['UNSUPPORTED_MEDIA_TYPE'], errors.unsupportedMediaType()],
  [['QUOTA_EXCEEDED', 'THROTTLED'], errors.tooManyRequests()],
  [['WAF_FILTERED'], errors.invalidRequest('The firewall refused the request.')],
  // A malformed response of a function has one of these types. Logs of API Gateway call it a configuration
  // error (brefphp/bref#534), but no source shows its type.
  [['DEFAULT_5XX', 'API_CONFIGURATION_ERROR'], errors.badGateway()],
  [['AUTHORIZER_CONFIGURATION_ERROR', 'AUTHORIZER_FAILURE'], errors.internalError()],
  // API Gateway uses this type for a crash and for a lack of concurrency (DataBiosphere/azul#6624, #8192).
  [['INTEGRATION_FAILURE'], errors.serviceUnavailable()],
  [['INTEGRATION_TIMEOUT'], errors.gatewayTimeout()],
] as const;
