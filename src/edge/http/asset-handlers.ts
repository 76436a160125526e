// Serves the files that pages load (html/assets.ts) from memory, to be kept for good.

import { type Asset, addressOf } from '../../html/assets.ts';
import { type Exchange, headerLines } from './exchange.ts';

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
