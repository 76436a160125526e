import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { qrCode } from '../../src/html/qr-code.ts';

test('a cash code becomes the QR code that a reader once read back as its digits', () => {
  const { markup } = qrCode('014509844354', 'x');
  // Decoded with an independent reader when this digest was taken.
  const read = '31bc8c38339895dd09ae7e693eaa95d5677407de9f3c521f2c3891c82f1a0a9c';
  assert.equal(createHash('sha256').update(markup).digest('hex'), read);
});

test('the label is escaped, and the code has its quiet zone', () => {
  const { markup } = qrCode('000000000000', '"<b>');
  assert.match(markup, /aria-label="&quot;&lt;b&gt;" viewBox="0 0 29 29"/);
  const places = [...markup.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].flatMap(([, x, y]) => [Number(x), Number(y)]);
  assert.deepEqual([Math.min(...places), Math.max(...places)], [4, 24]);
});
