// What is the same for everybody. A text of the service, such as a page of the documentation, is
// compressed for clients that take gzip: once, when the first of them asks. The files that pages
// load are kept for good. Nothing secret may be in either.

import { gzipSync } from 'node:zlib';
import { type Asset, addressOf } from '../../html/assets.ts';
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

/** The headers of what never changes at its address. */
export function keptHeaders(type: string): string {
  return headerLines(
    ['Content-Type', type],
    ['Cache-Control', 'public, max-age=31536000, immutable'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Cross-Origin-Resource-Policy', 'same-origin'],
  );
}

/** The answer to a GET of each asset, by its path. */
export function assetHandlers(assets: readonly Asset[]): Record<string, (exchange: Exchange) => void> {
  return Object.fromEntries(
    assets.map((asset) => {
      const headers = keptHeaders(asset.type);
      return [addressOf(asset), (exchange: Exchange) => exchange.answer(200, headers, asset.text)];
    }),
  );
}
