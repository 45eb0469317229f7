/** A function that does nothing: what a process costs before it does anything. */
export const handler = async () => ({ statusCode: 200, body: '{}' });
