import { fail } from '../message-of.ts';
import { lastRelease } from './deploy/releases.ts';

try {
  const release = lastRelease();
  if (release) console.log(`${release.run} ${release.commit}`);
} catch (error) {
  fail(error);
}
