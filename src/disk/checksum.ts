// A stored value with its checksum (CRC-32: u32, little-endian) before it, by which damage is
// noticed: rows of the checkpoint and of the directory have one.

import { crc32 } from 'node:zlib';

export const checksumBytes = 4;

export function withChecksum(content: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(checksumBytes + content.length);
  bytes.writeUInt32LE(crc32(content), 0);
  bytes.set(content, checksumBytes);
  return bytes;
}

/** The value as a view of `bytes`; null when it does not match its checksum. */
export function verifyChecksum(bytes: Buffer): Buffer | null {
  if (bytes.length <= checksumBytes) return null;
  const content = bytes.subarray(checksumBytes);
  return bytes.readUInt32LE(0) === crc32(content) ? content : null;
}
