import { GetParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { environment } from '../environment.ts';

const ssm = new SSMClient();

/**
 * Reads the API key with which a stage checks itself. The key must never be logged. Throws an error that says
 * what to do if there is no key.
 */
export const readProbeKey = async (abortSignal: AbortSignal): Promise<string> => {
  const Name = environment('PROBE_KEY_PARAMETER');
  const found = await ssm
    .send(new GetParameterCommand({ Name, WithDecryption: true }), { abortSignal })
    .catch((error: unknown) => {
      if (error instanceof ParameterNotFound) return undefined;
      throw error;
    });
  const apiKey = found?.Parameter?.Value;
  // `fetch` would throw an error that repeats a header value that it can't send.
  if (apiKey && /^\w+$/.test(apiKey)) return apiKey;
  const stage = environment('SERVICE_NAME').replace('animal-store-', '');
  throw new Error(
    `There is no API key in ${Name}: run npm run keys -- issue --for-probe --stage ${stage}`,
  );
};
