import * as z from 'zod/mini';
import { Ref, resourcesOf, type Template } from '../../build/template.ts';
import type { Throttle } from '../../stages.ts';

/** One method of one resource. */
export interface Route {
  /** An HTTP method, or `ANY`. */
  readonly method: string;
  /** Path template such as `/pets/{petId}`. */
  readonly resourcePath: string;
  /** The logical id of the function that the route calls. */
  readonly functionId: string;
  readonly timeoutMs: number;
  readonly throttle: Throttle | undefined;
}

/** A REST API as a template declares it, with the gateway responses that it customises. */
export interface RestApiDefinition {
  readonly stageName: string;
  readonly routes: readonly Route[];
  readonly gatewayResponses: readonly CustomResponse[];
}

/** The root is not a resource of the template: an attribute of the API refers to it, without a `Ref`. */
const ResourceId = z.object({ Ref: z._default(z.string(), 'root') });
const headerPrefix = 'gatewayresponse.header.';
const HeaderName = z.pipe(
  z.string().check(z.startsWith(headerPrefix)),
  z.transform((name) => name.slice(headerPrefix.length)),
);
const Literal = z.pipe(
  z.string().check(z.regex(/^'.*'$/s)),
  z.transform((text) => text.slice(1, -1)),
);

const Resource = z.object({ ParentId: ResourceId, PathPart: z.string() });
const Alias = z.object({ FunctionName: Ref });
const MethodSetting = z.object({
  HttpMethod: z.string(),
  ResourcePath: z.string(),
  ThrottlingRateLimit: z.number(),
  ThrottlingBurstLimit: z.number(),
});
const Stage = z.object({
  StageName: z.string(),
  MethodSettings: z._default(z.array(MethodSetting), []),
});
const Method = z.object({
  HttpMethod: z.string(),
  ResourceId,
  AuthorizationType: z.optional(z.literal('NONE')),
  ApiKeyRequired: z.optional(z.literal(false)),
  Integration: z.object({
    Type: z.literal('AWS_PROXY'),
    Uri: z.unknown(),
    TimeoutInMillis: z._default(z.number(), 29_000),
  }),
});
const GatewayResponse = z.pipe(
  z.object({
    ResponseType: z.string(),
    StatusCode: z.optional(z.pipe(z.string(), z.transform(Number))),
    ResponseParameters: z._default(z.record(HeaderName, Literal), {}),
    ResponseTemplates: z._default(z.record(z.string(), z.string()), {}),
  }),
  z.transform(({ ResponseType, StatusCode, ResponseParameters, ResponseTemplates }) => ({
    type: ResponseType,
    status: StatusCode,
    headers: ResponseParameters,
    body: ResponseTemplates['application/json'],
  })),
);

export type CustomResponse = z.output<typeof GatewayResponse>;

type MethodSetting = z.output<typeof MethodSetting>;

/** Reads the one REST API of a template. Throws when a route needs what the local gateway doesn't support. */
export const restApiOf = (template: Template): RestApiDefinition => {
  const [stage] = resourcesOf(template, 'AWS::ApiGateway::Stage', Stage).values();
  if (!stage) throw new Error('The template has no AWS::ApiGateway::Stage.');
  const responses = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse', GatewayResponse);
  return {
    stageName: stage.StageName,
    routes: routesOf(template, stage.MethodSettings),
    gatewayResponses: [...responses.values()],
  };
};

const routesOf = (template: Template, settings: readonly MethodSetting[]): Route[] => {
  const resources = resourcesOf(template, 'AWS::ApiGateway::Resource', Resource);
  const pathOf = (id: string): string => {
    const resource = resources.get(id);
    return resource ? `${pathOf(resource.ParentId.Ref)}/${resource.PathPart}` : '';
  };
  const aliases = [...resourcesOf(template, 'AWS::Lambda::Alias', Alias)];
  return [...resourcesOf(template, 'AWS::ApiGateway::Method', Method)].map(([id, method]) => {
    const uri = JSON.stringify(method.Integration.Uri);
    const [, alias] = aliases.find(([aliasId]) => uri.includes(`{"Ref":"${aliasId}"}`)) ?? [];
    if (!alias)
      throw new Error(`The integration of AWS::ApiGateway::Method ${id} names no function.`);
    const resourcePath = pathOf(method.ResourceId.Ref) || '/';
    return {
      method: method.HttpMethod,
      resourcePath,
      functionId: alias.FunctionName.Ref,
      timeoutMs: method.Integration.TimeoutInMillis,
      throttle: throttleOf(settings, method.HttpMethod, resourcePath),
    };
  });
};

/** The throttle of a method, or else of the stage, whose path and method are `/*` and `*`. */
const throttleOf = (
  settings: readonly MethodSetting[],
  method: string,
  path: string,
): Throttle | undefined => {
  const settingOf = (wantedMethod: string, wantedPath: string) =>
    settings.find(
      ({ HttpMethod, ResourcePath }) => HttpMethod === wantedMethod && ResourcePath === wantedPath,
    );
  // The slashes of a path are escaped as in a JSON pointer.
  const setting = settingOf(method, `/${path.replaceAll('/', '~1')}`) ?? settingOf('*', '/*');
  return (
    setting && { ratePerSecond: setting.ThrottlingRateLimit, burst: setting.ThrottlingBurstLimit }
  );
};
