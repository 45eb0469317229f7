import * as v from 'valibot';

/** The body of every error response. */
export const ErrorBody = v.object({
  code: v.pipe(
    v.string(),
    v.metadata({ description: 'Identifies the error. New codes may be added.' }),
  ),
  message: v.pipe(
    v.string(),
    v.metadata({ description: 'Explains the error to people. The wording may change.' }),
  ),
  status: v.pipe(
    v.number(),
    v.integer(),
    v.metadata({ format: 'int32', description: 'The HTTP status code of the response.' }),
  ),
});
export type ErrorBody = Readonly<v.InferOutput<typeof ErrorBody>>;
