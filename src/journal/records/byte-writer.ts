// Writes bytes one after the other into a buffer that grows and is reused.

import { pieceSize } from '../../core/piece-size.ts';

const firstBytes = pieceSize(64 * 1024);
/** A buffer that grew beyond this is not used again. */
const reusedBytesMax = pieceSize(4 * 1024 * 1024);

export class ByteWriter {
  #buffer = Buffer.allocUnsafeSlow(firstBytes);
  #length = 0;

  /** The number of bytes written, which is the position of the next one. */
  get length(): number {
    return this.#length;
  }

  /** The buffer that it writes to. The next `skip` or `text` may replace it. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > reusedBytesMax) this.#buffer = Buffer.allocUnsafeSlow(firstBytes);
  }

  /** Counts so many bytes as written, for the caller to write; returns where they begin. */
  skip(bytes: number): number {
    const start = this.#length;
    this.#reserve(bytes);
    this.#length += bytes;
    return start;
  }

  /** Writes a text as UTF-8; returns how many bytes that took. */
  text(text: string): number {
    // A call that writes nothing costs as much as one that writes.
    if (text === '') return 0;
    this.#reserve(3 * text.length);
    const bytes = this.#buffer.write(text, this.#length);
    this.#length += bytes;
    return bytes;
  }

  #reserve(bytes: number): void {
    const end = this.#length + bytes;
    if (end <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#buffer.length, end));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  /** A copy of the written bytes, without the spare room of the buffer. */
  copy(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#length);
    this.#buffer.copy(bytes, 0, 0, this.#length);
    return bytes;
  }
}
