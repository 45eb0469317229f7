import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { localCredentials, localRegion } from '../../infra/local/local-account.ts';
import { startLocalService } from '../../infra/local/local-service.ts';
import { KeyAdministration } from '../../lib/keys/key-administration.ts';
import { guessedKey } from '../support/guessed-key.ts';

const rounds = 1_500;
const keysPerSample = 20;

/** A kind of wrong key, made for one of two valid keys, and what its samples took, in µs a key. */
interface Guesses {
  readonly guess: (own: string, other: string) => string;
  readonly times: number[];
}

const guesses = (guess: Guesses['guess']): Guesses => ({ guess, times: [] });
const right = (characters: number) => guesses((own) => guessedKey(own, characters));
const foreign = (characters: number) => guesses((own, other) => guessedKey(own, characters, other));

/**
 * Prints how long it takes to refuse a key of which a part of the secret is right, and one that has the same part of
 * another key's secret instead: the same texts stand on both sides, so the processor learns both equally well. Two
 * rows tell what the others are worth. With nothing right there is noise alone. A mistyped key is spared work on
 * purpose, its checksum tells: this difference must be seen.
 */
const run = async () => {
  const service = await startLocalService();
  try {
    const keysTable = service.tables['KEYS_TABLE']?.TableName ?? '';
    Object.assign(process.env, {
      AWS_REGION: localRegion,
      AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: service.dynamodbEndpoint,
      KEYS_TABLE: keysTable,
      API_KEY_PREFIX: 'pets_test',
    });
    const { dynamodb } = await import('../../lib/aws/dynamodb.ts');
    const { authenticate } = await import('../../lib/keys/authenticate.ts');
    const documents = DynamoDBDocumentClient.from(dynamodb);
    const administration = new KeyAdministration(documents, keysTable);
    const { apiKey: one } = await administration.issue('pets_test', 'one');
    const { apiKey: two } = await administration.issue('pets_test', 'two');
    const { signal } = new AbortController();
    for (const apiKey of [one, two]) {
      if (!(await authenticate(apiKey, signal))) throw new Error('A valid key was refused');
    }

    const sample = async ({ guess, times }: Guesses) => {
      const keys = Array.from({ length: keysPerSample }, (_, number) => {
        const key = number % 2 === 0 ? guess(one, two) : guess(two, one);
        // A flat string, like one that comes from the network.
        return Buffer.from(key).toString('latin1');
      });
      const start = performance.now();
      for (const key of keys) {
        if (await authenticate(key, signal)) throw new Error('A wrong key was let in');
      }
      times.push(((performance.now() - start) * 1_000) / keysPerSample);
    };

    const nothing = foreign(0);
    const comparisons = [
      ['nothing', right(0), nothing],
      ['half of the secret', right(32), foreign(32)],
      ['all but the last character', right(63), foreign(63)],
      ['(mistyped)', guesses((own) => `${guessedKey(own, 0).slice(0, -8)}00000000`), nothing],
    ] as const;
    const all = [...new Set(comparisons.flatMap(([, ...compared]) => compared))];
    for (let round = 0; round < rounds; round += 1) {
      // In another order each time, so that what else the machine does meets all alike.
      for (const next of shuffled(all)) await sample(next);
    }
    console.log('Time to refuse a key, by what is right of its secret; |z| < 3 is noise');
    console.table(
      Object.fromEntries(
        comparisons.map(([name, examined, reference]) => [
          name,
          comparison(examined.times, reference.times),
        ]),
      ),
    );
  } finally {
    await service.stop();
  }
};

const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((before, after) => before.place - after.place)
    .map(({ item }) => item);

/** The rank test of Mann and Whitney, which outliers don't impress: z is its deviation from chance, in σ. */
const comparison = (times: readonly number[], reference: readonly number[]) => {
  const pairs = times.length * reference.length;
  const slower = pairsInOrder(reference, times) / pairs;
  const deviation = Math.sqrt((times.length + reference.length + 1) / (12 * pairs));
  return {
    'right, µs': median(times).toFixed(2),
    'foreign, µs': median(reference).toFixed(2),
    ratio: (median(times) / median(reference)).toFixed(3),
    'slower in': `${(slower * 100).toFixed(1)} %`,
    z: ((slower - 0.5) / deviation).toFixed(1),
  };
};

const median = (values: readonly number[]) =>
  values.toSorted((before, after) => before - after)[values.length >> 1] ?? Number.NaN;

/** In how many pairs the first is the smaller one; a tie counts half. */
const pairsInOrder = (firsts: readonly number[], seconds: readonly number[]) => {
  let count = 0;
  for (const first of firsts) {
    for (const second of seconds) count += first < second ? 1 : first === second ? 0.5 : 0;
  }
  return count;
};

await run();
