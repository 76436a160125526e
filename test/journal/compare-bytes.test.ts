import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareBytes } from '../../src/journal/records/compare-bytes.ts';

test('pieces of two buffers have the order that Node gives them', () => {
  // Few different bytes, so that many pieces begin alike.
  const piece = fc.uint8Array({ maxLength: 6, max: 2 });
  fc.assert(
    fc.property(piece, piece, piece, (before, a, b) => {
      const [aBuffer, bBuffer] = [Buffer.concat([before, a, before]), Buffer.concat([b, before])];
      const order = compareBytes(aBuffer, before.length, a.length, bBuffer, 0, b.length);
      assert.equal(Math.sign(order), Buffer.compare(a, b));
    }),
  );
});
