import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staging } from '../../infra/settings/stages.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { Id } from '../../lib/contract/ids.ts';
import { parseBody } from '../../lib/contract/parse-request.ts';
import { maxNameLength, NewPet } from '../../lib/contract/pet.ts';
import { titleOf } from '../../lib/openapi/schemas.ts';
import { detailsOf, operations } from '../../lib/operations/operations.ts';
import { send } from '../acceptance/client.ts';
import { newPetFields } from '../support/new-pets.ts';
import {
  bodyMismatches,
  contract,
  contractText,
  resolveReferences,
} from '../support/openapi-document.ts';
import { deployedTemplate } from '../support/templates.ts';
import { type Items, putIntoShared } from '../support/test-tables.ts';

const documented = Object.values(contract.paths).flatMap((item) => Object.values(item));

/** Every `pattern` of the document. */
const patterns = [...contractText.matchAll(/"pattern": (".*")/g)].map(([, text = '']) =>
  JSON.parse(text),
);

/** The items that the example of each operation needs. */
const itemsOfExamples = new Map<string, Items | undefined>(
  operations.map(({ name }) => [name, detailsOf(name).example.items]),
);

/**
 * A request for each example of a body, or one for an operation without, with the items that it needs and the
 * status that it promises.
 */
const exampleRequests = Object.entries(contract.paths).flatMap(([template, item]) =>
  Object.entries(item).flatMap(([method, { operationId, parameters, requestBody, responses }]) => {
    const examples = parameters.filter(({ example }) => example !== undefined);
    const path = examples
      .filter((parameter) => parameter.in === 'path')
      .reduce((path, { name, example }) => path.replace(`{${name}}`, `${example}`), template);
    const query = examples
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, example }) => `${name}=${example}`);
    const { examples: bodies = { none: { value: undefined } } } =
      requestBody?.content['application/json'] ?? {};
    const [success = ''] = Object.keys(responses);
    return Object.values(bodies).map(({ value }) => ({
      method: method.toUpperCase(),
      path: `${path}?${query.join('&')}`,
      body: value === undefined ? undefined : JSON.stringify(value),
      items: itemsOfExamples.get(operationId) ?? {},
      success,
    }));
  }),
);

/** A request to each address in an example of `Link`. */
const linkedRequests = Object.values(contract.components.headers).flatMap(({ example = '' }) =>
  [...example.matchAll(/^<\/v1(.*)>; rel=/g)].map(([, path = '']) => ({
    path,
    items: {},
    success: '200',
  })),
);

describe('openapi.json', () => {
  it('has no text in which a value is missing', () => {
    expect(contractText).not.toContain('undefined');
  });

  it('has the rate and the burst of an operation in production, and in brackets those of other stages', () => {
    const row = /\| `POST \/pets` \| 200 \(staging: 50\b[^|]*\) \| 400 \(staging: 100\b[^|]*\) \|/;
    expect(contractText).toMatch(row);
  });

  it('has examples that get what they promise when they are sent as they are', async () => {
    for (const { items, success, ...request } of [...exampleRequests, ...linkedRequests]) {
      await putIntoShared(items);
      const { status, text } = await send(request);
      expect(`${status}`, `${JSON.stringify(request)} gets ${text}`).toBe(success);
    }
  });

  it('documents every error that the gateway itself responds with, which is a literal Error', () => {
    const type = 'AWS::ApiGateway::GatewayResponse';
    const gatewayResponses = Object.values(deployedTemplate(staging).findResources(type));
    expect(gatewayResponses).not.toEqual([]);
    for (const { Properties } of gatewayResponses) {
      const text = Properties.ResponseTemplates['application/json'];
      const { code, ...others } = JSON.parse(text);
      expect(bodyMismatches('Error', { code, ...others })).toEqual([]);
      expect(`${others.status}`).toBe(Properties.StatusCode);
      // The gateway would put the value of a variable there.
      expect(text).not.toContain('$');
      const examples = documented.map(
        ({ responses }) => responses[Properties.StatusCode]?.content?.['application/json'],
      );
      expect(examples.flatMap((each) => Object.keys(each?.examples ?? {}))).toContain(code);
    }
  });

  it('has patterns that the languages of generated clients share, and that cover a whole text', () => {
    expect(patterns).not.toEqual([]);
    for (const pattern of patterns) {
      const reason =
        'Use ^ and $, ASCII, groups (?:…), counts below 1,000 and no other escapes than \\d, \\s, \\w, \\f, \\n, \\r and \\t, ' +
        'because RE2 (Go), PCRE2 (PHP), Ruby and Python each refuse some of the rest, or read it differently';
      expect(pattern, reason).toMatch(/^\^[ -~]*\$$/);
      expect(pattern, reason).not.toMatch(/\\[^dDsSwWfnrt\W]|\(\?[^:]|\[\^?\]|\{(?:\d*,)?\d{4}/);
      for (const flags of ['', 'u']) expect(() => new RegExp(pattern, flags)).not.toThrow();
    }
  });

  it('has no rule in a response by which a generated client could refuse it', () => {
    const responses = JSON.stringify(
      documented.map((operation) => resolveReferences(operation.responses)),
    );
    const rules = ['enum', 'const', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems'];
    rules.push('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf');
    rules.push('uniqueItems', 'additionalProperties', 'oneOf', 'not');
    for (const rule of rules) expect(responses).not.toContain(`"${rule}":`);
    // Proxies and browsers remove headers.
    expect(responses).not.toContain('"required":true');
    const withoutId = (_key: string, value: unknown) => (value === Id ? undefined : value);
    const withRule = operations.flatMap(({ name, response }) =>
      JSON.stringify(response, withoutId)?.includes('"kind":"validation"') ? [name] : [],
    );
    const reason = 'Rules are for the body of a request: a stored item that breaks one is corrupt';
    expect(withRule, reason).toEqual([]);
  });

  it('says of each integer whether it has 32 or 64 bits', () => {
    const integers = [...contractText.matchAll(/\{[^{}]*"type": "integer"[^{}]*\}/g)];
    expect(integers).not.toEqual([]);
    const wrong = integers
      .map(([schema]) => JSON.parse(schema))
      .filter(
        ({ format, maximum = 0 }) =>
          format !== 'int64' && !(format === 'int32' && maximum < 2 ** 31),
      );
    const reason =
      'Add the format int64 by v.metadata, because most generated clients read 32 bits by default';
    expect(wrong, reason).toEqual([]);
  });

  it('counts the characters of each text as the service does, which refuses lone surrogates', () => {
    for (const body of operations.flatMap(({ input }) => input.body ?? [])) {
      const title = titleOf(body);
      for (const [name, entry] of Object.entries(body.entries)) {
        const path = `${title}/properties/${name}`;
        const reason = `Give ${path} the schema textOf, because others count UTF-16 units or accept lone surrogates`;
        const { maxLength = 1 } = contract.components.schemas[title]?.properties?.[name] ?? {};
        for (const text of [maxLength, maxLength + 1].map((length) => '🐶'.repeat(length)))
          expect(v.is(entry, text), reason).toBe(bodyMismatches(path, text).length === 0);
        expect(v.is(entry, 'Rex\ud83d'), reason).toBe(false);
      }
    }
  });

  it('allows exactly the pets that the service accepts', () => {
    const mostlyBlank = '\t\n\r\v \u00a0\u2028\u3000\ufeff';
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: maxNameLength + 5 }),
      fc.string({ unit: fc.constantFrom(...mostlyBlank, 'x'), maxLength: 3 }),
    );
    // ajv knows no bigint.
    const valid = { ...newPetFields, categoryId: fc.maxSafeInteger() };
    const mostlyRight = fc.record({ ...valid, name: text }, { requiredKeys: ['name'] });
    const wrongFields = [...Object.keys(valid), 'colour'].map((field) => {
      const values = fc.oneof(text, fc.jsonValue(), fc.constantFrom(1, 1.5, 2 ** 65, -(2 ** 65)));
      return fc.record({ ...valid, [field]: values }, { requiredKeys: [] });
    });
    fc.assert(
      fc.property(fc.oneof(mostlyRight, ...wrongFields, fc.jsonValue()), (body) => {
        const isAllowed = bodyMismatches('NewPet', body).length === 0;
        // As the service parses it: an integer beyond 2^53 is a bigint.
        const sent = parseJson(JSON.stringify(body));
        if (isAllowed) parseBody(NewPet, sent);
        else expect(() => parseBody(NewPet, sent)).toThrow(ApiError);
      }),
      { numRuns: 2_000 },
    );
  });
});
