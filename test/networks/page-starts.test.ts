// What a card network with a page of its own is told of a payment, from the records of the payment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostedPayment, Networks } from '../../src/networks/network.ts';
import { startPage } from '../../src/networks/page-starts.ts';
import type { InternalRequest } from '../../src/shard/protocol.ts';

type Records = Readonly<Record<string, object>>;

/** What the network is told of the charge `ch_1`. */
async function toldOf(records: Records): Promise<HostedPayment> {
  const told: HostedPayment[] = [];
  const start = (payment: HostedPayment) => {
    told.push(payment);
    return { url: 'https://network.example/pay', fields: null };
  };
  const networks = {
    of: () => ({ card: { startPage: start }, cash: null }),
    callbackPath: () => '/networks/http/org_1/live',
  } as unknown as Networks;
  const ask = async (request: InternalRequest) => {
    assert.equal(request.kind, 'record');
    return { ok: true, body: JSON.stringify(records[request.id]) } as const;
  };
  const request = {
    kind: 'start_page',
    id: 'ch_1',
    language: 'fr',
    paidUrl: 'https://pay.test/paid',
    unpaidUrl: 'https://pay.test/unpaid',
  } as const;
  await startPage(request, { networks, ask, baseUrl: 'https://pay.test' });
  return told[0]!;
}

const charge = {
  org: 'org_1',
  livemode: true,
  status: 'pending',
  amount: 25_000,
  currency: 'mad',
  payment_intent: 'pi_1',
  expires_at_ms: 2_000,
};
const intent = { customer: null, checkout_session: null, description: 'Order 7' };
const session = { expires_at_ms: 1_000, description: 'Two books' };

test('the page of a charge that is over is not started', async () => {
  for (const status of ['succeeded', 'failed'])
    await assert.rejects(
      toldOf({ ch_1: { ...charge, status }, pi_1: intent }),
      new Error(`a charge that ${status} can't be paid`),
    );
});

test('a payment without a session: its own description, and the end of its charge', async () => {
  const { description, expiresAtMs, callbackUrl } = await toldOf({ ch_1: charge, pi_1: intent });
  assert.deepEqual([description, expiresAtMs], ['Order 7', 2_000]);
  assert.equal(callbackUrl, 'https://pay.test/networks/http/org_1/live');
});

test("a session's page says what it is for, or what its payment is for, and ends with the session", async () => {
  for (const [own, ofPayment, told] of [
    ['Two books', null, 'Two books'],
    ['Two books', 'Order 7', 'Two books'],
    [null, 'Order 7', 'Order 7'],
    [null, null, null],
  ] as const) {
    const { description, expiresAtMs } = await toldOf({
      ch_1: charge,
      pi_1: { ...intent, checkout_session: 'cs_1', description: ofPayment },
      cs_1: { ...session, description: own },
    });
    assert.deepEqual([description, expiresAtMs], [told, 1_000]);
  }
});

test('the network is told whose payment it is, where that is known', async () => {
  for (const [customer, told] of [
    [null, { name: null, email: null }],
    [
      { name: 'Amina', email: 'amina@souk.ma' },
      { name: 'Amina', email: 'amina@souk.ma' },
    ],
    [
      { name: null, email: 'amina@souk.ma' },
      { name: null, email: 'amina@souk.ma' },
    ],
  ]) {
    const of = customer && { cus_1: customer };
    const payment = await toldOf({ ch_1: charge, pi_1: { ...intent, customer: of && 'cus_1' }, ...of });
    assert.deepEqual(payment.customer, told);
  }
});
