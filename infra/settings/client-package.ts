/**
 * The name of the typed client's package. Its scope must be your user or organisation on npm, so that nobody
 * else can publish a package with this name. The documents show the same name.
 */
export const clientPackage = '@example.com/animal-store-client';
