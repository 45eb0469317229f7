import * as v from 'valibot';
import { Ref, resourcesOf, type Template } from '../template.ts';

/** A method of a resource. */
export interface RestApiMethod {
  /** An HTTP method, or `ANY`. */
  readonly method: string;
  /** The path template, such as `/pets/{petId}`. */
  readonly resourcePath: string;
  /** The logical id of the function that the route calls. */
  readonly functionId: string;
}

/** A REST API as a template declares it, with the gateway responses that it customises. */
export interface RestApiDefinition {
  readonly stageName: string;
  readonly routes: readonly RestApiMethod[];
  readonly gatewayResponses: readonly CustomResponse[];
}

/**
 * The id of a route's resource. The root is not a resource of the template. A route refers to it by an
 * attribute of the API instead of a `Ref`.
 */
const ResourceId = v.object({ Ref: v.optional(v.string(), 'root') });
const headerPrefix = 'gatewayresponse.header.';
const HeaderName = v.pipe(
  v.string(),
  v.startsWith(headerPrefix),
  v.transform((name) => name.slice(headerPrefix.length)),
);
const Literal = v.pipe(
  v.string(),
  v.regex(/^'.*'$/s),
  v.transform((text) => text.slice(1, -1)),
);

const Resource = v.object({ ParentId: ResourceId, PathPart: v.string() });
const Alias = v.object({ FunctionName: Ref });
const Stage = v.object({ StageName: v.string() });
const Method = v.object({
  HttpMethod: v.string(),
  ResourceId,
  Integration: v.object({ Type: v.literal('AWS_PROXY'), Uri: v.unknown() }),
});
const GatewayResponse = v.pipe(
  v.object({
    ResponseType: v.string(),
    StatusCode: v.pipe(v.string(), v.transform(Number)),
    ResponseParameters: v.record(HeaderName, Literal),
    ResponseTemplates: v.object({ 'application/json': v.string() }),
  }),
  v.transform(({ ResponseType, StatusCode, ResponseParameters, ResponseTemplates }) => ({
    type: ResponseType,
    status: StatusCode,
    headers: Object.entries(ResponseParameters),
    body: ResponseTemplates['application/json'],
  })),
);

export type CustomResponse = v.InferOutput<typeof GatewayResponse>;

/** Reads the one REST API of a template. Throws when a route needs what the local gateway doesn't support. */
export const restApiOf = (template: Template): RestApiDefinition => {
  const [stage] = resourcesOf(template, 'AWS::ApiGateway::Stage', Stage).values();
  if (!stage) throw new Error('The template has no AWS::ApiGateway::Stage.');
  const responses = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse', GatewayResponse);
  return {
    stageName: stage.StageName,
    routes: routesOf(template),
    gatewayResponses: [...responses.values()],
  };
};

const routesOf = (template: Template): RestApiMethod[] => {
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
    };
  });
};
