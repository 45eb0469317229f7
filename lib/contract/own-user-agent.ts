/**
 * The `User-Agent` of the requests with which a stage checks itself: before traffic, each minute, and after a
 * release. They don't count as calls of a client.
 */
export const ownUserAgent = 'animal-store-check';
