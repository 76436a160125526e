// What counts as a difference between a statement and our payments: a row says what both have of one order, and what is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NamedCharge } from '../../../src/domain/settled.ts';
import { compareOrder } from '../../../src/operator/reconciliation/compare-order.ts';
import type { StatementLine } from '../../../src/operator/reconciliation/statement-line.ts';

const period = { from: '2026-11-01', to: '2026-11-30' };
const amount = 25_000;

function charge(more: Partial<NamedCharge> = {}): NamedCharge {
  const settled = more.status === undefined || more.status === 'succeeded' ? '2026-11-03' : null;
  const base = { id: 'ch_1', payment_intent: 'pi_1', amount, receipts: [], refunds: [] };
  return { ...base, status: 'succeeded', settled, ...more };
}

const line = (more: Partial<StatementLine> = {}): Omit<StatementLine, 'line'> => ({
  kind: 'payment',
  order: 'ch_1',
  amount,
  reference: 'T1',
  day: '2026-11-03',
  ...more,
});

const refund = (
  id: string,
  of: number,
  status: 'pending' | 'succeeded' | 'failed' = 'succeeded',
  day = '2026-11-04',
) => ({ id, amount: of, status, settled: status === 'pending' ? null : day });
const ofTwoMonths = charge({
  refunds: [refund('re_1', 10, 'succeeded', '2026-10-04'), refund('re_2', 10)],
});
const back = (of: number, more: Partial<StatementLine> = {}) =>
  line({ kind: 'refund', amount: of, reference: null, ...more });
const credited = { reference: 'T1', amount, credited: true };
const failed = { status: 'failed', settled: '2026-11-03' } as const;

/** Differences as `kind line`, then ` refund`, then ` ! reference amount` of money that belongs in a review. */
const rows: readonly (readonly [
  what: string,
  ours: NamedCharge | null,
  lines: readonly Omit<StatementLine, 'line'>[],
  told: readonly string[],
  matched: number,
  inReviews?: number,
])[] = [
  ['the same payment', charge(), [line()], [], 1],
  ['the same payment, with a receipt', charge({ receipts: [credited] }), [line()], [], 1],
  ['a payment of another day', charge({ settled: '2026-10-31' }), [line()], [], 1],
  ['an order that we do not know', null, [line(), back(5)], ['unknown_order 1', 'unknown_order 2'], 0],
  ['a charge that failed', charge(failed), [line()], ['not_paid_here 1 ! T1 25000'], 0],
  [
    'a charge that failed, without a reference',
    charge(failed),
    [line({ reference: null })],
    ['not_paid_here 1 ! statement 2026-11-03 25000'],
    0,
  ],
  ['a charge that is pending', charge({ status: 'pending' }), [line()], ['pending_here 1'], 0],
  ['another amount', charge(), [line({ amount: 5 })], ['amount_differs 1 ! T1 5'], 0],
  [
    'a second payment: the one that was reported is ours',
    charge({ receipts: [credited] }),
    [line({ reference: 'T0' }), line()],
    ['second_payment 1 ! T0 25000'],
    1,
  ],
  ['a second payment', charge(), [line(), line({ reference: 'T2' })], ['second_payment 2 ! T2 25000'], 1],
  [
    'another amount, and the right one',
    charge(),
    [line({ amount: 5 }), line({ reference: 'T2' })],
    ['second_payment 1 ! T1 5'],
    1,
  ],
  ['the same line twice', charge(), [line(), line()], ['duplicate_line 2'], 1],
  [
    'the same line twice, of a charge that failed',
    charge(failed),
    [line(), line()],
    ['not_paid_here 1 ! T1 25000', 'duplicate_line 2'],
    0,
  ],
  [
    'without references, on two days',
    charge(),
    [line({ reference: null }), line({ reference: null, day: '2026-11-04' })],
    ['second_payment 2 ! statement 2026-11-04 25000'],
    1,
  ],
  [
    'money that is in a review already',
    charge({ ...failed, receipts: [{ reference: 'T1', amount, credited: false }] }),
    [line()],
    [],
    0,
    1,
  ],
  [
    'money of another month, besides some that is in a review already',
    charge({ ...failed, receipts: [{ reference: 'T0', amount, credited: false }] }),
    [line()],
    ['not_paid_here 1 ! T1 25000'],
    0,
  ],
  [
    'the same without references',
    charge({ ...failed, receipts: [{ reference: 'statement 2026-10-03', amount, credited: false }] }),
    [line({ reference: null })],
    ['not_paid_here 1 ! statement 2026-11-03 25000'],
    0,
  ],
  [
    'a payment that the network reported under another name: a second one, perhaps',
    charge({ receipts: [credited] }),
    [line({ reference: 'T2' })],
    ['reference_differs 1'],
    0,
  ],
  [
    'two of them: one is beyond it in any case',
    charge({ receipts: [credited] }),
    [line({ reference: 'T2' }), line({ reference: 'T3' })],
    ['reference_differs 1', 'second_payment 2 ! T3 25000'],
    0,
  ],
  [
    'a second payment that is in a review, and the first one in the statement of the month before',
    charge({
      settled: '2026-10-31',
      receipts: [credited, { ...credited, reference: 'T2', credited: false }],
    }),
    [line({ reference: 'T2' })],
    [],
    0,
    1,
  ],
  [
    'a second payment that is in a review, and the first one missing',
    charge({ receipts: [{ reference: 'T2', amount, credited: false }] }),
    [line({ reference: 'T2' })],
    ['payment_not_in_statement null'],
    0,
    1,
  ],
  [
    'another amount than that of the payment, which is in a review already',
    charge({ receipts: [{ reference: 'T1', amount: 5, credited: false }] }),
    [line({ amount: 5 })],
    [],
    0,
    1,
  ],
  [
    'another amount that was reported before the payment, which is missing',
    charge({ receipts: [{ reference: 'T0', amount: 5, credited: false }, credited] }),
    [line({ reference: 'T0', amount: 5 })],
    ['payment_not_in_statement null'],
    0,
    1,
  ],
  [
    'the part of a payment that was taken, which is in a review',
    charge({ receipts: [credited, { reference: 'T1', amount: 5, credited: false }] }),
    [line({ amount: 5 })],
    [],
    0,
    1,
  ],
  ['without a reference', charge({ receipts: [credited] }), [line({ reference: null })], [], 1],
  [
    'another amount under a reference that is in a review',
    charge({ ...failed, receipts: [{ reference: 'T1', amount: 5, credited: false }] }),
    [line()],
    ['not_paid_here 1 ! T1 25000'],
    0,
  ],
  [
    'money of a pending charge that is in a review',
    charge({ status: 'pending', receipts: [{ reference: 'T1', amount: 5, credited: false }] }),
    [line({ amount: 5 })],
    [],
    0,
    1,
  ],
  [
    'refunds',
    charge({ refunds: [refund('re_1', 10), refund('re_2', 20), refund('re_3', 10)] }),
    [line(), back(10), back(10), back(20)],
    [],
    4,
  ],
  ['a refund that we do not know', charge(), [line(), back(10)], ['refund_unknown 2'], 1],
  [
    'a refund that is told twice',
    charge({ refunds: [refund('re_1', 10)] }),
    [line(), back(10), back(10)],
    ['duplicate_line 3'],
    2,
  ],
  [
    'a refund of another amount',
    charge({ refunds: [refund('re_1', 10)] }),
    [line(), back(11)],
    ['refund_amount_differs 2 re_1'],
    1,
  ],
  [
    'refunds that are pending and that failed',
    charge({ refunds: [refund('re_1', 10, 'pending'), refund('re_2', 20, 'failed')] }),
    [line(), back(10), back(20)],
    ['refund_pending_here 2 re_1', 'refund_failed_here 3 re_2'],
    1,
  ],
  [
    'a refund that failed and was made again',
    charge({ refunds: [refund('re_1', 10, 'failed'), refund('re_2', 10)] }),
    [line(), back(10)],
    [],
    2,
  ],
  [
    'a refund that the statement lacks',
    charge({ refunds: [refund('re_1', 10)] }),
    [line()],
    ['refund_not_in_statement null re_1'],
    1,
  ],
  [
    'a refund of another month',
    charge({ refunds: [{ ...refund('re_1', 10), settled: '2026-12-01' }] }),
    [line()],
    [],
    1,
  ],
  [
    'a refund of this month, besides one of the month before that was told then',
    ofTwoMonths,
    [line(), back(10, { day: '2026-11-05' })],
    [],
    2,
  ],
  [
    'a refund that the network made twice, besides one of the month before',
    ofTwoMonths,
    [line(), back(10, { day: '2026-11-05' }), back(10, { day: '2026-11-20' })],
    ['day_differs 3 re_1'],
    2,
  ],
  [
    'refunds of one amount, the first of which the statement lacks',
    charge({ refunds: [refund('re_1', 10), refund('re_2', 10, 'succeeded', '2026-11-24')] }),
    [line(), back(10, { day: '2026-11-25' })],
    ['refund_not_in_statement null re_1'],
    2,
  ],
  [
    'a refund that the network books some days after the month in which it was settled',
    charge({ refunds: [refund('re_1', 10, 'succeeded', '2026-10-28')] }),
    [line(), back(10, { day: '2026-11-02' })],
    [],
    2,
  ],
  [
    'a payment weeks after it was settled, without a reference',
    charge({ settled: '2026-10-03' }),
    [line({ reference: null })],
    ['day_differs 1'],
    0,
  ],
  [
    'a payment weeks after it was settled, under the reference that was reported',
    charge({ settled: '2026-10-03', receipts: [credited] }),
    [line()],
    [],
    1,
  ],
  [
    'without references, the payment and before it one that is none of ours',
    charge({ settled: '2026-11-20' }),
    [line({ reference: null }), line({ reference: null, day: '2026-11-20' })],
    ['second_payment 1 ! statement 2026-11-03 25000'],
    1,
  ],
  [
    'a payment of the month before, refunded now',
    charge({ settled: '2026-10-31', refunds: [refund('re_1', 10)] }),
    [back(10)],
    [],
    1,
  ],
  [
    'a refund without its payment',
    charge({ refunds: [refund('re_1', 10)] }),
    [back(10)],
    ['payment_not_in_statement null'],
    1,
  ],
  ['a chargeback', charge(), [line(), line({ kind: 'chargeback' })], ['chargeback 2'], 1],
  ['a chargeback of an order that we do not know', null, [line({ kind: 'chargeback' })], ['chargeback 1'], 0],
];

for (const [what, ours, given, told, matched, inReviews = 0] of rows)
  test(what, () => {
    const lines = given.map((each, position) => ({ ...each, line: position + 1 }));
    const compared = compareOrder(lines, ours, period);
    const inShort = compared.told.map(({ difference, money }) => {
      const { kind, line, refund } = difference;
      const review = money === null ? '' : ` ! ${money.reference} ${money.amount}`;
      return `${kind} ${line}${refund === null ? '' : ` ${refund}`}${review}`;
    });
    assert.deepEqual(inShort, told);
    assert.deepEqual([compared.matched.length, compared.inReviews.length], [matched, inReviews]);
    for (const { money } of compared.told) if (money !== null) assert.equal(money.charge, 'ch_1');
  });

const dayOf = (days: number) => new Date(Date.UTC(2026, 9, 1 + days)).toISOString().slice(0, 10);
/** Days of October and November. */
const days = fc.integer({ min: 0, max: 60 });

/** An order that was paid, paid again and paid back, as we know it, and the lines of a statement that says the same. */
const orders = fc
  .record({
    amount: fc.constantFrom(10, 100),
    paid: days,
    isReported: fc.boolean(),
    hasReferences: fc.boolean(),
    late: fc.array(fc.record({ amount: fc.constantFrom(10, 55, 100), on: days }), { maxLength: 2 }),
    refunds: fc.array(
      fc.record({
        amount: fc.integer({ min: 1, max: 3 }),
        status: fc.constantFrom('succeeded', 'failed', 'pending'),
        on: days,
      }),
      { maxLength: 4 },
    ),
  })
  .map(({ amount, paid, isReported, hasReferences, late, refunds }) => {
    // Without a report, another amount may be that of the payment itself.
    const paidLate = late.map((each) => (isReported ? each : { ...each, amount }));
    const inReviews = hasReferences ? paidLate.map((each, at) => ({ ...each, reference: `L${at}` })) : [];
    const taken = { amount, on: paid, reference: hasReferences ? 'T1' : null };
    const payments = [taken, ...inReviews].map(({ on, ...each }) => line({ ...each, day: dayOf(on) }));
    const made = refunds.filter(({ status }) => status === 'succeeded');
    const lines = [...payments, ...made.map((each) => back(each.amount, { day: dayOf(each.on) }))];
    const receipts = [
      ...(isReported ? [{ reference: 'T1', amount, credited: true }] : []),
      ...inReviews.map((each) => ({ reference: each.reference, amount: each.amount, credited: false })),
    ];
    const ours = charge({
      amount,
      settled: dayOf(paid),
      receipts,
      refunds: refunds.map((each, at) => refund(`re_${at}`, each.amount, each.status, dayOf(each.on))),
    });
    return { ours, lines: lines.map((each, at) => ({ ...each, line: at + 1 })) };
  });

test('of a statement that is right nothing is told, month by month', () => {
  fc.assert(
    fc.property(orders, ({ ours, lines }) => {
      for (const month of ['2026-10', '2026-11']) {
        const own = lines.filter(({ day }) => day?.startsWith(month));
        // An order that the statement does not name is told elsewhere.
        if (own.length === 0) continue;
        const compared = compareOrder(own, ours, { from: `${month}-01`, to: `${month}-31` });
        assert.deepEqual(compared.told, []);
        assert.equal(compared.matched.length + compared.inReviews.length, own.length);
      }
    }),
  );
});

const mistakes: readonly ((lines: readonly StatementLine[], at: number) => readonly StatementLine[])[] = [
  (lines, at) => lines.filter((each, position) => position !== at || each.reference?.startsWith('L')),
  (lines, at) =>
    lines.map((each, position) => (position === at ? { ...each, amount: each.amount + 1 } : each)),
  (lines, at) =>
    lines.flatMap((each, position) => (position === at ? [each, { ...each, line: 99 }] : [each])),
  (lines, at) => [...lines, { ...lines[at]!, reference: 'another', line: 99 }],
];

test('of a statement with a mistake something is told, whatever it is', () => {
  const period = { from: '2026-10-01', to: '2026-11-30' };
  const mistaken = fc.tuple(orders, fc.constantFrom(...mistakes), fc.nat());
  fc.assert(
    fc.property(mistaken, ([{ ours, lines }, mistake, any]) => {
      const given = mistake(lines, any % lines.length);
      // An order that the statement does not name is told elsewhere, and a line of money in a review is not missed.
      fc.pre(given.length > 0 && JSON.stringify(given) !== JSON.stringify(lines));
      assert.notEqual(compareOrder(given, ours, period).told.length, 0);
    }),
  );
});
