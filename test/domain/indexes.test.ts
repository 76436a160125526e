// The index rows of every kind of record, as they lie in the checkpoint: no list may gain or lose one unnoticed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as check, property, string } from 'fast-check';
import {
  fieldIndex,
  fieldsIndex,
  hasIndexRow,
  type IndexedRecord,
  idsIn,
  indexNameOf,
  indexRowsOf,
  organizationsIn,
  splitIndexName,
} from '../../src/domain/indexes.ts';

const id = 'x1';
const at = (ms: number) => `${String(ms).padStart(14, '0')}${id}`;
const base = { id, org: 'org_1', livemode: false, removed: false };
const charge = { payment_intent: 'pi_1', cash_number: null, due_at_ms: 7, receipts: [] };
const delivery = { endpoint: 'we_1', event: 'evt_1', due_at_ms: null, ended_at_ms: null };

type Row = readonly [
  what: string,
  record: object,
  rows: readonly (readonly [index: string, sortKey: string])[],
];

const rows: readonly Row[] = [
  [
    'payment intent',
    { kind: 'payment_intent', status: 'succeeded', customer: null },
    [
      ['payment_intent/org_1/t', id],
      ['payment_intent/org_1/t/status:succeeded', id],
    ],
  ],
  [
    'payment intent of a customer',
    { kind: 'payment_intent', status: 'canceled', customer: 'cus_1' },
    [
      ['payment_intent/org_1/t', id],
      ['payment_intent/org_1/t/status:canceled', id],
      ['payment_intent/org_1/t/customer=cus_1', id],
      ['payment_intent/org_1/t/customer=cus_1&status:canceled', id],
    ],
  ],
  [
    'payment intent of live mode',
    { kind: 'payment_intent', status: 'canceled', customer: null, livemode: true },
    [
      ['payment_intent/org_1/l', id],
      ['payment_intent/org_1/l/status:canceled', id],
    ],
  ],
  [
    'pending charge',
    { kind: 'charge', ...charge, status: 'pending' },
    [
      ['charge/org_1/t', id],
      ['charge/org_1/t/status:pending', id],
      ['charge/org_1/t/payment_intent=pi_1', id],
      ['charge/org_1/t/payment_intent=pi_1&status:pending', id],
      ['due', at(7)],
    ],
  ],
  [
    'charge that cash was reported for',
    {
      kind: 'charge',
      ...charge,
      status: 'failed',
      cash_number: '123',
      receipts: [{ reference: 'a' }, { reference: 'b' }],
    },
    [
      ['charge/org_1/t', id],
      ['charge/org_1/t/status:failed', id],
      ['charge/org_1/t/payment_intent=pi_1', id],
      ['charge/org_1/t/payment_intent=pi_1&status:failed', id],
      ['cash=123', id],
      ['charge/org_1/t/reference=a', id],
      ['charge/org_1/t/reference=b', id],
    ],
  ],
  [
    'open session',
    { kind: 'checkout_session', status: 'open', due_at_ms: 8 },
    [
      ['checkout_session/org_1/t', id],
      ['due', at(8)],
    ],
  ],
  [
    'session that has ended',
    { kind: 'checkout_session', status: 'expired', due_at_ms: 8 },
    [['checkout_session/org_1/t', id]],
  ],
  [
    'customer',
    { kind: 'customer', email: 'a@b.test', deleted: false },
    [
      ['customer/org_1/t', id],
      ['customer/org_1/t/email=a@b.test', id],
    ],
  ],
  [
    'customer without an address',
    { kind: 'customer', email: null, deleted: false },
    [['customer/org_1/t', id]],
  ],
  ['deleted customer', { kind: 'customer', email: 'a@b.test', deleted: true }, []],
  [
    'refund',
    { kind: 'refund', payment_intent: 'pi_1', status: 'pending' },
    [
      ['refund/org_1/t', id],
      ['refund/org_1/t/status:pending', id],
      ['refund/org_1/t/payment_intent=pi_1', id],
      ['refund/org_1/t/payment_intent=pi_1&status:pending', id],
    ],
  ],
  [
    'open review',
    { kind: 'review', open: true },
    [
      ['review/org_1/t', id],
      ['review/org_1/t/open:true', id],
    ],
  ],
  ['closed review', { kind: 'review', open: false }, [['review/org_1/t', id]]],
  [
    'totals of a day',
    { kind: 'day_total', day: '2026-11-02' },
    [
      ['day_total/org_1/t', id],
      ['day_total/org_1/t/day=2026-11-02', id],
    ],
  ],
  ['payment link', { kind: 'payment_link' }, [['payment_link/org_1/t', id]]],
  [
    'event',
    { kind: 'event', type: 'charge.failed' },
    [
      ['event/org_1/t', id],
      ['event/org_1/t/type:charge.failed', id],
    ],
  ],
  [
    'endpoint',
    { kind: 'webhook_endpoint', status: 'disabled', draining: false },
    [
      ['webhook_endpoint/org_1/t', id],
      ['endpoint', id],
    ],
  ],
  [
    'deleted endpoint with deliveries that wait',
    { kind: 'webhook_endpoint', status: 'deleted', draining: true },
    [['endpoint', id]],
  ],
  ['deleted endpoint', { kind: 'webhook_endpoint', status: 'deleted', draining: false }, []],
  [
    'delivery that waits',
    { kind: 'delivery', ...delivery, status: 'pending', due_at_ms: 9 },
    [
      ['delivery/org_1/t/endpoint=we_1', id],
      ['delivery/org_1/t/event=evt_1', id],
      ['due/endpoint=we_1', at(9)],
    ],
  ],
  [
    'delivery that has failed',
    { kind: 'delivery', ...delivery, status: 'failed', ended_at_ms: 10 },
    [
      ['delivery/org_1/t/endpoint=we_1', id],
      ['delivery/org_1/t/event=evt_1', id],
      ['delivery/org_1/t/failed=we_1', id],
      ['over', at(10)],
    ],
  ],
  [
    'delivery that has succeeded',
    { kind: 'delivery', ...delivery, status: 'succeeded', ended_at_ms: 10 },
    [
      ['delivery/org_1/t/endpoint=we_1', id],
      ['delivery/org_1/t/event=evt_1', id],
      ['over', at(10)],
    ],
  ],
  [
    'attempt',
    { kind: 'attempt', delivery: 'whd_1', serial: 3 },
    [
      ['attempt=whd_1', id],
      ['attempt/org_1/t', at(3)],
    ],
  ],
  [
    'attempt of before there were serial numbers',
    { kind: 'attempt', delivery: 'whd_1', serial: null },
    [['attempt=whd_1', id]],
  ],
  ['network call', { kind: 'network_call', cash_number: null }, [['operation', id]]],
  [
    'network call for a cash code',
    { kind: 'network_call', cash_number: '123' },
    [
      ['operation', id],
      ['cash=123', id],
    ],
  ],
];

for (const [what, fields, expected] of rows)
  test(`the index rows of a ${what}`, () => {
    const record = { ...base, ...fields } as IndexedRecord;
    const made = indexRowsOf(record);
    const texts = made.map((row) => [indexNameOf(row), row.sortKey]);
    assert.deepEqual(
      texts.toSorted(),
      [...expected]
        .map(String)
        .sort()
        .map((text) => text.split(',')),
    );
    for (const [index, sortKey] of expected) {
      assert.ok(hasIndexRow(record, index, sortKey), `${index} ${sortKey}`);
      assert.ok(!hasIndexRow(record, index, `${sortKey}0`));
      assert.ok(!hasIndexRow({ ...record, removed: true } as IndexedRecord, index, sortKey));
      assert.equal(idsIn(index)(sortKey), id, index);
    }
    const own = `${record.kind}/org_1/t`;
    assert.equal(
      hasIndexRow(record, own, id),
      expected.some(([index, sortKey]) => index === own && sortKey === id),
    );
    assert.ok(!hasIndexRow(record, `${record.kind}/org_2/t`, id));
    assert.deepEqual(indexRowsOf({ ...record, removed: true } as IndexedRecord), []);
  });

test('an organization has the index names of its own in each mode, however many there have been', () => {
  const rowsOf = (org: string, livemode: boolean) =>
    indexRowsOf({ ...base, org, livemode, kind: 'review', open: true } as IndexedRecord).map(indexNameOf);
  for (const round of [1, 2])
    for (let n = 0; n < 1_100; n++)
      for (const [livemode, mode] of [
        [false, 't'],
        [true, 'l'],
      ] as const)
        assert.deepEqual(
          rowsOf(`org_${n}`, livemode),
          [`review/org_${n}/${mode}`, `review/org_${n}/${mode}/open:true`],
          `${round}`,
        );
});

test('the name of a filtered list has its fields in the order that is asked for', () => {
  const index = fieldsIndex('charge', 'org_1/t', [
    ['payment_intent', 'pi_1'],
    ['status', 'failed'],
  ]);
  assert.equal(index, 'charge/org_1/t/payment_intent=pi_1&status:failed');
  assert.equal(
    fieldsIndex('charge', 'org_1/t', [['status', 'failed']]),
    fieldIndex('charge', 'org_1/t', 'status', 'failed'),
  );
  assert.equal(fieldsIndex('charge', 'org_1/t', []), 'charge/org_1/t');
});

test('organizations are found by the names of their lists, each with a look or two', () => {
  const names = [
    'charge/org_0/t',
    'customer/org_1/l',
    'customer/org_1/t',
    'customer/org_1/t/email=a',
    'event/org_10/t',
    'event/org_2/t',
    'review/org_3/t',
  ];
  let looks = 0;
  const found = organizationsIn((text) => {
    looks++;
    return names.find((name) => name > text);
  });
  assert.deepEqual([...found].sort(), ['org_1', 'org_10', 'org_2']);
  assert.equal(looks, 6 + 3);
});

test('the name of an index is split where its value begins', () => {
  check(
    property(string(), (value) => {
      assert.deepEqual(splitIndexName(`a/b=${value}`), { list: 'a/b=', value });
      assert.equal(indexNameOf({ list: 'a/b=', value }), `a/b=${value}`);
    }),
  );
  assert.deepEqual(splitIndexName('a/status:paid'), { list: 'a/status:paid', value: null });
  assert.equal(indexNameOf({ list: 'a/status:paid', value: null }), 'a/status:paid');
});
