// Where the page tests look for Chromium, and their message when there is none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromiumMissing, findChromium } from './chromium.ts';

test('a platform whose packages bring no Chromium needs one that is named or installed', () => {
  assert.match(
    String(chromiumMissing('bundled', 'linux-arm64')),
    /^left out: [^\n]*linux-arm64[^\n]*CHROMIUM_PATH/,
  );
  assert.equal(chromiumMissing('/somewhere/chromium', 'linux-arm64'), false);
  assert.equal(chromiumMissing('bundled', 'linux-x64'), false);
});

test('a path to nothing is refused, not passed over', async () => {
  await assert.rejects(
    findChromium('/somewhere/chromium'),
    /CHROMIUM_PATH names \/somewhere\/chromium, which does not exist/,
  );
});
