// Stands in for `shard/fingerprint.ts`: each digest has one word of chance, and of the others of those that an index compares a single
// bit. So whoever looks for a digest comes upon many that differ from it in one word only.

import {
  digestKey as digestKeyInService,
  digestRequest as digestRequestInService,
} from '../../../src/shard/fingerprint.ts';

type Digest = ReturnType<typeof digestKeyInService>;

/** Of a key three words are compared, and of a request two. */
export function digestKey(...key: Parameters<typeof digestKeyInService>): Digest {
  return withOneWord(digestKeyInService(...key), 3);
}

export function digestRequest(...request: Parameters<typeof digestRequestInService>): Digest {
  return withOneWord(digestRequestInService(...request), 2);
}

function withOneWord(digest: Digest, words: number): Digest {
  const whole = digest.at(-1)! % words;
  for (let word = 0; word < words; word++)
    if (word !== whole) digest.set([digest[4 * word]! & 1, 0, 0, 0], 4 * word);
  return digest;
}
