/** A text that is written in the code. For a text that contains a value, this type is `never`. */
type Literal<Text extends string> = Record<never, never> extends Record<Text, 1> ? never : Text;

/**
 * An error whose message is logged. It repeats nothing that a client sent, because it must be a literal: a
 * template with a value is a type error.
 */
export class LoggableError<Text extends string> extends Error {
  constructor(message: Text & Literal<Text>) {
    super(message);
  }
}
