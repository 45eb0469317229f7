import * as v from 'valibot';

/** The id of anything that the service stores. */
export const Id = v.pipe(
  v.number(),
  v.safeInteger(),
  v.minValue(1),
  v.metadata({
    format: 'int64',
    description: 'Assigned by the service. Below 2^53, so every JSON parser keeps each digit.',
  }),
);

/** An id in a path, which is text. */
export const IdInPath = v.pipe(v.string(), v.regex(/^[1-9]\d*$/), v.transform(Number), Id);
