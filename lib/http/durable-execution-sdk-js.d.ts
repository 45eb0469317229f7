/**
 * Keeps the context of every handler typed. Middy's types import this type from an optional package, without
 * which TypeScript would take it, and with it the context, as `any`.
 */
declare module '@aws/durable-execution-sdk-js' {
  export type DurableContext = never;
}
