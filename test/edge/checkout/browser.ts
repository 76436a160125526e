// Real Chromium for the tests of the pages.

import { createRequire } from 'node:module';
import { type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { chromiumMissing, findChromium } from './chromium.ts';

/** By an import, Node would first read all of its seven megabytes for what it exports. */
const playwright: typeof import('playwright-core') = createRequire(import.meta.url)('playwright-core');

const missing = chromiumMissing();
if (missing) test('the pages in real Chromium', { skip: missing }, () => {});

/** A test that drives Chromium; where there is none, one line a file says so instead. */
export const browserTest: (title: string, run: (context: TestContext) => Promise<void>) => void = missing
  ? () => {}
  : test;

/** Null where there is no Chromium: then no `browserTest` runs either. */
export async function launchBrowser(): Promise<Browser | null> {
  if (missing) return null;
  const { executablePath, env } = await findChromium();
  return playwright.chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
