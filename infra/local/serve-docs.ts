import type { ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { type GatewayRequest, headerValuesOf } from '../../lib/gateway-events/gateway-request.ts';
import { pageFiles } from '../../lib/openapi/reference-page.ts';
import { limitsText } from '../settings/limits-text.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.js': 'text/javascript; charset=utf-8',
};

const files = pageFiles(limitsText());

/**
 * Serves the reference page at `/docs/`. The page sends its requests to this stage. It contains no API key,
 * because every user of this machine can read it. Returns false for a request that is for something else.
 */
export const serveDocs = async (
  request: GatewayRequest,
  response: ServerResponse,
  stageName: string,
): Promise<boolean> => {
  const { path } = request;
  if (path === '/docs') {
    response.writeHead(302, { Location: '/docs/' }).end();
    return true;
  }
  const name = path === '/docs/' ? 'index.html' : path.replace('/docs/', '');
  const read = Object.hasOwn(files, name) ? files[name] : undefined;
  if (!read) return false;
  const [host] = headerValuesOf(request, 'host');
  const contents = await read({ baseAddress: `http://${host}/${stageName}` });
  const type = mediaTypes[extname(name)];
  response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(contents);
  return true;
};
