// The totals of a day: every charge and refund is counted once, on the day in Morocco on which it was settled.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countInDay, partNamesOf, partsOf, type Totals, totalNames } from '../../src/domain/day-totals.ts';
import type { Context } from '../../src/domain/decision.ts';
import { Draft } from '../../src/domain/draft.ts';
import { kindIndex } from '../../src/domain/indexes.ts';
import type { DayTotalRecord, StoredRecord } from '../../src/domain/record.ts';
import { dayTotals, ofKind } from './invariants.ts';
import { createIntent, openCharge, payByCard, scenes } from './scenes.ts';
import { hourMs, Stage, sandbox } from './stage.ts';

const nothing = Object.fromEntries(totalNames.map((name) => [name, 0])) as unknown as Totals;
const paid = { card_received: 20_000, card_succeeded: 1 };

/** The totals of the stage's organization and mode, by day. */
function totalsOf(stage: Stage) {
  const totals = [...stage.world.state.scan(kindIndex('day_total', stage.scope.name), { descending: false })];
  return Object.fromEntries(
    (totals as DayTotalRecord[]).map((total) => [
      total.day,
      Object.fromEntries(totalNames.map((name) => [name, total[name]])),
    ]),
  );
}

function refund(stage: Stage, amount: number): string {
  return stage.given('create_refund', { charge: scenes.paid(stage).charge, amount }).id;
}

const rows: readonly (readonly [what: string, run: (stage: Stage) => void, expected: Partial<Totals>])[] = [
  ['a card that was paid', (stage) => scenes.paid(stage), paid],
  ['a card that was declined', (stage) => scenes.declined(stage), { card_failed: 1 }],
  ['a card payment that was canceled', (stage) => scenes.canceled(stage), { card_unpaid: 1 }],
  [
    'a card page that nobody used in time',
    (stage) => stage.given('expire_charge', {}, scenes.open(stage).charge),
    { card_unpaid: 1 },
  ],
  ['cash that was paid', (stage) => scenes.paid_cash(stage), { cash_received: 20_000, cash_succeeded: 1 }],
  [
    'cash that was refused',
    (stage) => stage.given('fail_charge', {}, scenes.code(stage).charge),
    { cash_failed: 1 },
  ],
  [
    'a customer who went back from the code',
    (stage) => stage.given('abandon_charge', {}, scenes.code(stage).charge),
    { cash_unpaid: 1 },
  ],
  [
    'a refund that was made',
    (stage) => stage.given('succeed_refund', {}, refund(stage, 500)),
    { ...paid, refunded: 500, refunds: 1 },
  ],
  ['a refund that is pending', (stage) => refund(stage, 500), paid],
  [
    'a refund that was refused',
    (stage) => stage.given('fail_refund', { failure_reason: 'expired_card' }, refund(stage, 500)),
    paid,
  ],
];

for (const [what, run, expected] of rows) {
  test(`counted: ${what}`, () => {
    const stage = new Stage();
    run(stage);
    assert.deepEqual(totalsOf(stage), { '2026-11-02': { ...nothing, ...expected } });
  });
}

test('what settles nothing counts nothing: a payment that is made or opened, and money under review', () => {
  const stage = new Stage();
  createIntent(stage);
  scenes.code(stage);
  stage.given('complete_charge', { amount: 7 }, scenes.open(stage).charge);
  assert.deepEqual(totalsOf(stage), {});
});

test('a day is Morocco’s, each day has one total, and modes and organizations have their own', () => {
  const stage = new Stage();
  payByCard(stage);
  const charge = openCharge(stage, createIntent(stage, { payment_method_types: ['cash'] }), 'cash');
  // It is 9:00 UTC, 10:00 in Morocco: fourteen hours until midnight there.
  stage.advance(14 * hourMs - 1);
  stage.given('complete_charge', {}, charge);
  stage.advance(1);
  payByCard(stage);
  payByCard(stage.as({ livemode: true }));
  payByCard(stage.as({ org: 'org_other00000000000000000000' }), { amount: 300 });
  const [first, second] = [
    { ...nothing, ...paid, cash_received: 20_000, cash_succeeded: 1 },
    { ...nothing, ...paid },
  ];
  assert.deepEqual(totalsOf(stage), { '2026-11-02': first, '2026-11-03': second });
  assert.deepEqual(totalsOf(stage.as({ livemode: true })), { '2026-11-03': second });
  assert.deepEqual(totalsOf(stage.as({ org: 'org_other00000000000000000000' })), {
    '2026-11-03': { ...nothing, card_received: 300, card_succeeded: 1 },
  });
});

test('two that one command settles are in one total, and another day in another', () => {
  const stage = new Stage();
  const charge = stage.get('charge', payByCard(stage).charge);
  const ids = ['dt_1', 'dt_2'];
  const context = { ...sandbox, nowMs: stage.nowMs, newId: () => ids.shift()! };
  const draft = new Draft(new Stage().world.state, context as unknown as Context);
  const nextDayMs = charge.settled_at_ms! + 24 * hourMs;
  countInDay(draft, charge);
  countInDay(draft, { ...charge, settled_at_ms: nextDayMs, status: 'failed' });
  countInDay(draft, { ...charge, amount: 1 });
  const totals = draft.changes as readonly DayTotalRecord[];
  assert.deepEqual(
    totals.map(({ id, day, card_received, card_succeeded, card_unpaid }) => [
      id,
      day,
      card_received,
      card_succeeded,
      card_unpaid,
    ]),
    [
      ['dt_1', '2026-11-02', 20_001, 2, 0],
      ['dt_2', '2026-11-03', 0, 0, 1],
    ],
  );
});

test('the charges and refunds come to what the totals tell, part by part', () => {
  const stage = new Stage();
  for (const [, run] of rows) run(stage);
  stage.advance(24 * hourMs);
  payByCard(stage.as({ livemode: true }));
  scenes.open(stage);
  const records = new Map<string, StoredRecord>(stage.world.log.flat().map((change) => [change.id, change]));
  for (const record of ofKind(records, 'day_total')) {
    const parts = partsOf(record);
    assert.deepEqual(
      partNamesOf(record),
      totalNames.map((name) => `${record.org}/${record.livemode ? 'l' : 't'} ${record.day} ${name}`),
    );
    assert.ok(parts.told.every(([name, value]) => partNamesOf(record).includes(name) && value > 0));
    assert.equal(parts.told.length, totalNames.filter((name) => record[name] > 0).length);
  }
  const { counted, told } = dayTotals(records);
  assert.deepEqual(counted, told);
  assert.equal(new Map(told).get(`${sandbox.org}/t 2026-11-02 card_received`), 4 * 20_000);
});
