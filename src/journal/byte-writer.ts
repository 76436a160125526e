// Bytes that are written one after the other into a buffer that grows, and that is used again for what comes next.

const firstBytes = 64 * 1024;
/** A buffer that grew beyond this is not used again. */
const reusedBytesMax = 4 * 1024 * 1024;

export class ByteWriter {
  #buffer = Buffer.allocUnsafeSlow(firstBytes);
  #length = 0;

  /** How much was written: where the next byte goes. */
  get length(): number {
    return this.#length;
  }

  /** What it writes into; another one after the next `skip` or `text`. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  /** Begins anew, whatever was written. */
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
    // A call to write nothing costs as much as one that writes.
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

  /** A copy of all that was written, which takes no more memory than that. */
  copy(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#length);
    this.#buffer.copy(bytes, 0, 0, this.#length);
    return bytes;
  }
}
