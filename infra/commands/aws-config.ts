import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { loadConfig } from '@smithy/core/config';
import type { Stage } from '../settings/stages.ts';
import { failureLogger } from './failed-calls.ts';
import { askInTerminal } from './terminal.ts';

/** The file of certificates that the CDK trusts, from the same places. */
const caBundle = loadConfig<string | undefined>({
  environmentVariableSelector: ({ AWS_CA_BUNDLE }) => AWS_CA_BUNDLE,
  configFileSelector: ({ ca_bundle }) => ca_bundle,
  default: process.env['REQUESTS_CA_BUNDLE'],
});

/** Returns the text of a file of certificates. Node.js ignores one that has none. */
const certificatesIn = (file: string): string => {
  try {
    const text = readFileSync(file, 'utf8');
    if (/-----BEGIN .*CERTIFICATE-----/.test(text)) return text;
  } catch {
    // A folder, or a file that does not exist, has no certificates either.
  }
  throw new Error(
    `${file} is not a file with certificates: correct AWS_CA_BUNDLE, ca_bundle of the profile or REQUESTS_CA_BUNDLE`,
  );
};

/**
 * The time that a connection may take, and the time without a byte after which a call is given up, in ms. The SDK
 * begins to measure the second one 3 s after the request, so a call without an answer takes 15 s, and it repeats
 * such a call. Its `requestTimeout` would end with the headers of a response, and so miss a body that stops.
 */
const timeLimits = { connectionTimeout: 5_000, socketTimeout: 12_000 };

/** What each client of a command has, also one of DynamoDB Local: time limits, and a name for the call that fails. */
export const callSettings = { requestHandler: timeLimits, logger: failureLogger };

/**
 * Trusts the certificates of a company too, and returns the time limits and an agent that uses the company's proxy.
 */
const connect = async () => {
  const { https_proxy, HTTPS_PROXY } = process.env;
  const proxy = https_proxy || HTTPS_PROXY;
  // Node.js ignores other values.
  if (proxy && !/^https?:\/\/./.test(proxy))
    throw new Error('HTTPS_PROXY must be a URL such as http://proxy.example.com:8080');
  const file = await caBundle();
  if (file) setDefaultCACertificates([...getCACertificates(), certificatesIn(file)]);
  return { ...timeLimits, httpsAgent: new Agent({ keepAlive: true, proxyEnv: process.env }) };
};

let hasAskedForCode = false;

const askForCode = async (device: string): Promise<string> => {
  hasAskedForCode = true;
  const code = await askInTerminal?.(`Code of the MFA device ${device}: `);
  if (code) return code;
  throw new Error(
    `The profile of AWS needs a code of the MFA device ${device}, typed in a terminal`,
  );
};

const makeShared = async () => {
  const requestHandler = await connect();
  const clientConfig = { ...callSettings, requestHandler };
  const credentials = defaultProvider({ clientConfig, mfaCodeProvider: askForCode });
  return { ...clientConfig, credentials };
};

// A code of MFA is valid once, so all clients of a process share its session.
let shared: ReturnType<typeof makeShared> | undefined;

/**
 * Returns the configuration of every client of AWS that a command uses: the region of a stage, if it has one, the
 * credentials, proxy and certificates that the CDK would use, and the time limits. `messageOf` names the call that
 * failed. Asks for a code of MFA once.
 */
export const awsConfig = async ({ environment }: Pick<Stage, 'environment'>) => {
  shared ??= makeShared();
  return { ...(await shared), ...(environment && { region: environment.region }) };
};

/**
 * Returns variables that give the session to the CDK if a code of MFA was asked for. Otherwise the CDK finds
 * the same credentials itself, and renews them.
 */
export const sessionVariables = async (): Promise<Readonly<Record<string, string | undefined>>> => {
  if (!shared || !hasAskedForCode) return {};
  const { accessKeyId, secretAccessKey, sessionToken } = await (await shared).credentials();
  return {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  };
};
