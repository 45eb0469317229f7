const unread = 'No response and no log line has this text.';

/**
 * The changes that no test can notice, by file: the changed line, and the reason, which covers each equal
 * line of the file. `npm run mutate` compares this list with what it finds.
 */
export const survivors: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'lib/aws/get-item.ts': {
    'throw new CorruptItem("");': unread,
    'if (Item[keyName] !== key) throw new Error("");': unread,
  },
  'lib/contract/exact-json.ts': {
    'JSON.parse(text, (_key, value, { source = "Stryker was here!" }) =>':
      'Every number has a source. Only TypeScript asks for it.',
  },
  'lib/contract/requests.ts': {
    'if (!success) throw errors.invalidRequest("");':
      '`refuse` has thrown for every issue. Only TypeScript asks for it.',
    'const wrong = new Map(issues.map(({ path, message }) => [`${path?.[0].key}`, message]));':
      'Every issue of an object has a path. Only TypeScript asks for it.',
    'const wrong = new Map(issues.map(({ path, message }) => [`${path[0]?.key}`, message]));':
      'Every issue of an object has a path. Only TypeScript asks for it.',
    "if (false) throw errors.invalidRequest('The request is not valid.');":
      '`refuse` has thrown for every issue. Only TypeScript asks for it.',
  },
  'lib/http/body-limits.ts': {
    'const [contentType = "Stryker was here!", ...others] = contentTypes;':
      'Any text that is no media type would do.',
    '} catch {}': '`undefined` is refused like `false`.',
    'if (Buffer.byteLength(sent, event.isBase64Encoded ? \'base64\' : "") > maxBodyBytes) {':
      'UTF-8 is the default.',
  },
  'lib/http/chain.ts': {
    'middy<OperationEvent, APIGatewayProxyResult, unknown, ChainContext>({})':
      '`deadline` ends the calls of an operation before Middy would, and `unrouted` makes none.',
  },
  'lib/http/deadline.ts': {
    'if (remainingMs <= 0) throw errors.serviceUnavailable(new Error(""));': unread,
  },
  'lib/http/exact-integers.ts': {
    '} catch {}':
      "Middy's parser refuses the text first, as long as it needs no less of the stack.",
  },
  'lib/http/header-values.ts': {
    '.flatMap((given) => multiValueHeaders[given] ?? ["Stryker was here"]);':
      'The name is one of the headers. Only TypeScript asks for it.',
    'true && given.toLowerCase() === name,':
      'The comparison of the names suffices; that of the lengths saves time.',
  },
  'lib/http/idempotency-key.ts': {
    'if (false) return undefined;':
      '`undefined` matches the pattern as text, so it is returned anyway.',
  },
  'lib/http/lifecycle.ts': {
    'throw errors.endpointRemoved(`GET ${operation.deprecation.successor}`);':
      'Only a deprecated operation is removed. Only TypeScript asks for it.',
    'if (false) return;': 'Every request has a response by then. Only TypeScript asks for it.',
  },
  'lib/http/link.ts': {
    'const segments = requestContext.path.replace(/\\/$/, "Stryker was here!").split(\'/\');':
      'The last segments are cut off.',
  },
  'lib/http/observability.ts': {
    'const placeOf = ({ stack = "Stryker was here!", message }: Error) =>':
      'Any text without a frame would do.',
    '/^ {4}at .*?([\\w.-]+:\\d+:\\d+)\\)?$/m.exec(stack.replace(message, "Stryker was here!"))?.[1];':
      'Any text without a frame would do.',
  },
  'lib/http/query.ts': {
    'const repeated = parameters.filter(([, values = ["Stryker was here"]]) => values.length > 1);':
      'JSON has no `undefined`. Only TypeScript asks for it.',
    'return Object.fromEntries(parameters.map(([name, values]) => [name, values[0]]));':
      'JSON has no `undefined`. Only TypeScript asks for it.',
  },
  'lib/keys/find-api-key.ts': {
    'export const rememberedApiKey = (keyId: string): ApiKeyRecord | undefined => {};':
      '`findApiKey` finds the record too, after a checksum.',
    'return false ? proven.record : undefined;':
      '`findApiKey` finds the record too, after a checksum.',
  },
  'lib/keys/key-administration.ts': {
    'for await (const { Items = ["Stryker was here"] } of pages) {':
      'Every page of a scan has `Items`, which may be empty. Only TypeScript asks for it.',
  },
  'lib/pets/cursor.ts': {
    'if (bytes.length >= checksumBytes + idBytes) {': 'A cursor without a status is refused too.',
  },
  'lib/pets/integer-part.ts': {
    "const [, sign, integer = \"Stryker was here!\", fraction = '', exponent = '0'] = parts;":
      'Only the exponent can be absent. Only TypeScript asks for it.',
    "const [, sign, integer = '', fraction = \"Stryker was here!\", exponent = '0'] = parts;":
      'Only the exponent can be absent. Only TypeScript asks for it.',
    "const [, sign, integer = '', fraction = '', exponent = \"\"] = parts;":
      "`Number('')` is 0 too.",
  },
  'lib/pets/pet-store.ts': {
    'const { Items = ["Stryker was here"], LastEvaluatedKey } = await callDynamodb(command, context, check);':
      '`check` has refused an answer without items. Only TypeScript asks for it.',
    'throw new Error("");': unread,
    'const implausible = () => new Error("");': unread,
    'let last = true ? Number(firstId) - 1 : 0;': 'No id has an integer part below either.',
    'lastId: true && lastId < Number.MAX_SAFE_INTEGER ? lastId : undefined,':
      '`undefined` is not below the largest id. Only TypeScript asks for it.',
  },
  'lib/pets/stored-pet.ts': {
    'if (!success) throw new Error("");': unread,
  },
};
