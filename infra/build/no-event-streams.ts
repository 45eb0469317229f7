/**
 * Stands in for an export of `@smithy/core/event-streams`. Bundles have this module in its place, because
 * DynamoDB's client only uses it for event streams, which DynamoDB does not have. It has the two exports that
 * this client names, so a client that needs more of them can't be bundled. Throws when it is called.
 */
function noEventStreams(): never {
  throw new Error(
    'Bundles have no event streams: see functionAliases in infra/build/bundle-functions.ts',
  );
}

export { noEventStreams as EventStreamSerde, noEventStreams as eventStreamSerdeProvider };
