// Stands in for `node:crypto` in the sources: the same functions, with chance from the run's seed.

import { theMachine } from './machine.ts';

export * from 'node:crypto';

export function randomFillSync<T extends Uint8Array>(bytes: T): T {
  const { random, numbers } = theMachine();
  // How many single numbers are drawn follows from how large tables are.
  (bytes.byteLength === 4 ? numbers : random).fill(bytes);
  return bytes;
}

export function randomBytes(length: number): Buffer {
  return randomFillSync(Buffer.alloc(length));
}
