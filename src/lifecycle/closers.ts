// What was opened, each with what closes it.

export class Closers {
  readonly #closers: (() => Promise<unknown>)[] = [];
  #isClosing = false;

  /** Once the others are being closed, it is closed at once: nobody needs what is opened then. */
  push(close: () => Promise<unknown>): void {
    if (this.#isClosing) void close().catch(() => {});
    else this.#closers.push(close);
  }

  /** Closes all in the opposite order. Then rejects with the first failure. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const failures: unknown[] = [];
    for (const close of this.#closers.toReversed())
      await close().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}
