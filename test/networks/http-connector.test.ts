// What the generic connector makes of an integrator's answers about its page for cards. Whatever does not follow the contract
// rejects, so that it is asked about again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signatureHeader } from '../../src/crypto/signed-message.ts';
import type { NetworkCall } from '../../src/domain/network-call.ts';
import { createHttpConnector } from '../../src/networks/http-connector.ts';
import { readReport } from '../../src/networks/http-contract.ts';
import { call, hostedPayment, startMs } from './calls.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** The network for cards of an integrator who gives this answer, at a time after the start. */
const integrator = (answer: object, afterMs = 0) => connector(answer, afterMs).card;

function connector(answer: object, afterMs = 0, status = 200) {
  return createHttpConnector({
    address: 'https://integrator.test/',
    secret: 'integrators-secret',
    now: () => startMs + afterMs,
    addressFault: (url) => (url.startsWith('https:') ? null : 'must use https'),
    async send({ body, answerBytesMax }) {
      const { id } = JSON.parse(body);
      return { status, body: JSON.stringify({ id, ...answer }).slice(0, answerBytesMax) };
    },
  });
}

const awaited: Partial<NetworkCall> = {
  action: 'await_card_payment',
  charge: 'ch_1',
  chargeEndsAtMs: startMs + 30 * minuteMs,
};
const paid = { type: 'paid', charge: 'ch_1', reference: 'T-1', amount: 5000, currency: 'mad', paid_at: 1 };
const card = { brand: 'visa', last4: '4242' };
const money = { reference: 'T-1', amount: 5000, currency: 'mad', agent: null, isHeld: false };

const outcomes: readonly (readonly [what: string, answer: object, afterMs: number, outcome: object])[] = [
  ['is open', { status: 'done', url: 'https://x' }, 0, { result: 'accepted' }],
  ['was not opened yet', { status: 'unknown' }, 0, { result: 'accepted' }],
  ['ended just now, and may have been paid', { status: 'done' }, 31 * minuteMs, { result: 'accepted' }],
  ['ended long ago', { status: 'unknown' }, dayMs + 30 * minuteMs, { result: 'failed', reason: 'not_paid' }],
  ['was given up', { status: 'refused', reason: 'closed' }, 0, { result: 'failed', reason: 'closed' }],
  [
    'was paid',
    { status: 'done', report: { ...paid, card } },
    0,
    { result: 'paid', money: { ...money, card: { ...card, exp_month: null, exp_year: null } } },
  ],
  [
    'was paid by an unknown card, long ago',
    { status: 'done', report: paid },
    2 * dayMs,
    { result: 'paid', money: { ...money, card: null } },
  ],
  [
    'was declined',
    { status: 'done', report: { type: 'declined', charge: 'ch_1', decline_code: 'lost_card' } },
    0,
    { result: 'declined', decline_code: 'lost_card' },
  ],
];
for (const [what, answer, afterMs, outcome] of outcomes) {
  test(`a page that ${what}`, async () => {
    assert.deepEqual(await integrator(answer, afterMs).lookup(call(awaited)), outcome);
  });
}

const nonsense: readonly (readonly [report: object, error: RegExp])[] = [
  [{ ...paid, charge: 'ch_2' }, /about another payment/],
  [{ ...paid, amount: '5000' }, /does not follow the contract/],
  [{ type: 'declined', charge: 'ch_1', decline_code: 'no idea' }, /does not follow the contract/],
];
for (const [report, error] of nonsense) {
  test(`a report of a page that makes no sense decides nothing: ${JSON.stringify(report)}`, async () => {
    await assert.rejects(integrator({ status: 'done', report }).lookup(call(awaited)), error);
  });
}

test('an answer with another status, or about another operation, decides nothing', async () => {
  for (const status of [201, 302, 404, 500])
    await assert.rejects(
      connector({ status: 'done' }, 0, status).card.lookup(call(awaited)),
      new RegExp(`the network answered ${status}`),
    );
  await assert.rejects(
    integrator({ id: 'call_of_another', status: 'refused' }).lookup(call(awaited)),
    /about another operation/,
  );
});

const payment = hostedPayment({
  amount: 5000,
  expiresAtMs: startMs,
  language: 'ar',
  customer: { name: null, email: null },
  callbackUrl: 'https://pay.test/networks/http/org_1/live',
});

test('customers are sent to an https page only', async () => {
  const page = (answer: object) => integrator(answer).startPage!(payment);
  const url = 'https://integrator.test/pages/1';
  assert.deepEqual(await page({ status: 'done', url }), { url, fields: null });
  await assert.rejects(async () => page({ status: 'done' }), /no address/);
  await assert.rejects(async () => page({ status: 'done', url: 'http://x/' }), /must use https/);
  await assert.rejects(async () => page({ status: 'refused', reason: 'closed' }), /closed/);
  await assert.rejects(async () => page({ status: 'unknown' }), /does not know/);
});

test('an integrator who is slow opens so many pages at a time only; when they are open, others can be', async () => {
  const answered = Promise.withResolvers<void>();
  const { startPage } = createHttpConnector({
    address: 'https://integrator.test/',
    secret: 'integrators-secret',
    now: () => startMs,
    addressFault: () => null,
    async send({ body }) {
      await answered.promise;
      const { id } = JSON.parse(body);
      return { status: 200, body: JSON.stringify({ id, status: 'done', url: 'https://x.test/' }) };
    },
  }).card;
  const begin = async () => startPage!(payment);
  const opening = Array.from({ length: 32 }, begin);
  await assert.rejects(begin, /32 pages are being opened/);
  answered.resolve();
  await Promise.all(opening);
  assert.equal((await begin()).url, 'https://x.test/');
});

test('an integrator’s reason goes on without the numbers of cards', async () => {
  const answer = { status: 'refused', reason: 'card 4242 4242 4242 4242 was declined' };
  const isMasked = (text: string) => /^card \S+ was declined$/.test(text) && !text.includes('4242 4242');
  const refund = call({ action: 'refund_charge', charge: 'ch_1' });
  for (const outcome of [
    await integrator(answer).refund(refund),
    await integrator(answer).lookup(refund),
    await integrator(answer).lookup(call(awaited)),
  ])
    assert.ok(outcome !== 'unknown' && outcome.result === 'failed' && isMasked(outcome.reason));
  const opening = Promise.resolve(integrator(answer).startPage!(payment));
  await assert.rejects(opening, ({ message }: Error) => !message.includes('4242 4242'));
});

test('a code is payable or not: that it will be some time decides nothing', async () => {
  const { cash } = connector({ status: 'pending' });
  const code = { number: '123412345678', expiresAtMs: startMs };
  const issue = call({ action: 'issue_cash_code', cash: code });
  const cancel = call({ action: 'cancel_cash_code', cash: code });
  const asked = [
    () => cash.issue(issue, code),
    () => cash.cancel(cancel, code),
    () => cash.lookup(issue),
    () => cash.lookup(cancel),
  ];
  for (const ask of asked) await assert.rejects(ask, /only a refund may be pending/);
  const { cash: willing } = connector({ status: 'done' });
  const done = [willing.issue(issue, code), willing.cancel(cancel, code), willing.lookup(issue)];
  assert.deepEqual(await Promise.all(done), Array(3).fill({ result: 'done' }));
});

test('a refund may take its time', async () => {
  const refund = call({ action: 'refund_charge', charge: 'ch_1' });
  assert.deepEqual(await integrator({ status: 'pending' }).refund(refund), { result: 'accepted' });
  assert.deepEqual(await integrator({ status: 'pending' }).lookup(refund), { result: 'accepted' });
  assert.equal(await integrator({ status: 'unknown' }).lookup(refund), 'unknown');
});

test('a report with more names than a report has is refused without a look at each', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`x${at}`, 1]));
  for (const report of [
    { ...paid, ...many },
    { ...paid, card: { ...card, ...many } },
    { type: 'declined', ...many },
  ])
    assert.equal(readReport(report), 'the body has more names than a report');
});

const cash = {
  type: 'paid',
  code: '123456789012',
  reference: 'T-1',
  amount: 5000,
  currency: 'mad',
  agent: 'Wafacash',
  paid_at: 1,
};
const declined = { type: 'declined', charge: 'ch_1', decline_code: 'lost_card' };

/** What the connector makes of a body that is posted, signed now. */
function readPosted(body: string, { key = 'integrators-secret', ageSeconds = 0 } = {}) {
  const timestampSeconds = Math.floor(startMs / 1000) - ageSeconds;
  const signature = signatureHeader({ secrets: [key], timestampSeconds, body });
  return connector({}).cash.readCallback!({ signature, body } as never);
}

for (const [what, posted, about, says] of [
  [
    'cash',
    cash,
    { cashNumber: '123456789012' },
    { result: 'paid', money: { ...money, agent: 'Wafacash', card: null } },
  ],
  [
    'a card',
    { ...paid, card },
    { charge: 'ch_1' },
    { result: 'paid', money: { ...money, card: { ...card, exp_month: null, exp_year: null } } },
  ],
  ['an unknown card', paid, { charge: 'ch_1' }, { result: 'paid', money: { ...money, card: null } }],
  [
    'more money than a payment may ask for',
    { ...paid, amount: 99_999_999_999_999 },
    { charge: 'ch_1' },
    { result: 'paid', money: { ...money, amount: 99_999_999_999_999, card: null } },
  ],
  [
    'half characters, which could not be found again as they were written',
    { ...cash, reference: 'b\ud800', agent: 'Wafacash \udc00' },
    { cashNumber: '123456789012' },
    { result: 'paid', money: { ...money, reference: 'b\ufffd', agent: 'Wafacash \ufffd', card: null } },
  ],
  [
    'cash, with the number of a card that has no place there',
    { ...cash, agent: 'Wafacash 4242 4242 4242 4242' },
    { cashNumber: '123456789012' },
    { result: 'paid', money: { ...money, agent: 'Wafacash [digits]', card: null } },
  ],
  [
    'a card, with its number',
    { ...paid, card: { ...card, brand: 'visa 4242 4242 4242 4242' } },
    { charge: 'ch_1' },
    {
      result: 'paid',
      money: { ...money, card: { ...card, brand: 'visa [digits]', exp_month: null, exp_year: null } },
    },
  ],
  [
    'a card that was declined',
    declined,
    { charge: 'ch_1' },
    { result: 'declined', decline_code: 'lost_card', mayTryAgain: false },
  ],
] as const)
  test(`a report of ${what} is read, and answered by what became of it`, () => {
    const report = readPosted(JSON.stringify(posted));
    assert.ok('says' in report, JSON.stringify(report));
    assert.deepEqual([report.about, report.says], [about, says]);
    const unknown = 'cashNumber' in about ? 'unknown_code' : 'unknown_charge';
    for (const [received, status, body] of [
      ['credited', 200, { status: 'credited', charge: 'ch_1' }],
      ['repeated', 200, { status: 'credited', charge: 'ch_1' }],
      ['review', 200, { status: 'review', charge: 'ch_1' }],
      ['declined', 200, { status: 'declined', charge: 'ch_1' }],
      ['unknown', 404, { error: unknown }],
      ['too_many', 409, { error: 'too_many' }],
      ['later', 503, { error: 'try_again' }],
    ] as const) {
      const reply = report.reply(received, 'ch_1');
      const { message, ...rest } = JSON.parse(reply.body);
      assert.deepEqual([reply.status, rest, reply.contentType], [status, body, 'application/json'], received);
      assert.equal(message === undefined, status === 200);
    }
  });

test('what is posted and is not genuine, or makes no sense, is refused', () => {
  for (const [body, options, status, error, message] of [
    [JSON.stringify(cash), { key: 'another' }, 401, 'not_genuine', /signature/],
    [JSON.stringify(cash), { ageSeconds: 301 }, 401, 'not_genuine', /300 seconds/],
    ['no JSON', {}, 400, 'invalid', /./],
    ['null', {}, 400, 'invalid', /./],
    [JSON.stringify({ ...cash, amount: 'x' }), {}, 400, 'invalid', /^amount /],
    [JSON.stringify({ ...cash, more: 1 }), {}, 400, 'invalid', /^more /],
    [JSON.stringify({ ...declined, decline_code: 'x' }), {}, 400, 'invalid', /^decline_code /],
    [
      JSON.stringify(Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`n${n}`, n]))),
      {},
      400,
      'invalid',
      /more names/,
    ],
    [
      JSON.stringify({
        ...paid,
        card: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`n${n}`, n])),
      }),
      {},
      400,
      'invalid',
      /more names/,
    ],
  ] as const) {
    const reply = readPosted(body, options);
    assert.ok('status' in reply, body);
    const told = JSON.parse(reply.body);
    assert.deepEqual([reply.status, told.error], [status, error], body);
    assert.match(told.message, message);
  }
});

test('an operation is posted as the contract has it, signed, and under its own id', async () => {
  const posted: { readonly body: string; readonly headers: Readonly<Record<string, string>> }[] = [];
  const { card: cards, cash } = createHttpConnector({
    address: 'https://integrator.test/pay',
    secret: 'integrators-secret',
    now: () => startMs + 999,
    addressFault: () => null,
    async send({ url, headers, body, isIdempotent }) {
      assert.deepEqual([url, isIdempotent], ['https://integrator.test/pay', true]);
      posted.push({ body, headers });
      const { id, operation } = JSON.parse(body);
      const answer =
        operation === 'status' ? { status: 'unknown' } : { status: 'done', url: 'https://x.test/' };
      return { status: 200, body: JSON.stringify({ id, ...answer }) };
    },
  });
  const code = { number: '123412345678', expiresAtMs: startMs + 1_999 };
  const about = {
    id: 'op_1',
    organization: 'org_1',
    livemode: false,
    payment_intent: 'pi_1',
    amount: 5000,
    currency: 'mad',
  };
  const ofCode = { code: '123412345678', expires_at: startMs / 1000 + 1 };
  const refund = call({ action: 'refund_charge', charge: 'ch_1', livemode: true });
  const page = { customer: { name: null, email: null }, description: null };
  const opening = {
    ...{ operation: 'open_page', id: payment.charge, organization: payment.org, livemode: payment.livemode },
    ...{ payment_intent: payment.paymentIntent, charge: payment.charge, amount: payment.amount },
    ...{ currency: payment.currency, expires_at: Math.floor(payment.expiresAtMs / 1000) },
    ...{ language: payment.language, paid_url: payment.paidUrl, unpaid_url: payment.unpaidUrl },
  };
  const known = { customer: { name: 'Amina', email: 'a@x.test' }, description: 'Order 7' };
  const rows: readonly (readonly [ask: () => unknown, operation: object])[] = [
    [() => cash.issue(call(), code), { operation: 'issue', ...about, ...ofCode }],
    [() => cash.cancel(call(), code), { operation: 'cancel', ...about, ...ofCode }],
    [() => cash.lookup(call()), { operation: 'status', id: 'op_1' }],
    [() => cash.check!(), { operation: 'status', id: 'op_check' }],
    [() => cards.refund(refund), { operation: 'refund', ...about, livemode: true, charge: 'ch_1' }],
    [() => cards.lookup(call(awaited)), { operation: 'status', id: 'ch_1' }],
    [() => cards.startPage!({ ...payment, ...page }), opening],
    [
      () => cards.startPage!({ ...payment, ...known }),
      { ...opening, name: 'Amina', email: 'a@x.test', description: 'Order 7' },
    ],
  ];
  for (const [ask, operation] of rows) {
    await ask();
    const { body, headers } = posted.pop()!;
    assert.deepEqual(JSON.parse(body), operation);
    const timestampSeconds = startMs / 1000;
    assert.deepEqual(headers, {
      'Content-Type': 'application/json',
      'Idempotency-Key': (operation as { id: string }).id,
      'X-Service-Signature': signatureHeader({ secrets: ['integrators-secret'], timestampSeconds, body }),
    });
  }
});

test('a page is opened when its customer comes, and what is not for cards is not asked', async () => {
  const { card: cards } = connector({ status: 'done' });
  assert.deepEqual(await cards.openPage!(call()), { result: 'awaited' });
  assert.deepEqual(await cards.lookup(call({ action: 'open_card_page' })), { result: 'awaited' });
  assert.deepEqual(await cards.lookup(call({ action: 'issue_cash_code' })), {
    result: 'failed',
    reason: 'unsupported',
  });
});

test('an integrator is set up when an operation that never was is unknown', async () => {
  await connector({ status: 'unknown' }).cash.check!();
  await assert.rejects(async () => connector({ status: 'done' }).card.check!(), /did not say unknown/);
});
