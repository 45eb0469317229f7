import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, vi } from 'vitest';
import { listen } from './listen.ts';

/** A response as AWS's API reference of the service describes it. */
export type AwsResponse = readonly [status: number, body: string];
export type Responses = Readonly<
  Record<string, AwsResponse | ((body: string) => AwsResponse | Promise<AwsResponse>)>
>;

export const json = (body: object, status = 200): AwsResponse => [status, JSON.stringify(body)];
export const jsonError = (code: string, status = 400): AwsResponse =>
  json({ __type: code, message: code }, status);
/** A result of the services that respond with XML: CloudFormation, SNS and STS. */
export const xml = (action: string, result: object): AwsResponse => [
  200,
  elementsOf({ [`${action}Response`]: { [`${action}Result`]: result } }),
];
/** A list has a `member` for each of its items. */
const elementsOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map((member) => elementsOf({ member })).join('');
  if (typeof value !== 'object' || value === null) return `${value}`;
  const elements = Object.entries(value);
  return elements.map(([name, inner]) => `<${name}>${elementsOf(inner)}</${name}>`).join('');
};
export const xmlError = (code: string, message = code): AwsResponse => [
  400,
  `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
];

/** The response about the account of the credentials. */
export const caller = (Account: string): Responses => ({
  GetCallerIdentity: xml('GetCallerIdentity', { Account }),
});

type Values = Readonly<Record<string, string>>;

const pairsOf = (kind: string, values: Values) =>
  Object.entries(values).map(([key, value]) => ({ [`${kind}Key`]: key, [`${kind}Value`]: value }));

/** The one stack that exists, with its outputs and parameters. */
export const stackIn = (
  StackStatus: string,
  outputs: Values = {},
  parameters: Values = {},
): AwsResponse => {
  const Outputs = pairsOf('Output', outputs);
  const Parameters = pairsOf('Parameter', parameters);
  return xml('DescribeStacks', { Stacks: [{ StackStatus, Outputs, Parameters }] });
};

type StackResource = readonly [type: string, logicalId: string, id?: string, status?: string];

/** The resources of that stack, each with its type, such as `SNS::Topic`, and its ids. */
export const resourcesOfStack = (...resources: readonly StackResource[]): AwsResponse =>
  xml('ListStackResources', {
    StackResourceSummaries: resources.map(
      ([type, LogicalResourceId, PhysicalResourceId = '', ResourceStatus = '']) => {
        const ResourceType = `AWS::${type}`;
        return { ResourceType, LogicalResourceId, PhysicalResourceId, ResourceStatus };
      },
    ),
  });

/** The error of CloudFormation about a stack that does not exist. */
export const noStack = xmlError('ValidationError', 'Stack with id AnimalStore does not exist');

interface AwsEndpoint {
  responses: Responses;
  /** Replaces some responses. */
  readonly respond: (responses: Responses) => void;
  readonly requests: {
    action: string;
    region: string | undefined;
    accessKey: string | undefined;
    body: string;
  }[];
  /** Environment variables that lead an SDK here, without the machine's own credentials and settings. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Responds to the requests of SDKs by their action, such as `GetCallerIdentity`, and records them, until the
 * tests end. Before each test, it forgets them, and sets the variables that lead an SDK here.
 */
export const startAwsEndpoint = async (): Promise<AwsEndpoint> => {
  // A busy machine may send a request on a connection that the server is about to close.
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const body = await text(request);
    const action = actionOf(request, body);
    const scope = /Credential=(\w+)\/\d+\/([\w-]+)\//.exec(request.headers.authorization ?? '');
    endpoint.requests.push({ action, region: scope?.[2], accessKey: scope?.[1], body });
    const canned = endpoint.responses[action] ?? jsonError(`NoResponseTo ${action}`, 501);
    const [status, content] = typeof canned === 'function' ? await canned(body) : canned;
    response.writeHead(status).end(content);
  });
  const endpoint: AwsEndpoint = {
    responses: {},
    respond: (responses) => {
      endpoint.responses = { ...endpoint.responses, ...responses };
    },
    requests: [],
    variables: {
      PATH: process.env['PATH'] ?? '',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${await listen(server)}`,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_CONFIG_FILE: '/dev/null',
    },
  };
  beforeEach(() => {
    endpoint.requests.length = 0;
    for (const [name, value] of Object.entries(endpoint.variables)) vi.stubEnv(name, value);
  });
  afterAll(() => void server.close());
  return endpoint;
};

/** Each protocol of AWS names the action in another place: in the body, a header, or the path. */
const actionOf = ({ headers, method, url }: IncomingMessage, body: string) =>
  /(?:^|&)Action=(\w+)/.exec(body)?.[1] ??
  [headers['x-amz-target']].flat()[0]?.split('.')[1] ??
  `${method} ${url?.replace(/\/?\?.*|\/$/, '')}`;
