import { extname } from 'node:path';
import { type PageService, pageFiles } from '../../lib/openapi/reference-page.ts';
import type { Site } from './gateway/gateway.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.js': 'text/javascript; charset=utf-8',
};

/**
 * Serves the reference page at `/docs`, which sends its requests to this service, and redirects browsers to the page.
 * No other site can read the page, because it has the API key.
 */
export const docsSite =
  (service: PageService): Site =>
  async ({ method, url = '', headers }, response) => {
    const [path = ''] = url.split('?');
    // Against DNS rebinding: no other host name gets the page.
    const isLocal = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '');
    if (method !== 'GET' || !isLocal) return false;
    const isBrowserAtRoot = /^\/(v1\/?)?$/.test(path) && headers.accept?.includes('text/html');
    if (path === '/docs' || isBrowserAtRoot) {
      response.writeHead(302, { Location: '/docs/' }).end();
      return true;
    }
    const name = path === '/docs/' ? 'index.html' : path.replace('/docs/', '');
    const read = Object.hasOwn(pageFiles, name) ? pageFiles[name] : undefined;
    if (!read) return false;
    const contents = await read(service);
    response.writeHead(200, {
      'Content-Type': mediaTypes[extname(name)],
      'Cache-Control': 'no-store',
      // Prevents other sites from loading page.js, which has the API key, as a script.
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
    response.end(contents);
    return true;
  };
