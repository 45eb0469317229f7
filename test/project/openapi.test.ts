import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitsText } from '../../infra/commands/limits-text.ts';
import { staging } from '../../infra/settings/stages.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { parseJson } from '../../lib/contract/exact-json.ts';
import { maxNameLength, NewPet, visible } from '../../lib/contract/pet.ts';
import { parseBody } from '../../lib/contract/requests.ts';
import { openapiText } from '../../lib/openapi/document.ts';
import { bodyMismatches, contract, contractText } from '../support/contract.ts';
import { newPetFields } from '../support/new-pets.ts';
import { runsOf } from '../support/runs.ts';
import { deployedTemplate } from '../support/stack.ts';

const documented = Object.values(contract.paths).flatMap((item) => Object.values(item));

/** Every `pattern` of the document. */
const patterns = [...contractText.matchAll(/"pattern": (".*")/g)].map(([, text = '']) =>
  JSON.parse(text),
);

describe('openapi.json', () => {
  it('is what npm run openapi writes', () => {
    expect(contractText).toBe(openapiText(limitsText()));
    expect(contractText).not.toContain('undefined');
  });

  it('documents every error that the gateway itself responds with', () => {
    const type = 'AWS::ApiGateway::GatewayResponse';
    const gatewayResponses = Object.values(deployedTemplate(staging).findResources(type));
    expect(gatewayResponses).not.toEqual([]);
    for (const { Properties } of gatewayResponses) {
      const { code } = JSON.parse(Properties.ResponseTemplates['application/json']);
      const examples = documented.map(
        ({ responses }) => responses[Properties.StatusCode]?.content?.['application/json'],
      );
      expect(examples.flatMap((each) => Object.keys(each?.examples ?? {}))).toContain(code);
    }
  });

  it('has patterns that compile with and without the u flag, and in the source of a client', () => {
    for (const pattern of patterns) {
      for (const flags of ['', 'u']) expect(() => new RegExp(pattern, flags)).not.toThrow();
      // @hey-api/openapi-ts writes these as characters, and then its client does not compile.
      expect(pattern).not.toMatch(/\\u(00[01]|202[89])/);
    }
  });

  it.each(['', 'u'])(
    'knows which characters of a name are visible, with the flags "%s"',
    (flags) => {
      const { pattern } = Object(contract.components.schemas['NewPet']?.['properties']).name;
      const notBlank = new RegExp(pattern, flags);
      for (let codePoint = 0; codePoint <= 0x10_ffff; codePoint += 1) {
        const character = String.fromCodePoint(codePoint);
        // The pattern can't express the invisible characters beyond U+FFFF; the service does.
        const isVisible = codePoint > 0xffff || visible.test(character);
        if (notBlank.test(character) !== isVisible) expect.fail(`U+${codePoint.toString(16)}`);
      }
    },
  );

  it('allows exactly the pets that the service accepts', () => {
    const invisible = '\t\v\u0085\u00a0\u180e\u200b\u2028\u3000\ufeff\0\u00ad\u2060\u{e0041}';
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: maxNameLength + 5 }),
      fc.string({ unit: fc.constantFrom(...invisible, 'x'), maxLength: 3 }),
      fc.string({
        unit: fc.constantFrom('x', '🐶'),
        minLength: maxNameLength - 5,
        maxLength: maxNameLength + 5,
      }),
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
        const isAllowed =
          bodyMismatches('NewPet', body).length === 0 && visible.test(Object(body).name);
        // As the service parses it: an integer beyond 2^53 is a bigint.
        const sent = parseJson(JSON.stringify(body));
        if (isAllowed) parseBody(NewPet, sent);
        else expect(() => parseBody(NewPet, sent)).toThrow(ApiError);
      }),
      { numRuns: runsOf(2_000, 100_000) },
    );
  });
});
