import { extname } from 'node:path';
import { type PageService, pageFiles } from '../openapi/reference-page.ts';
import type { Site } from './gateway/gateway.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.js': 'text/javascript; charset=utf-8',
};

/** The reference page at `/docs`, made out to this service, and always of the `openapi.json` as it is. */
export const docsSite =
  (service: PageService): Site =>
  async ({ method, url = '', headers }, response) => {
    const [path = ''] = url.split('?');
    // The page holds the API key: under a stranger's name for this machine it is not there.
    const isLocal = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '');
    if (method !== 'GET' || !isLocal) return false;
    if (/^\/(v1\/?)?$/.test(path) && headers.accept?.includes('text/html')) {
      response.writeHead(302, { Location: '/docs/' }).end();
      return true;
    }
    if (path === '/docs') {
      response.writeHead(308, { Location: '/docs/' }).end();
      return true;
    }
    const name = path === '/docs/' ? 'index.html' : path.replace('/docs/', '');
    const read = Object.hasOwn(pageFiles, name) ? pageFiles[name] : undefined;
    if (!read) return false;
    const contents = await read(service);
    response.writeHead(200, {
      'Content-Type': mediaTypes[extname(name)],
      'Cache-Control': 'no-store',
    });
    response.end(contents);
    return true;
  };
