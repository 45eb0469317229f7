/**
 * Middy's types import this type from an optional package. It is declared here, because TypeScript would
 * otherwise take it, and with it the context of every handler, as `any`.
 */
declare module '@aws/durable-execution-sdk-js' {
  export type DurableContext = never;
}
