// What axe finds on a page in real Chromium. The script comes with each page of a context, and a look is one question: its
// answer has what is wrong, and not all that is right.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** For `addInitScript`. The policy of the pages forbids added scripts, and lets the debugger run some. */
export const axe = {
  content: readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
};

interface Look {
  readonly faults: readonly string[];
  /** By how many pixels the page is wider than the screen. */
  readonly overflow: number;
  /** That the page says it is in. */
  readonly language: string;
}

/** No rule that runs needs the style sheets as text, which axe would read again for each look. */
export function lookAt(page: Page): Promise<Look> {
  return page.evaluate<Look>(
    `axe.run({ resultTypes: ["violations"], preload: { assets: ["media"] } }).then(({ violations }) => {
      const { scrollWidth, clientWidth, lang } = document.documentElement;
      const faults = violations.map(({ id, impact, nodes }) => impact + " " + id + ": " + nodes[0].html);
      return { faults, overflow: scrollWidth - clientWidth, language: lang };
    })`,
  );
}
