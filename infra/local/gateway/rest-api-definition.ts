import * as z from 'zod/mini';
import { GetAtt, Join, Ref, resourcesOf, type Template } from '../../template/template.ts';

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

const ResourceId = z.union([Ref, GetAtt]);
const Texts = z._default(z.record(z.string(), z.string()), {});

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
    Uri: Join,
    TimeoutInMillis: z._default(z.number(), 29_000),
  }),
});
const GatewayResponse = z.object({
  ResponseType: z.string(),
  StatusCode: z.optional(z.string()),
  ResponseParameters: Texts,
  ResponseTemplates: Texts,
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
      [...resourcesOf(template, 'AWS::ApiGateway::GatewayResponse', GatewayResponse)].map(
        ([id, response]) => [response.ResponseType, staticResponse(id, response)],
      ),
    ),
  };
};

const routesOf = (template: Template): Route[] => {
  const resources = resourcesOf(template, 'AWS::ApiGateway::Resource', Resource);
  const pathOf = (id: z.output<typeof ResourceId>): string => {
    if ('Fn::GetAtt' in id) return '';
    const resource = resources.get(id.Ref);
    if (!resource) throw new Error(`The template has no AWS::ApiGateway::Resource ${id.Ref}.`);
    return `${pathOf(resource.ParentId)}/${resource.PathPart}`;
  };
  const aliases = resourcesOf(template, 'AWS::Lambda::Alias', Alias);
  return [...resourcesOf(template, 'AWS::ApiGateway::Method', Method)].map(([id, method]) => {
    const functionId = method.Integration.Uri['Fn::Join'][1]
      .map((part) => aliases.get(Ref.safeParse(part).data?.Ref ?? '')?.FunctionName.Ref)
      .find((found) => found !== undefined);
    if (functionId === undefined) {
      throw new Error(`The integration of AWS::ApiGateway::Method ${id} names no function.`);
    }
    return {
      method: method.HttpMethod,
      resourcePath: pathOf(method.ResourceId) || '/',
      functionId,
      timeoutMs: method.Integration.TimeoutInMillis,
    };
  });
};

/** Throws for a response whose headers or body are not literal. */
const staticResponse = (id: string, response: z.output<typeof GatewayResponse>): StaticResponse => {
  const body = response.ResponseTemplates['application/json'];
  if (body?.includes('$')) throw new Error(`The template of ${id} holds an expression.`);
  const headers = Object.entries(response.ResponseParameters).map(([name, value]) => {
    const header = /^gatewayresponse\.header\.(.+)$/.exec(name)?.[1];
    const literal = /^'(.*)'$/s.exec(value)?.[1];
    if (header !== undefined && literal !== undefined) return [header, literal];
    throw new Error(`The local service can't work out ${name} of ${id}: it is no literal header.`);
  });
  const { StatusCode } = response;
  return {
    status: StatusCode === undefined ? undefined : Number(StatusCode),
    headers: Object.fromEntries(headers),
    body,
  };
};
