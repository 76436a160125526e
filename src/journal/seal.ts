// A seal: a value's CRC-32 (u32, little-endian) before the value. Whatever is stored and can't be told from its damage
// otherwise goes sealed: the checkpoint's rows, and the directory's.

import { crc32 } from 'node:zlib';

const sealBytes = 4;

export function seal(content: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(sealBytes + content.length);
  bytes.writeUInt32LE(crc32(content), 0);
  bytes.set(content, sealBytes);
  return bytes;
}

/** The value, a view; null when it is not as it was sealed. */
export function unseal(bytes: Buffer): Buffer | null {
  if (bytes.length <= sealBytes) return null;
  const content = bytes.subarray(sealBytes);
  return bytes.readUInt32LE(0) === crc32(content) ? content : null;
}
