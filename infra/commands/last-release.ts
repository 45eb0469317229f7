import { fail } from '../message-of.ts';
import { releaseInProd } from './deploy/releases.ts';

try {
  const release = releaseInProd();
  if (release) console.log(`${release.run} ${release.commit}`);
} catch (error) {
  fail(error);
}
