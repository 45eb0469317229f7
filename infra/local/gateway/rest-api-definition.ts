import * as z from 'zod/mini';
import { Ref, resourcesOf, type Template } from '../../template/template.ts';

/** A customised gateway response: what the template says of its status, headers and body. */
export interface StaticResponse {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** One method of one resource. */
export interface Route {
  /** An HTTP method, or `ANY`. */
  readonly method: string;
  /** Path template such as `/pets/{petId}`. */
  readonly resourcePath: string;
  /** The logical id of the function that the route calls. */
  readonly functionId: string;
  readonly timeoutMs: number;
}

/** A REST API as a template declares it. */
export interface RestApiDefinition {
  readonly stageName: string;
  readonly routes: readonly Route[];
  readonly gatewayResponses: ReadonlyMap<string, StaticResponse>;
}

/** The root is no resource of the template, and referred to by an attribute of the API. */
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

const RestApi = z.object({
  // Binary bodies would change what every function receives and sends.
  BinaryMediaTypes: z.optional(z.tuple([])),
});
const Resource = z.object({ ParentId: ResourceId, PathPart: z.string() });
const Alias = z.object({ FunctionName: Ref });
const Stage = z.object({ StageName: z.string() });
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
const GatewayResponse = z.object({
  ResponseType: z.string(),
  StatusCode: z.optional(z.pipe(z.string(), z.transform(Number))),
  ResponseParameters: z._default(z.record(HeaderName, Literal), {}),
  // Without expressions of its template language, which begin with $.
  ResponseTemplates: z._default(
    z.object({ 'application/json': z.optional(z.string().check(z.regex(/^[^$]*$/))) }),
    {},
  ),
});

/** Reads the one REST API of a template. Throws when a route depends on something that is not understood. */
export const restApiOf = (template: Template): RestApiDefinition => {
  resourcesOf(template, 'AWS::ApiGateway::RestApi', RestApi);
  const [stage] = resourcesOf(template, 'AWS::ApiGateway::Stage', Stage).values();
  if (!stage) throw new Error('The template has no AWS::ApiGateway::Stage.');
  return {
    stageName: stage.StageName,
    routes: routesOf(template),
    gatewayResponses: new Map(
      [...resourcesOf(template, 'AWS::ApiGateway::GatewayResponse', GatewayResponse).values()].map(
        ({ ResponseType, StatusCode, ResponseParameters, ResponseTemplates }) => [
          ResponseType,
          {
            status: StatusCode,
            headers: ResponseParameters,
            body: ResponseTemplates['application/json'],
          },
        ],
      ),
    ),
  };
};

const routesOf = (template: Template): Route[] => {
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
    return {
      method: method.HttpMethod,
      resourcePath: pathOf(method.ResourceId.Ref) || '/',
      functionId: alias.FunctionName.Ref,
      timeoutMs: method.Integration.TimeoutInMillis,
    };
  });
};
