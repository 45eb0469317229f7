import type { Readable } from 'node:stream';
import type { HttpResponse } from '@smithy/core/protocols';

const openingBrace = '{'.charCodeAt(0);

/**
 * Reads a body to its last byte. Throws a `TimeoutError` after `ms`, and an Error for a 2xx that
 * is not a JSON object. Does not check `x-amz-crc32`, because TLS authenticates the server and
 * every byte (RFC 8446 §1).
 */
export const readAnswer = async ({ body, statusCode }: HttpResponse, ms: number) => {
  const bytes = await readWithin(ms, body);
  if (statusCode < 300 && bytes[0] !== openingBrace)
    throw new Error('The answer is no JSON object');
  return bytes;
};

const readWithin = (ms: number, body: Readable) =>
  new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => body.destroy(timeoutError()), Math.max(0, ms));
    body
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => resolve(Buffer.concat(chunks)))
      .on('error', reject)
      .on('close', () => clearTimeout(timer));
  });

/** Creates an error with the name of the SDK's own time-out errors, so that the SDK retries it. */
const timeoutError = () => Object.assign(new Error('The answer stalled'), { name: 'TimeoutError' });
