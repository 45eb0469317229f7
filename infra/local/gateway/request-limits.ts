import type { IncomingMessage } from 'node:http';
import type { GatewayReply } from './proxy-reply.ts';

/**
 * API Gateway's limit of the request line and the headers together, in bytes.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
export const maxHeaderBytes = 10_240;
/** API Gateway's limit of a body, in bytes, from the same page. */
const maxBodyBytes = 10_485_760;

/**
 * Returns the response of AWS itself to a request above a limit. It is plain text,
 * which no template can change.
 */
const plainText = (status: number, body: string): GatewayReply => ({
  status,
  headers: [['Content-Type', 'text; charset=utf-8']],
  body,
});
/**
 * The response to headers over the limit. The status and the type are unverified
 * (`headers-over-10240-bytes`). The source of the text is
 * https://ntsblog.homedev.com.au/index.php/2021/03/09/aws-api-gateway-http-header-is-larger-than-10240-bytes/
 */
export const headersTooLong = plainText(431, 'HTTP header is larger than 10240 bytes.');
/** The response to a body over the limit, as koki-develop/lgtm-generator#10 shows it. */
export const bodyTooLong = plainText(413, 'HTTP content length exceeded 10485760 bytes.');

/** Reads the body of a request. Returns undefined when it is too long, and discards what is still to come. */
export const readBody = async (message: IncomingMessage): Promise<string | undefined> => {
  if (Number(message.headers['content-length']) > maxBodyBytes) {
    message.resume();
    return undefined;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) {
      message.resume();
      return undefined;
    }
    chunks.push(chunk);
  }
  return `${Buffer.concat(chunks)}`;
};
