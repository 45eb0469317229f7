import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { FunctionError, type LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { listen } from './listen.ts';

/**
 * Serves Lambda's Invoke for versions, each by the name that the caller uses: https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 */
export const startLambdaEndpoint = async (
  versions: ReadonlyMap<string, Pick<LambdaFunction, 'invoke'>>,
) => {
  const server = createServer(async (request, response) => {
    const [, arn = ''] =
      /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(`${request.url}`) ?? [];
    const version = versions.get(decodeURIComponent(arn));
    const event = await json(request);
    try {
      if (!version) throw new Error(`There is no version ${arn}`);
      response.end(await version.invoke({ requestId: '1', traceId: 'Root=1', event }));
    } catch (error) {
      if (!(error instanceof FunctionError)) return void response.writeHead(500).end(`${error}`);
      response.writeHead(200, { 'X-Amz-Function-Error': 'Unhandled' });
      response.end(JSON.stringify({ errorType: 'Error', errorMessage: error.message }));
    }
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, stop: () => server.close() };
};
