// A seal: a value's CRC-32 (u32, little-endian) before the value. Whatever is stored and can't be told from its damage
// otherwise goes sealed: records in the log, the checkpoint's rows, and the directory's.

import { crc32 } from 'node:zlib';

export const sealBytes = 4;

export function seal(content: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(sealBytes + content.length);
  writeSealed(content, bytes, 0);
  return bytes;
}

/** Writes a value sealed into `bytes`, from `at` on, and returns where it ends. */
export function writeSealed(content: Uint8Array, bytes: Buffer, at: number): number {
  bytes.writeUInt32LE(crc32(content), at);
  bytes.set(content, at + sealBytes);
  return at + sealBytes + content.length;
}

/** The value, a view; null when it is not as it was sealed. */
export function unseal(bytes: Buffer): Buffer | null {
  if (bytes.length <= sealBytes) return null;
  const content = bytes.subarray(sealBytes);
  return bytes.readUInt32LE(0) === crc32(content) ? content : null;
}
