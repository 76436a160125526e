// Files of our own that pages load: scripts and style sheets. The address of a file contains a
// digest of its content, so browsers keep it for good, and a changed file has another address. The
// edge serves them (edge/http/static-text.ts).

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Asset {
  /** With its ending: `card-form.js`. */
  readonly name: string;
  /** The value of its `Content-Type`. */
  readonly type: string;
  readonly text: string;
}

/** A script of `html/scripts`, which runs in the browser. */
export function scriptAsset(name: string): Asset {
  const text = readFileSync(new URL(`scripts/${name}`, import.meta.url), 'utf8');
  return { name, type: 'text/javascript; charset=utf-8', text };
}

/** The path of an asset, such as `/assets/card-form.3f9a0c1b2d4e5f60.js`. */
export function addressOf({ name, text }: Asset): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `/assets/${name.replace(/(?=\.\w+$)/, `.${digest}`)}`;
}

/** Shows the buttons that need a script, and makes them work. */
export const buttonsScript = scriptAsset('buttons.js');
/** Helps to type a card. */
export const cardFormScript = scriptAsset('card-form.js');
/** Loads a page again when its payment has gone on. */
export const watchScript = scriptAsset('watch.js');

export const pageAssets = [buttonsScript, cardFormScript, watchScript];
