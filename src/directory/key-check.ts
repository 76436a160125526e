// The row of the directory with a value that is sealed with the secrets key, to recognize that key:
// by whoever starts on the directory, and by a node that stands by.

import { unpack } from 'msgpackr';

export const keyCheckRow = 'secrets-key';

export function keyCheckValueIn(row: Uint8Array): string {
  return unpack(row) as string;
}
