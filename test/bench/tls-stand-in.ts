import { makeCertificate } from './certificate.ts';
import { DynamodbStandIn } from './dynamodb-stand-in.ts';

/** Starts a stand-in for DynamoDB over TLS, with a certificate for `localhost` and the other names. */
export const startTlsStandIn = async (...hostNames: string[]): Promise<DynamodbStandIn> =>
  DynamodbStandIn.start(await makeCertificate(['localhost', ...hostNames]));
