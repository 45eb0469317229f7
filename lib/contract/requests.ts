import { type Pet, petStatuses } from './bodies.ts';
import { errors } from './errors.ts';
import { isInt64, isPetStatus } from './pet.ts';

/** The pet that a client asks to add, with the default status if the client sent none. */
export type NewPet = Omit<Pet, 'id'>;

/** The query of `GET /pets`, with the default limit if the client sent none. */
export interface ListPetsQuery {
  readonly limit: number;
  readonly status?: Pet['status'] | undefined;
  readonly cursor?: string | undefined;
}

export const defaultStatus = 'available';
export const defaultLimit = 20;
/** Maximum length of a name, in code points. */
export const maxNameLength = 255;
/** Maximum number of pets on a page. */
export const maxLimit = 100;

/** Unicode's White_Space, Cc, Cf and Default_Ignorable_Code_Point, as ranges: a RegExp compiles `\p{…}` five times slower. */
const invisible =
  '\\u0000-\\u0020\\u007f-\\u00a0\\u00ad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890-\\u0891\\u08e2\\u115f-\\u1160\\u1680\\u17b4-\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{110bd}\\u{110cd}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';

/** Matches a visible character. */
export const visible = /* @__PURE__ */ (() => new RegExp(`[^${invisible}]`, 'u'))();

const isText = (value: unknown) => typeof value === 'string';
const isName = (value: unknown): value is string =>
  isText(value) &&
  value.isWellFormed() &&
  visible.test(value) &&
  [...value].length <= maxNameLength;
const isLimit = (value: unknown): value is string =>
  isText(value) && /^[1-9]\d{0,2}$/.test(value) && Number(value) <= maxLimit;
const isOptionalStatus = (value: unknown) => value === undefined || isPetStatus(value);
const isOptionalText = (value: unknown) => value === undefined || isText(value);

const anyStatus = () => `one of ${petStatuses.join(', ')}`;

/** Parses the body of `POST /pets`. Throws `invalid_request`, which names each invalid field. */
export const newPetOf = (body: unknown): NewPet => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw errors.invalidRequest('The body must be a JSON object.');
  }
  const sent: Record<string, unknown> = { status: defaultStatus, ...body };
  check('field', sent, {
    name: [isName, `text of 1 to ${maxNameLength} characters that is not blank`],
    categoryId: [isInt64, 'a 64-bit integer in plain digits'],
    status: [isPetStatus, anyStatus()],
  });
  const { name, categoryId, status } = sent;
  return { name, categoryId, status };
};

/** Parses the query of `GET /pets`. Throws `invalid_request`, which names each invalid parameter. */
export const listPetsQueryOf = (
  query: Readonly<Record<string, string | undefined>>,
): ListPetsQuery => {
  const sent: Record<string, unknown> = { limit: `${defaultLimit}`, ...query };
  check('query parameter', sent, {
    limit: [isLimit, `an integer from 1 to ${maxLimit}`],
    status: [isOptionalStatus, anyStatus()],
    cursor: [isOptionalText, 'text'],
  });
  const { limit, status, cursor } = sent;
  return { limit: Number(limit), status, cursor };
};

/** A check of a value, and the words of an error message that say what is valid. */
type Rule<Value> = readonly [isRight: (value: unknown) => value is Value, mustBe: string];

type Checked<Rules> = {
  [Name in keyof Rules]: Rules[Name] extends Rule<infer Value> ? Value : never;
};

type Kind = 'field' | 'query parameter';

/** Throws `invalid_request` if a value breaks its rule, or if there is no rule for its name. */
function check<Rules extends Readonly<Record<string, Rule<unknown>>>>(
  kind: Kind,
  sent: Record<string, unknown>,
  rules: Rules,
): asserts sent is Checked<Rules> {
  const offences = Object.entries(rules)
    .filter(([name, [isRight]]) => !isRight(sent[name]))
    .map(([name, [, mustBe]]) => `${name} ${name in sent ? `must be ${mustBe}` : 'is required'}`);
  const others = Object.keys(sent).filter((name) => !Object.hasOwn(rules, name));
  refuse([...offences, ...others.map((name) => notKnown(kind, name))]);
}

/** Throws `invalid_request`, which names each offence, if there are any. */
export const refuse = (offences: readonly string[]) => {
  if (offences.length > 0) throw errors.invalidRequest(`${offences.join('; ')}.`);
};

/** Returns the text for a field or parameter in an error message. It contains the name only if that is short and plain. */
export const called = (kind: Kind, name: string): string =>
  /^(?!pets_(live|test)_)[\w.$-]{1,32}$/.test(name)
    ? `${kind} ${name}`
    : `a ${kind} with an unprintable name`;

export const notKnown = (kind: Kind, name: string) => `${called(kind, name)} is not known`;
