import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { projectDirectory } from '../../infra/build/project-directory.ts';
import type { ClientRequest, ClientResponse } from './http-client.ts';

type ByName<Value> = Readonly<Record<string, Value>>;

/** A definition under `components`. */
interface Reference {
  readonly $ref: string;
}

interface Header {
  readonly schema: object;
  readonly example?: string;
}

interface Response {
  readonly headers: ByName<Reference | Header>;
  /** The content; absent if the response has no body. */
  readonly content?: ByName<{ readonly schema: Reference; readonly examples: ByName<unknown> }>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly in: string;
    readonly name: string;
    readonly example?: unknown;
  }[];
  readonly requestBody?: {
    readonly content: ByName<{ readonly examples: ByName<{ readonly value: unknown }> }>;
  };
  readonly responses: ByName<Response>;
}

/** The parts of the document that tests read. */
interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: ByName<ByName<Operation>>;
  readonly components: {
    readonly headers: ByName<Header>;
    readonly schemas: ByName<{ readonly properties?: ByName<{ readonly maxLength?: number }> }>;
  };
}

/** The text of the committed OpenAPI document. */
export const contractText = readFileSync(
  join(projectDirectory, 'lib', 'contract', 'openapi.json'),
  'utf8',
);
export const contract: Document = JSON.parse(contractText);

/** Returns a part of the document in which each reference is replaced by what it refers to. */
export const resolveReferences = (part: unknown): unknown =>
  JSON.parse(JSON.stringify(part), (_key, value: { readonly $ref?: string }) => {
    if (typeof value?.$ref !== 'string') return value;
    const { $ref, ...beside } = value;
    const [, , group = '', name = ''] = $ref.split('/');
    const target = resolveReferences(Object(contract.components)[group][name]);
    return { ...Object(target), ...beside };
  });

/**
 * The document with closed objects: clients must ignore unknown fields, but the service must not send any.
 */
const closed = JSON.parse(contractText, (_key, value: ByName<unknown>) =>
  value['type'] === 'object' ? { ...value, additionalProperties: false } : value,
);

// Not strict, because the document around the schemas has no schema; Redocly checks it.
const ajv = addFormats
  .default(new Ajv2020({ strictSchema: false }))
  .addSchema(closed, 'openapi.json');

/** Returns what is wrong with a value, by a schema or a reference to one. */
export const mismatches = (what: string, schema: string | object, value: unknown): string[] => {
  if (ajv.validate(schema, value)) return [];
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
};

/** Returns what is wrong with a body, by a named schema of the document. */
export const bodyMismatches = (schema: string, body: unknown): string[] =>
  mismatches(schema, `openapi.json#/components/schemas/${schema}`, body);

/** Headers of HTTP, browsers, CloudFront or API Gateway, which the document leaves out. */
const transportHeaders =
  /^(access-control-.*|connection|content-length|content-type|date|keep-alive|server|transfer-encoding|vary|via|x-amz-request-id|x-amzn-(errortype|requestid|trace-id)|x-amz-cf-.*|x-cache)$/;

/**
 * The methods of API Gateway's `ANY`; other methods have no route and get the response of an unknown path.
 */
const routedMethods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

/** The operations of a path, by their methods. */
const operationsOf = (path: string) => {
  const [pathname = ''] = path.replace(/^\/+/, '/').split('?');
  // API Gateway ignores a slash at the end.
  return Object.entries(contract.paths).find(([template]) =>
    new RegExp(`^${template.replace(/{\w+}/g, '[^/]+')}/?$`).test(pathname),
  )?.[1];
};

/** The documented operation of a request. HEAD has the response of GET (RFC 9110 §9.3.2). */
export const operationOf = ({ method = 'GET', path }: ClientRequest): Operation | undefined =>
  operationsOf(path)?.[method === 'HEAD' ? 'get' : method.toLowerCase()];

/** The documented response to a request, with this status. */
const responseOf = (request: ClientRequest, status: number) => {
  const { method = 'GET', path } = request;
  const operations = operationsOf(path);
  const operation = operationOf(request);
  if (operation) return operation.responses[status];
  // API Gateway or the firewall refuses what it can't read, on any path.
  if (status === 400) return contract.paths['/pets']?.['get']?.responses[400];
  // An undocumented path gets 404.
  if (!operations || !routedMethods.includes(method)) {
    return status === 404 ? contract.paths['/pets/{petId}']?.['get']?.responses[404] : undefined;
  }
  const methodNotAllowed = Object.values(operations)[0]?.responses[405];
  // OPTIONS gets 204 with the headers of the 405 that all other methods get.
  if (method === 'OPTIONS') {
    return status === 204 && methodNotAllowed ? { headers: methodNotAllowed.headers } : undefined;
  }
  return status === 405 ? methodNotAllowed : undefined;
};

/** The definition of a header, which may be under `components`. */
const definitionOf = (header: Reference | Header): Header | undefined =>
  '$ref' in header ? contract.components.headers[header.$ref.split('/').at(-1) ?? ''] : header;

const headerMismatches = (documented: Response['headers'], { headers }: ClientResponse) => {
  const definitions = new Map(
    Object.entries(documented).map(([name, header]) => [name.toLowerCase(), definitionOf(header)]),
  );
  const undocumented = Object.keys(headers).filter(
    (name) => !definitions.has(name) && !transportHeaders.test(name),
  );
  const wrong = [...definitions].flatMap(([name, { schema = {} } = {}]) => {
    const value = headers[name];
    return value === undefined ? [] : mismatches(name, schema, value);
  });
  return [...undocumented.map((name) => `${name} is undocumented`), ...wrong];
};

/**
 * Returns how a response differs from the OpenAPI document: by an undocumented status, header, code or field.
 */
export const departuresFromContract = (
  request: ClientRequest,
  response: ClientResponse,
): string[] => {
  const documented = responseOf(request, response.status);
  if (!documented)
    return [`status ${response.status} is undocumented: name its error in errors of the operation`];
  const headers = headerMismatches(documented.headers, response);
  if (!documented.content || request.method === 'HEAD') {
    return response.text === '' ? headers : [...headers, 'a body is undocumented'];
  }
  const type = `${response.headers['content-type']}`;
  const content = documented.content[type];
  if (!content) return [`Content-Type ${type} is undocumented`];
  const body = JSON.parse(response.text);
  const wrong = [...headers, ...mismatches('body', `openapi.json${content.schema.$ref}`, body)];
  if (response.status < 400) return wrong;
  // The examples of an error response are named after its codes.
  if (!(body.code in content.examples))
    wrong.push(`code ${body.code} is undocumented: name its error in errors of the operation`);
  if (body.status !== response.status)
    wrong.push(`status ${body.status} is not that of the response`);
  return wrong;
};
