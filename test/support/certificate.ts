import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const passphrase = 'not a secret';

/** A server's certificate; `file` is its PEM file, for clients that must trust it. */
export interface Certificate extends AsyncDisposable {
  readonly pfx: Buffer;
  readonly passphrase: string;
  readonly file: string;
}

/** Makes a self-signed certificate with the JDK's keytool, which DynamoDB Local needs a JDK for anyway. */
export const makeCertificate = async (hostNames: readonly string[]): Promise<Certificate> => {
  const directory = await mkdtemp(join(tmpdir(), 'animal-store-certificate-'));
  const keystore = join(directory, 'keystore.p12');
  const file = join(directory, 'certificate.pem');
  const store = ['-alias', 'stand-in', '-keystore', keystore, '-storepass', passphrase];
  const names = hostNames.map((name) => `dns:${name}`).join(',');
  await run('keytool', [
    ...['-genkeypair', '-keyalg', 'EC', '-groupname', 'secp256r1', '-validity', '2', ...store],
    ...['-storetype', 'PKCS12', '-dname', `CN=${hostNames[0]}`, '-ext', `san=${names}`],
  ]);
  await run('keytool', ['-exportcert', '-rfc', '-file', file, ...store]);
  return {
    pfx: await readFile(keystore),
    passphrase,
    file,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
};
