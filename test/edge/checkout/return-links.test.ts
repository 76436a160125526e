// The links back to the merchant: an address with a placeholder for the session's id gets the id there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownPayment } from '../../../src/edge/checkout/page-port.ts';
import { afterGivingUp, afterPayment } from '../../../src/edge/checkout/return-links.ts';

function shown(success_url: string, cancel_url: string | null): ShownPayment {
  return { session: { id: 'cs_1', success_url, cancel_url }, intent: { return_url: null } } as ShownPayment;
}

const baseUrl = 'https://pay.example/api';

test("the session's id takes its place in both addresses, wherever it stands", () => {
  const place = 'https://shop.example/{CHECKOUT_SESSION_ID}?s={CHECKOUT_SESSION_ID}#{CHECKOUT_SESSION_ID}';
  const filled = 'https://shop.example/cs_1?s=cs_1#cs_1';
  assert.equal(afterPayment(shown(place, null), baseUrl), filled);
  assert.equal(afterGivingUp(shown('https://shop.example/', place)), filled);
});

test('without an address to give up to there is no way back', () => {
  assert.equal(afterGivingUp(shown('https://shop.example/', null)), null);
});

test('the page where the customer pays is no address to return to', () => {
  const own = '/checkout/{CHECKOUT_SESSION_ID}';
  assert.equal(afterPayment(shown(`https://pay.example/api${own}`, null), baseUrl), null);
  assert.equal(
    afterPayment(shown(`https://shop.example${own}`, null), baseUrl),
    'https://shop.example/checkout/cs_1',
  );
});
