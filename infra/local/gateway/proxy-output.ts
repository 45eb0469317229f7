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

const ProxyOutput = v.strictObject({
  statusCode: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  multiValueHeaders: v.optional(v.record(v.string(), v.array(v.string())), {}),
  body: v.optional(v.string(), ''),
  // The API has no binary media types, so the body is sent unchanged, even if it is base64.
  isBase64Encoded: v.optional(v.boolean()),
});

/**
 * Parses the JSON that a function returned. Throws when API Gateway would treat it as malformed, and also for
 * what it would convert, such as a status in text.
 */
export const parseProxyOutput = (json: string): HttpResponse => {
  const { success, output, issues } = v.safeParse(ProxyOutput, JSON.parse(json));
  if (!success) throw new Error(v.summarize(issues).replace(/\s+/g, ' '));
  const { statusCode, headers, multiValueHeaders, body } = output;
  const given = [...Object.entries(multiValueHeaders), ...Object.entries(headers)];
  const pairs = given.flatMap(([name, values]) =>
    [values].flat().map((value) => [remappedName(name), value] as const),
  );
  const hasType = pairs.some(([name]) => /^content-type$/i.test(name));
  return {
    status: statusCode,
    headers: hasType ? pairs : [['Content-Type', 'application/json'], ...pairs],
    body,
  };
};

const remappedName = (name: string) =>
  remapped.test(name) ? `x-amzn-remapped-${name.toLowerCase()}` : name;
