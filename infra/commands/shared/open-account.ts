import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import type { Stage } from '../../settings/stages.ts';
import { awsClients } from './aws-clients.ts';
import { awsConfig } from './aws-config.ts';
import { messageOf } from './terminal.ts';

/**
 * Returns the account and the region of a stage, which are those of the credentials if it has none, with the
 * clients of AWS. Throws when the credentials belong to another account.
 */
export const openAccount = async (stage: Stage) => {
  const clients = awsClients(awsConfig(stage));
  const sts = clients.sts;
  const region = await sts.config.region();
  const { Account: account } = await sts
    .send(new GetCallerIdentityCommand())
    .catch((cause: unknown) => {
      if (!stage.isEmulated) throw cause;
      const start = 'to start a shell with the emulator: .ci/with-ministack bash';
      throw new Error(`${messageOf(cause)}; ${start}`, { cause });
    });
  if (!account) throw notOfAws('STS GetCallerIdentity');
  const expected = stage.env?.account;
  if (expected !== undefined && expected !== account)
    throw new Error(
      `The credentials belong to the account ${account}, and the stage to ${expected}`,
    );
  return { clients, account, region };
};

export type OpenedAccount = Awaited<ReturnType<typeof openAccount>>;

/**
 * The error of a response with status 200 that lacks what AWS always sends, such as the web page of a proxy.
 */
export const notOfAws = (call: string) =>
  new Error(`${call}: the response is not one of AWS, but perhaps of a proxy: see HTTPS_PROXY`);
