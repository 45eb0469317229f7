import * as v from 'valibot';

/** A response as the gateway sends it. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Headers of a function that API Gateway renames, as LocalStack recorded (infra/local/aws-behaviour.md). */
const remapped =
  /^(authorization|connection|content-length|content-md5|date|max-forwards|server|user-agent|www-authenticate|x-amzn-requestid)$/i;

const HeaderValue = v.pipe(v.union([v.string(), v.boolean()]), v.transform(String));

/**
 * The status code of an output. The default is 200, and text is read as a number, as LocalStack recorded
 * (infra/local/aws-behaviour.md).
 */
const StatusCode = v.optional(
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{3}$/), v.transform(Number))]),
    v.integer(),
    v.minValue(200),
    v.maxValue(599),
  ),
  200,
);

const ProxyOutput = v.pipe(
  v.unknown(),
  v.check((output) => !Array.isArray(output), 'The output is a list.'),
  v.strictObject({
    statusCode: StatusCode,
    headers: v.nullish(v.record(v.string(), HeaderValue)),
    multiValueHeaders: v.nullish(v.record(v.string(), v.array(HeaderValue))),
    body: v.nullish(v.string()),
    // The API has no binary media types, so the body is sent unchanged, even if it is base64.
    isBase64Encoded: v.nullish(v.boolean()),
  }),
);

/** Parses the JSON that a function returned. Throws when API Gateway would treat it as malformed. */
export const parseProxyOutput = (json: string): HttpResponse => {
  const { success, output, issues } = v.safeParse(ProxyOutput, JSON.parse(json));
  if (!success) throw new Error(v.summarize(issues).replace(/\s+/g, ' '));
  const { statusCode, headers, multiValueHeaders, body } = output;
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
