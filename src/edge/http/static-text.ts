// A text of the service's own that is the same for everybody, such as a page of the documentation.
// Clients that take gzip get it compressed: that is done once, when the first of them asks. Nothing
// secret may be in it.

import { gzipSync } from 'node:zlib';
import { type Exchange, headerLines } from './exchange.ts';
import type { RequestHead } from './request-head.ts';

const gzip = headerLines(['Content-Encoding', 'gzip']);
/** Caches on the way keep both forms apart. */
const varies = headerLines(['Vary', 'Accept-Encoding']);

/** Whether an `Accept-Encoding` names gzip and does not exclude it with a quality of 0. */
export function takesGzip(acceptEncoding: string): boolean {
  return /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i.test(acceptEncoding);
}

export class StaticText {
  readonly #text: string;
  #zipped: Buffer | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /** Answers with the text. `headers` are as `headerLines` returns them. */
  answer(exchange: Exchange, { acceptEncoding }: RequestHead, status: number, headers: string): void {
    if (!takesGzip(acceptEncoding)) {
      exchange.answer(status, headers + varies, this.#text);
      return;
    }
    this.#zipped ??= gzipSync(this.#text);
    exchange.answer(status, headers + varies + gzip, this.#zipped);
  }
}
