import { RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  type Method,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  ResponseType,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type ApiError, errors } from '../../lib/contract/errors.ts';
import { methodsOf, type Operation } from '../../lib/contract/operations.ts';
import type { ServiceFunction } from '../lambda/service-function.ts';
import { type Stage, serviceName, type Throttle } from '../stages.ts';
import { errorHeaders } from './error-headers.ts';
import { Firewall } from './firewall.ts';

/** The stage of the REST API, and so the last segment of the base address. */
const versionSegment = 'v1';

export interface PetsApiProps {
  readonly stage: Stage;
  readonly functions: ReadonlyMap<Operation, ServiceFunction>;
  /** Answers every path and method that no operation has. */
  readonly unrouted: ServiceFunction;
}

/** The REST API: a route per operation, a catch-all for the rest, and every error of the gateway as an Error body. */
export class PetsApi extends Construct {
  readonly restApi: RestApi;
  readonly baseAddress: string;
  /** The target of a DNS record for the custom domain, if the stage has one. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, { stage, functions, unrouted }: PetsApiProps) {
    super(scope, id);
    const accessLog = new LogGroup(this, 'AccessLog', {
      retention: stage.accessLogRetentionDays,
      removalPolicy: stage.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const { customDomain } = stage;
    const api = new RestApi(this, 'RestApi', {
      restApiName: serviceName(stage),
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: customDomain !== undefined,
      // A setting of the account, which the account's own stack owns.
      cloudWatchRole: false,
      deployOptions: {
        stageName: versionSegment,
        tracingEnabled: true,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogLine)),
        ...methodOptions(stage.throttle),
        methodOptions: Object.fromEntries(
          [...functions.keys()].flatMap((operation) =>
            methodsOf(operation).map((method) => [
              `${operation.path}/${method}`,
              methodOptions(stage.operationThrottles[operation.name] ?? stage.throttle),
            ]),
          ),
        ),
      },
    });
    this.restApi = api;
    // The stack gives the base address without a trailing slash, under a name of its own.
    api.node.tryRemoveChild('Endpoint');
    const { region, urlSuffix } = Stack.of(this);
    const host = customDomain?.domainName ?? `${api.restApiId}.execute-api.${region}.${urlSuffix}`;
    this.baseAddress = `https://${host}/${versionSegment}`;
    this.domainTarget =
      customDomain &&
      api.addDomainName('Domain', {
        domainName: customDomain.domainName,
        certificate: Certificate.fromCertificateArn(
          this,
          'Certificate',
          customDomain.certificateArn,
        ),
        endpointType: EndpointType.REGIONAL,
        securityPolicy: SecurityPolicy.TLS_1_2,
        basePath: versionSegment,
      }).domainNameAliasDomainName;
    if (stage.firewall) {
      new Firewall(this, 'Firewall', {
        name: serviceName(stage),
        stageArn: api.deploymentStage.stageArn,
        headersOf: (error) => errorHeaders(stage, error),
        ...stage.firewall,
      });
    } else {
      Validations.of(api.deploymentStage).acknowledge({
        id: 'AwsSolutions::AwsSolutions-APIG3',
        reason:
          'This stage is for trials: it has throttles, and no firewall that costs by the month.',
      });
    }
    Validations.of(api.deploymentStage).acknowledge({
      id: 'AwsSolutions::AwsSolutions-APIG6',
      reason:
        'Execution logs can hold API keys; the access log and the functions have a line for every request.',
    });
    Validations.of(api).acknowledge({
      id: 'AwsSolutions::AwsSolutions-APIG2',
      reason:
        'The gateway requires the Authorization header; the functions validate the rest, and name what is wrong.',
    });

    const integrate = ({ alias }: ServiceFunction) =>
      new LambdaIntegration(alias, { allowTestInvoke: false });
    const requestValidator = api.addRequestValidator('Parameters', {
      validateRequestParameters: true,
    });
    for (const [operation, operationFunction] of functions) {
      const resource = api.root.resourceForPath(operation.path);
      for (const method of methodsOf(operation)) {
        const route = resource.addMethod(method, integrate(operationFunction), {
          requestValidator,
          requestParameters: { 'method.request.header.Authorization': true },
        });
        acknowledgeNoAuthorizer(route, 'The function itself asks for an API key before all else.');
      }
    }
    // Without a catch-all the gateway reads the Bearer header as a signature and echoes it.
    const paths = new Set([...functions.keys()].map(({ path }) => path));
    for (const path of ['/', ...paths, '/{proxy+}']) {
      const route = api.root.resourceForPath(path).addMethod('ANY', integrate(unrouted));
      acknowledgeNoAuthorizer(
        route,
        'It tells strangers which methods a path has, or that there is no such path.',
      );
    }

    for (const [type, error] of gatewayErrors) {
      api.addGatewayResponse(type.responseType, {
        type,
        statusCode: `${error.status}`,
        responseHeaders: Object.fromEntries(
          Object.entries(errorHeaders(stage, error)).map(([name, value]) => [name, `'${value}'`]),
        ),
        // Never `$context.error.message`: it can hold the API key of the request.
        templates: { 'application/json': JSON.stringify(error.body) },
      });
    }
  }
}

const acknowledgeNoAuthorizer = (route: Method, reason: string) => {
  for (const rule of ['APIG4', 'COG4']) {
    Validations.of(route).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
  }
};

/** Every option of a method: what is left out is not taken from the stage, but turned off. */
const methodOptions = ({ ratePerSecond, burst }: Throttle): MethodDeploymentOptions => ({
  throttlingRateLimit: ratePerSecond,
  throttlingBurstLimit: burst,
  metricsEnabled: false,
  cachingEnabled: false,
  dataTraceEnabled: false,
  // Execution logs can hold API keys; the access log and the functions' logs have a line for every request.
  loggingLevel: MethodLoggingLevel.OFF,
});

/**
 * One line of the access log. Nothing that a client can choose freely, for it can hold an API key: not
 * `$context.error.message` nor the path, and of the ids those that only AWS makes, no `requestId` or trace id.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const accessLogLine = {
  extendedRequestId: '$context.extendedRequestId',
  lambdaRequestId: '$context.integration.requestId',
  requestTime: '$context.requestTime',
  sourceIp: '$context.identity.sourceIp',
  httpMethod: '$context.httpMethod',
  resourcePath: '$context.resourcePath',
  status: '$context.status',
  errorType: '$context.error.responseType',
  responseBytes: '$context.responseLength',
  latencyMs: '$context.responseLatency',
  integrationStatus: '$context.integration.status',
  integrationLatencyMs: '$context.integration.latency',
  firewallStatus: '$context.waf.status',
};

/** What each error that API Gateway itself can answer means to a client of this service. */
const gatewayErrors: readonly (readonly [ResponseType, ApiError])[] = [
  [ResponseType.DEFAULT_4XX, errors.invalidRequest('The request is not valid.')],
  [ResponseType.BAD_REQUEST_BODY, errors.invalidRequest('The body is not valid.')],
  // The one required parameter is the Authorization header.
  [ResponseType.BAD_REQUEST_PARAMETERS, errors.unauthorized()],
  [ResponseType.UNAUTHORIZED, errors.unauthorized()],
  [ResponseType.ACCESS_DENIED, errors.unauthorized()],
  [ResponseType.EXPIRED_TOKEN, errors.unauthorized()],
  [ResponseType.INVALID_API_KEY, errors.unauthorized()],
  [ResponseType.INVALID_SIGNATURE, errors.unauthorized()],
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, errors.notFound()],
  [ResponseType.RESOURCE_NOT_FOUND, errors.notFound()],
  [ResponseType.REQUEST_TOO_LARGE, errors.payloadTooLarge()],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, errors.unsupportedMediaType()],
  [ResponseType.QUOTA_EXCEEDED, errors.tooManyRequests()],
  [ResponseType.THROTTLED, errors.tooManyRequests()],
  [ResponseType.WAF_FILTERED, errors.invalidRequest('The firewall refused the request.')],
  [ResponseType.DEFAULT_5XX, errors.badGateway()],
  [ResponseType.API_CONFIGURATION_ERROR, errors.internalError()],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, errors.internalError()],
  [ResponseType.AUTHORIZER_FAILURE, errors.internalError()],
  // Lambda out of concurrency arrives here.
  [ResponseType.INTEGRATION_FAILURE, errors.serviceUnavailable()],
  [ResponseType.INTEGRATION_TIMEOUT, errors.gatewayTimeout()],
];
