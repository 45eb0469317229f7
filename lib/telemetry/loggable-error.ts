/**
 * `Text`, or for a text with a value what the compiler says of it. A record tells them apart: it must have a
 * key that is one text, and can be empty if its keys are `string` or a template.
 */
type WithoutValue<Text extends string> =
  Record<never, never> extends Record<Text, unknown> ? 'a message without a value' : Text;

/**
 * An error whose message is logged. It repeats nothing that a client sent, because it is written in the code:
 * a template with a value is a type error.
 */
export class LoggableError<Text extends string> extends Error {
  constructor(message: WithoutValue<Text>) {
    super(message);
  }
}
