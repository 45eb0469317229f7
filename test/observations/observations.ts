import type { RawRequest } from './raw-request.ts';

const json = ['Content-Type', 'application/json'] as const;
const newPet = '{"name":"Rex","categoryId":1}';

/**
 * What `unrouted` of the rehearsal does on paths of its own, so that its faults can be observed. This code
 * can use `event` and `response`.
 */
export const faultyReplies = `
  if (event.path === '/observe-null') return null;
  if (event.path === '/observe-malformed') return { statusCode: 'none' };
  if (event.path === '/observe-time-out') await new Promise((resolve) => setTimeout(resolve, 60_000));
  if (event.path === '/observe-forwarded-for') {
    const isFirst = event.headers['X-Forwarded-For']?.startsWith('192.0.2.1');
    return { ...response, body: JSON.stringify({ code: isFirst ? 'kept' : 'replaced' }) };
  }`;

/**
 * What no source tells about AWS, by the names in test/README.md, and a request that shows it. Tests don't
 * assert the responses.
 */
export const observationsWith = (apiKey: string): Readonly<Record<string, RawRequest>> => {
  const key = ['Authorization', `Bearer ${apiKey}`] as const;
  const creation = { method: 'POST', path: '/pets', body: newPet } as const;
  const pets = { path: '/pets?limit=1', headers: [key] } as const;
  return {
    'authorization-empty': { path: '/pets', headers: [['Authorization', '']] },
    'authorization-blank': { path: '/pets', headers: [['Authorization', '   ']] },
    'authorization-repeated': { path: '/pets', headers: [key, ['Authorization', 'Bearer x']] },
    'idempotency-key-empty': { ...creation, headers: [key, json, ['Idempotency-Key', '']] },
    'idempotency-key-accented': { ...creation, headers: [key, json, ['Idempotency-Key', 'clé']] },
    'host-missing': { ...pets, withoutHost: true },
    'path-nul': { path: '/pets/%00', headers: [key] },
    'path-dots': { path: '/pets/%2e%2e', headers: [key] },
    'path-not-utf-8': { path: '/pets/%ff', headers: [key] },
    'path-percent': { path: '/pets/%zz', headers: [key] },
    'query-semicolon': { path: '/pets?limit=1;status=sold', headers: [key] },
    'query-without-equals': { path: '/pets?limit', headers: [key] },
    'body-not-utf-8': { ...creation, body: '{"name":"\xff","categoryId":1}', headers: [key, json] },
    'method-trace': { ...pets, method: 'TRACE' },
    'method-purge': { ...pets, method: 'PURGE' },
    'headers-over-10240-bytes': { ...pets, headers: [key, ['X-Long', 'x'.repeat(10_240)]] },
    'event-over-6-mb': { ...creation, body: 'x'.repeat(7_000_000), headers: [key, json] },
    'content-type-unsupported': { ...creation, headers: [key, ['Content-Type', 'text/plain']] },
    'root-without-slash': { path: '', headers: [key] },
    // This stage is called v1-unknown.
    'stage-unknown': { path: '-unknown/pets' },
    'reply-null': { path: '/observe-null' },
    'reply-malformed': { path: '/observe-malformed' },
    'reply-time-out': { path: '/observe-time-out' },
    'headers-of-204': { method: 'OPTIONS', path: '/pets' },
    'headers-of-head': { ...pets, method: 'HEAD' },
    'forwarded-for-of-a-client': {
      path: '/observe-forwarded-for',
      headers: [['X-Forwarded-For', '192.0.2.1']],
    },
    'firewall-413': { ...creation, body: ' '.repeat(9_000), headers: [key, json] },
  };
};

/** What no source tells about deployments, by the names in test/README.md. */
export type DeploymentObservations = Readonly<
  Record<(typeof deploymentObservations)[number], boolean>
>;
export const deploymentObservations = [
  'way-back-publishes-a-version',
  'rollback-runs-the-hook',
] as const;
