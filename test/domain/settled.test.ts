// What a network's statement is compared with, and reviews of money that only the statement has.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receiptsPerChargeMax } from '../../src/contract/limits.ts';
import { noLeads } from '../../src/core/ids.ts';
import { chargesNamed, type SettledFilter, settledPage } from '../../src/domain/settled.ts';
import { amount, payByCard, scenes } from './scenes.ts';
import { hourMs, Stage, sandbox, startMs } from './stage.ts';

const day = '2026-11-02';
const money = { reference: 'T1', amount };

test('money of a charge that failed is in one review, however often the statement is read', () => {
  const stage = new Stage();
  const { charge, intent } = scenes.code(stage);
  stage.given('expire_charge', {}, charge);
  const before = [
    stage.read('retrieve_payment_intent', {}, intent),
    stage.read('retrieve_charge', {}, charge),
  ];
  const opened = stage.given('review_statement_money', money, charge);
  const [review] = stage.read('list_reviews').data;
  assert.deepEqual(
    [review.id, review.reason, review.amount_received, review.open],
    [opened.review, 'late_payment', amount, true],
  );
  const after = [
    stage.read('retrieve_payment_intent', {}, intent),
    stage.read('retrieve_charge', {}, charge),
  ];
  assert.deepEqual(after, before, 'no payment is changed');
  stage
    .when('review_statement_money', money, charge)
    .expect({ answer: { review: null, known: true }, changes: [], events: [] });
  assert.deepEqual(
    stage.given(
      'receive_money',
      { ...money, agent: null, currency: 'mad', card: null, isHeld: false },
      charge,
    ),
    { received: 'review', again: true },
  );
  assert.equal(stage.read('list_reviews').data.length, 1, 'nor does a late report of it open another one');
  assert.notEqual(stage.given('review_statement_money', { ...money, reference: 'T2' }, charge).review, null);
});

test('a charge that remembers as many reports as it can takes no more, and says so', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage);
  const answers = Array.from({ length: receiptsPerChargeMax + 1 }, (_, i) =>
    stage.given('review_statement_money', { reference: `T${i}`, amount }, charge),
  );
  assert.deepEqual(answers.at(-1), { review: null, known: false });
  assert.equal(stage.get('charge', charge).receipts.length, receiptsPerChargeMax);
  assert.equal(stage.read('list_reviews', { limit: 100 }).data.length, receiptsPerChargeMax);
});

test('money of a charge that succeeded: another amount, or a second payment', () => {
  for (const [received, reason] of [
    [amount - 1, 'amount_mismatch'],
    [amount, 'late_payment'],
  ] as const) {
    const stage = new Stage();
    const { charge } = payByCard(stage);
    stage.when('review_statement_money', { reference: 'T1', amount: received }, charge).expect({
      events: ['review.opened'],
      changes: ['review', 'charge succeeded'],
    });
    assert.equal(stage.read('list_reviews').data[0].reason, reason);
  }
});

test('money of a charge that failed came too late, whatever amount it is', () => {
  const stage = new Stage();
  const { charge } = scenes.code(stage);
  stage.given('expire_charge', {}, charge);
  stage.given('review_statement_money', { reference: 'T1', amount: amount - 1 }, charge);
  assert.equal(stage.read('list_reviews').data[0].reason, 'late_payment');
});

test('money of a pending charge is in no review: its report may still pay it', () => {
  const stage = new Stage();
  const { charge } = scenes.code(stage);
  stage.when('review_statement_money', money, charge).expect({ refusal: 'charge_unexpected_state' });
  stage.when('review_statement_money', money, 'ch_x').expect({ refusal: 'resource_missing' });
  assert.deepEqual(
    stage.given(
      'receive_money',
      { ...money, agent: null, currency: 'mad', card: null, isHeld: false },
      charge,
    ),
    { received: 'credited' },
  );
});

test('charges by their ids and cash codes, in one organization and mode', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage);
  const refund = stage.given('create_refund', { charge, amount: 5 }).id;
  stage.given('succeed_refund', {}, refund);
  const code = scenes.code(stage);
  const number = stage.get('charge', code.charge).cash_number!;
  const names = [charge, number, code.charge, 'ch_x', '000000000000'];
  const found = chargesNamed(stage.world.state, sandbox, names);
  assert.deepEqual(
    found.map((each) => each?.id ?? null),
    [charge, code.charge, code.charge, null, null],
  );
  assert.deepEqual(found[0], {
    id: charge,
    payment_intent: stage.get('charge', charge).payment_intent,
    amount,
    status: 'succeeded',
    settled: day,
    receipts: [],
    refunds: [{ id: refund, amount: 5, status: 'succeeded', settled: day }],
  });
  assert.equal(found[1]!.settled, null);
  for (const other of [{ org: 'org_other' }, { livemode: true }])
    assert.deepEqual(chargesNamed(stage.world.state, { ...sandbox, ...other }, [charge, number]), [
      null,
      null,
    ]);
});

test('what succeeded in a period, by method, page by page', () => {
  const stage = new Stage();
  const ids = (filter: Partial<SettledFilter>) => {
    const period = { fromMs: startMs, toMs: startMs + hourMs };
    const found: string[] = [];
    for (let start: string | null = null; ; ) {
      const asked = { kind: 'charge', methods: ['card', 'cash'], ...period, ...filter } as const;
      const page = settledPage(stage.world.state, { ...sandbox, idLeads: noLeads }, asked, start);
      found.push(...page.found.map(({ id }) => id));
      start = page.next;
      if (start === null) return found;
    }
  };
  const cards = Array.from({ length: 250 }, () => payByCard(stage).charge);
  const cash = scenes.paid_cash(stage).charge;
  const code = scenes.code(stage).charge;
  scenes.open(stage);
  const refund = stage.given('create_refund', { charge: cards[0]!, amount: 5 }).id;
  stage.given('succeed_refund', {}, refund);
  stage.given('create_refund', { charge: cards[0]!, amount: 6 });
  stage.advance(hourMs);
  // What was made within the period, and paid at its end.
  stage.given('complete_charge', {}, code);
  const later = payByCard(stage).charge;
  const all = { kind: 'charge', methods: ['card'], fromMs: startMs, toMs: startMs + hourMs } as const;
  const first = settledPage(stage.world.state, { ...sandbox, idLeads: noLeads }, all, null);
  // The newest two are in cash.
  assert.deepEqual(
    first.found.map(({ id }) => id),
    cards.toReversed().slice(0, 198),
  );
  assert.equal(first.next, cards[52]);
  assert.deepEqual(ids({ methods: ['card'] }), cards.toReversed());
  assert.deepEqual(ids({ methods: ['cash'] }), [cash]);
  assert.deepEqual(ids({ kind: 'refund' }), [refund]);
  assert.deepEqual(ids({ kind: 'refund', methods: ['cash'] }), []);
  assert.deepEqual(ids({ fromMs: startMs + hourMs, toMs: startMs + 2 * hourMs }), [later, code]);
});
