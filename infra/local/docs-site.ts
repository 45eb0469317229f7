import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { extname } from 'node:path';
import { pageFiles } from '../../lib/openapi/reference-page.ts';
import type { Site } from './gateway/gateway.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.js': 'text/javascript; charset=utf-8',
};

export interface DocsSiteOptions {
  /** The path of the service's base address, such as `/v1`, to which the page sends its requests. */
  readonly basePath: string;
  readonly apiKey: string;
  /**
   * The token that proves that a page was opened by the user who started the service, and not by
   * another user of this machine.
   */
  readonly token: string;
}

/**
 * Serves the reference page at `/docs` and redirects browsers to it. The page itself contains no API key. It
 * gets the key from `/docs/api-key` in exchange for the token.
 */
export const docsSite =
  ({ basePath, apiKey, token }: DocsSiteOptions): Site =>
  async ({ method, url = '', headers }, response) => {
    const [path = ''] = url.split('?');
    // Only these host names get the page. This prevents DNS rebinding.
    const isLocal = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '');
    if (!isLocal || (method !== 'GET' && method !== 'HEAD')) return false;
    const isRoot = ['/', basePath, `${basePath}/`].includes(path);
    const isBrowserAtRoot = isRoot && headers.accept?.includes('text/html');
    if (path === '/docs' || isBrowserAtRoot) {
      response.writeHead(302, { Location: '/docs/', 'Content-Length': 0 }).end();
      return true;
    }
    const common = {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "frame-ancestors 'none'",
    };
    if (path === '/docs/api-key') {
      const isKnown = hasToken(headers, token);
      response.writeHead(isKnown ? 200 : 403, { ...common, 'Content-Type': 'text/plain' });
      response.end(isKnown ? apiKey : '');
      return true;
    }
    const name = path === '/docs/' ? 'index.html' : path.replace('/docs/', '');
    const read = Object.hasOwn(pageFiles, name) ? pageFiles[name] : undefined;
    if (!read) return false;
    const local = { baseAddress: `http://${headers.host}${basePath}`, apiKeyAddress: 'api-key' };
    const contents = await read(local);
    response.writeHead(200, {
      ...common,
      'Content-Type': mediaTypes[extname(name)],
      'Content-Length': Buffer.byteLength(contents),
    });
    response.end(contents);
    return true;
  };

const hasToken = ({ authorization = '' }: IncomingHttpHeaders, token: string): boolean => {
  const given = Buffer.from(authorization);
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
};
