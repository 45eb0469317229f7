import { DynamodbStandIn } from '../../infra/build/code-cache/dynamodb-stand-in.ts';
import { makeCertificate } from './certificate.ts';

/** Starts a stand-in for DynamoDB over TLS, with a certificate for `localhost` and the other names. */
export const startTlsStandIn = async (...hostNames: string[]): Promise<DynamodbStandIn> =>
  DynamodbStandIn.start(await makeCertificate(['localhost', ...hostNames]));
