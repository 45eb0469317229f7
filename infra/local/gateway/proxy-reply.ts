import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod/mini';

/** A response as the gateway sends it. */
export interface GatewayReply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Headers of a function that API Gateway renames (row 77 of aws-recorded.md). */
const remapped =
  /^(authorization|connection|content-length|content-md5|date|max-forwards|server|user-agent|www-authenticate|x-amzn-requestid)$/i;

/** Headers of a function that API Gateway leaves out (unverified: rows 78 and 79 differ for another integration). */
const leftOut =
  /^(expect|host|keep-alive|proxy-authenticate|te|trailer|transfer-encoding|upgrade|via)$/i;

const HeaderValue = z.pipe(z.union([z.string(), z.boolean()]), z.transform(String));

/** Rows 56 to 59 of aws-recorded.md: 200 without one, and text is read as a number. */
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
type ProxyReply = z.output<typeof ProxyReply>;

/** Reads what a function returned, as JSON. Throws when API Gateway would call it malformed. */
export const parseProxyReply = (json: string): GatewayReply => {
  const { data: reply, error } = ProxyReply.safeParse(JSON.parse(json));
  if (!reply) {
    const [issue] = error.issues;
    throw new Error(`Malformed Lambda proxy response: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const headers = mergedHeaders(reply);
  for (const [name, value] of headers) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
  const hasType = headers.some(([name]) => /^content-type$/i.test(name));
  return {
    status: reply.statusCode,
    headers: [
      ...(hasType ? [] : [['Content-Type', 'application/json'] as const]),
      ...headers
        .filter(([name]) => !leftOut.test(name))
        .map(([name, value]) => [remappedName(name), value] as const),
    ],
    body: reply.body ?? '',
  };
};

/** Both maps as one list; a pair in both counts once. */
const mergedHeaders = ({ headers, multiValueHeaders }: ProxyReply): [string, string][] => {
  const multi = Object.entries(multiValueHeaders ?? {}).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const single = Object.entries(headers ?? {}).filter(
    ([name, value]) =>
      !multi.some(([given, held]) => given.toLowerCase() === name.toLowerCase() && held === value),
  );
  return [...single, ...multi];
};

const remappedName = (name: string) =>
  remapped.test(name) ? `x-amzn-remapped-${name.toLowerCase()}` : name;
