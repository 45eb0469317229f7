import { readFile } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Certificate, makeCertificate } from '../bench/certificate.ts';
import {
  bearer,
  captureLog,
  createRequest,
  fromBundles,
  getRequest,
  invoke,
  startHandlers,
} from '../support/handlers.ts';
import { connectionFaults, TlsFront } from '../support/tls-front.ts';

let certificate: Certificate;
let front: TlsFront;
let service: Awaited<ReturnType<typeof startHandlers>>;
let apiKey: string;

beforeAll(async () => {
  certificate = await makeCertificate(['localhost']);
  setDefaultCACertificates([...getCACertificates(), await readFile(certificate.file, 'utf8')]);
  front = new TlsFront(certificate);
  service = await startHandlers(async () => {
    const plain = `${process.env['AWS_ENDPOINT_URL_DYNAMODB']}`;
    process.env['AWS_ENDPOINT_URL_DYNAMODB'] = await front.listen(plain);
    return fromBundles();
  });
  apiKey = await service.issueApiKey();
});

afterEach(() => {
  front.reset();
  vi.restoreAllMocks();
});

afterAll(() => certificate[Symbol.asyncDispose]());

/** Requests that run side by side, each on a connection of its own. */
const requests = [
  { success: 200, run: () => invoke(service.listPets, { headers: bearer(apiKey) }) },
  { success: 201, run: () => invoke(service.createPet, createRequest(apiKey)) },
  { success: 404, run: () => invoke(service.getPet, getRequest(apiKey, 1)) },
  {
    success: 200,
    run: async () => invoke(service.listPets, { headers: bearer(await service.issueApiKey()) }),
  },
];
const successes = requests.map(({ success }) => success);

const statuses = async () =>
  (await Promise.all(requests.map(({ run }) => run()))).map(({ status }) => status);

describe.each(Object.entries(connectionFaults))('a connection that fails: %s', (_name, fault) => {
  it('is made again, and ends in 503 when the fault lasts', async () => {
    captureLog();
    for (const { success, run } of requests) {
      front.inject(fault, 1);
      expect((await run()).status).toBe(success);
      expect(front.remaining).toBe(0);
    }
    front.inject(fault);
    expect(await statuses()).toEqual(requests.map(() => 503));
    front.reset();
    expect(await statuses()).toEqual(successes);
  });
});
