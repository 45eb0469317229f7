import * as z from 'zod/mini';

/** A response as the gateway sends it. */
export interface GatewayReply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Headers of a function that API Gateway renames, as LocalStack recorded (infra/local/aws-behaviour.md). */
const remapped =
  /^(authorization|connection|content-length|content-md5|date|max-forwards|server|user-agent|www-authenticate|x-amzn-requestid)$/i;

const HeaderValue = z.pipe(z.union([z.string(), z.boolean()]), z.transform(String));

/** The default is 200, and text is read as a number, as LocalStack recorded (infra/local/aws-behaviour.md). */
const StatusCode = z._default(
  z.pipe(
    z.union([z.number(), z.pipe(z.string().check(z.regex(/^\d{3}$/)), z.transform(Number))]),
    z.number().check(z.int(), z.gte(200), z.lte(599)),
  ),
  200,
);

const ProxyReply = z.strictObject({
  statusCode: StatusCode,
  headers: z.nullish(z.record(z.string(), HeaderValue)),
  multiValueHeaders: z.nullish(z.record(z.string(), z.array(HeaderValue))),
  body: z.nullish(z.string()),
  // Without binary media types the body is sent as it is, base64 or not.
  isBase64Encoded: z.nullish(z.boolean()),
});

/** Reads what a function returned, as JSON. Throws when API Gateway would call it malformed. */
export const parseProxyReply = (json: string): GatewayReply => {
  const { data: reply, error } = ProxyReply.safeParse(JSON.parse(json));
  if (!reply) throw new Error(z.prettifyError(error).replace(/\s+/g, ' '));
  const { statusCode, headers, multiValueHeaders, body } = reply;
  const given = [...Object.entries(multiValueHeaders ?? {}), ...Object.entries(headers ?? {})];
  const pairs = given.flatMap(([name, values]) =>
    [values].flat().map((value) => [remappedName(name), value] as const),
  );
  const hasType = pairs.some(([name]) => /^content-type$/i.test(name));
  return {
    status: statusCode,
    headers: hasType ? pairs : [['Content-Type', 'application/json'], ...pairs],
    body: body ?? '',
  };
};

const remappedName = (name: string) =>
  remapped.test(name) ? `x-amzn-remapped-${name.toLowerCase()}` : name;
