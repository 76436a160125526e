// Packs texts of letters, digits and `_` with six bits for each character, in the order of ASCII,
// so that the order of the bytes is the order of the texts. Ids are written like that, in the log
// and in the keys of the checkpoint.

import { ByteWriter } from './byte-writer.ts';

/** The characters in the order of their codes, which begin with 1: the code 0 ends a text. */
export const packedAlphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const codes = new Uint8Array(256);
/** The characters as ASCII, by their codes. */
const characters = new Uint8Array(64);
for (let i = 0; i < packedAlphabet.length; i++) {
  codes[packedAlphabet.charCodeAt(i)] = i + 1;
  characters[i + 1] = packedAlphabet.charCodeAt(i);
}

export function packedBytes(text: string): number {
  return Math.ceil((text.length * 6) / 8);
}

/** Packs a text behind `offset` bytes for the caller to fill. Null: it has other characters. */
export function packText(text: string, offset = 0): Buffer | null {
  const bytes = Buffer.allocUnsafe(offset + packedBytes(text));
  return writePacked(text, bytes, offset) ? bytes : null;
}

/**
 * Writes a text into `bytes` at `at`; false when it can't be packed. Of an id whose prefix ends at
 * `prefixEnd`, what comes after the `_` is written first, then the `_`, and the prefix last.
 */
export function writePacked(text: string, bytes: Uint8Array, at: number, prefixEnd = -1): boolean {
  const { length } = text;
  const body = length - prefixEnd - 1;
  let bits = 0;
  let held = 0;
  let end = at;
  for (let i = 0; i < length; i++) {
    const from = i < body ? prefixEnd + 1 + i : i === body ? prefixEnd : i - body - 1;
    const code = codes[text.charCodeAt(from)];
    if (!code) return false;
    bits = (bits << 6) | code;
    held += 6;
    if (held === 24) {
      bytes[end] = bits >> 16;
      bytes[end + 1] = bits >> 8;
      bytes[end + 2] = bits;
      end += 3;
      held = 0;
    }
  }
  for (; held > 0; held -= 8) bytes[end++] = held >= 8 ? bits >> (held - 8) : bits << (8 - held);
  return true;
}

const unpacked = new ByteWriter();

/** The text that was packed behind `start` bytes. */
export function unpackText(bytes: Uint8Array, start = 0, end = bytes.length): string {
  unpacked.clear();
  unpacked.skip(Math.floor(((end - start) * 8) / 6));
  const { buffer } = unpacked;
  let length = 0;
  let bits = 0;
  let held = 0;
  for (let at = start; at < end; at++) {
    bits = ((bits << 8) | bytes[at]!) & 0xffff;
    for (held += 8; held >= 6; ) {
      held -= 6;
      const code = (bits >> held) & 63;
      if (code === 0) return buffer.toString('latin1', 0, length);
      buffer[length++] = characters[code]!;
    }
  }
  return buffer.toString('latin1', 0, length);
}
