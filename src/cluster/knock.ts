// What comes before TLS on a connection between nodes: both sides show that they have the key of
// the links. TLS verifies all certificates that a stranger sends before it judges them, which can
// take the thread most of a second. So nobody gets there without the key. Who is a node is for TLS
// to find out: nothing binds the connection to what is shown here.
//
//   the node that listens: 32 random bytes
//   the one that connects: 32 random bytes · digest
//   the one that listens:  digest
//
// A digest is HMAC-SHA256, with the key, of the name of its side and of all random bytes.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

const randomLength = 32;
const digestLength = 32;

/** Of the node that connects. Rejects when the other one does not show that it has the key. */
export async function knock(socket: Socket, key: Uint8Array): Promise<void> {
  const there = await read(socket, randomLength);
  const here = randomBytes(randomLength);
  socket.write(Buffer.concat([here, digestOf(key, 'dialed', there, here)]));
  const shown = await read(socket, digestLength);
  if (!timingSafeEqual(shown, digestOf(key, 'listened', there, here))) throw new OtherKey();
}

/** Of the node that listens. Rejects like `knock`. */
export async function answerKnock(socket: Socket, key: Uint8Array): Promise<void> {
  const here = randomBytes(randomLength);
  socket.write(here);
  const answer = await read(socket, randomLength + digestLength);
  const there = answer.subarray(0, randomLength);
  const shown = answer.subarray(randomLength);
  if (!timingSafeEqual(shown, digestOf(key, 'dialed', here, there))) throw new OtherKey();
  socket.write(digestOf(key, 'listened', here, there));
}

/** The other side has another key, or none. */
export class OtherKey extends Error {
  override message = 'it does not have the key of the links';
}

function digestOf(key: Uint8Array, side: 'dialed' | 'listened', ...random: readonly Buffer[]): Buffer {
  return createHmac('sha256', key)
    .update(Buffer.concat([Buffer.from(side), ...random]))
    .digest();
}

/** The next so many bytes. Rejects when the connection ends before. */
async function read(socket: Socket, bytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const end = () => reject(new Error('the connection ended before it showed the key of the links'));
  const take = () => {
    const found: Buffer | null = socket.read(bytes);
    if (found?.length === bytes) resolve(found);
    // What came last is shorter.
    else if (found !== null) end();
  };
  socket.on('readable', take).once('end', end).once('close', end);
  try {
    return await promise;
  } finally {
    socket.off('readable', take).off('end', end).off('close', end);
  }
}
