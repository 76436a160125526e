// Exports: every text is unchanged in NDJSON, and in CSV unless a spreadsheet would run it as a formula.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moroccoTimeAt } from '../../src/core/morocco-day.ts';
import { exportPage } from '../../src/domain/export.ts';
import type { Sheet } from '../../src/domain/export-sheet.ts';
import { everyPayment, type PaymentSearch } from '../../src/domain/payment-search.ts';
import { amount, createIntent, openCharge, payByCard, scenes, typedCard } from './scenes.ts';
import { minuteMs, Stage } from './stage.ts';

/** A description, and the field of CSV for it (RFC 4180). */
const rows: readonly (readonly [description: string, field: string])[] = [
  ['Order 1042', 'Order 1042'],
  ['=1+1', "'=1+1"],
  ['=HYPERLINK("https://a.example","b")', `"'=HYPERLINK(""https://a.example"",""b"")"`],
  ['+212 600 000000', "'+212 600 000000"],
  ['-10 %', "'-10 %"],
  ['@shop', "'@shop"],
  ['\tindented', `"'\tindented"`],
  ['\rreturned', `"'\rreturned"`],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠shop', "'＠shop"],
  ['\u0000=1+1', "'\u0000=1+1"],
  ['a;=1+1', '"a;=1+1"'],
  ['a\t=1+1', '"a\t=1+1"'],
  ["'quoted", "'quoted"],
  ['1=1, a-b', '"1=1, a-b"'],
  [' =1+1', ' =1+1'],
  ['a, "b"', '"a, ""b"""'],
  ['two\nlines', '"two\nlines"'],
  ['طلب', 'طلب'],
];

for (const [description, field] of rows) {
  test(`a description in an export: ${JSON.stringify(description).slice(1, -1)}`, () => {
    const stage = new Stage();
    const id = createIntent(stage, { description });
    const exported = (format: 'csv' | 'ndjson') =>
      exportPage(stage.world.state, 'export_payment_intents', { format }, stage.queryContext, '').text;
    assert.equal(JSON.parse(exported('ndjson')).description, description);
    const [names, ...lines] = exported('csv').split('\r\n');
    assert.match(names!, /,customer,description,canceled_at,/);
    assert.ok(lines[0]!.startsWith(`${id},`));
    assert.ok(lines[0]!.includes(`card""]",,,${field},,,,{}`), lines[0]);
    assert.deepEqual(lines.slice(1), ['']);
  });
}

test('a page of an export is bounded in length, whatever its records hold, and the pages together are everything', () => {
  const stage = new Stage();
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${i}`, 'x'.repeat(500)]));
  const ids = Array.from({ length: 40 }, () => createIntent(stage, { metadata }));
  const seen: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const params = { format: 'ndjson' } as const;
    const page = exportPage(stage.world.state, 'export_payment_intents', params, stage.queryContext, cursor);
    assert.ok(page.text.length < 192 * 1024, `${page.text.length} characters`);
    const lines = page.text.split('\n').slice(0, -1);
    seen.push(...lines.map((line) => JSON.parse(line).id));
    cursor = page.cursor;
  }
  assert.deepEqual(seen, ids.toReversed());
  assert.ok(pages > 5);
});

test('an export has what the list of its kind shows', () => {
  const stage = new Stage();
  for (const amount of [500, 700]) {
    stage.given('create_refund', { payment_intent: payByCard(stage).intent, amount });
    scenes.code(stage);
  }
  for (const [operation, list] of [
    ['export_payment_intents', 'list_payment_intents'],
    ['export_charges', 'list_charges'],
    ['export_refunds', 'list_refunds'],
  ] as const) {
    const exported = (format: 'csv' | 'ndjson') =>
      exportPage(stage.world.state, operation, { format }, stage.queryContext, '').text;
    const { data } = stage.read(list);
    const rows = exported('ndjson').split('\n').slice(0, -1);
    assert.deepEqual(
      rows.map((row) => JSON.parse(row)),
      data,
    );
    const lines = exported('csv').split('\r\n').slice(1, -1);
    assert.deepEqual(
      lines.map((line) => line.split(',', 1)[0]),
      data.map(({ id }: { id: string }) => id),
    );
  }
});

/** The name of whatever it is asked for, so that a test sees what stands where. */
const named = new Proxy({}, { get: (_, name) => String(name) });
const sheetWith = (separator: Sheet['separator']): Sheet =>
  ({ headings: named, words: named, separator }) as Sheet;

type Exported = Parameters<typeof exportPage>[1];
const textOf = (stage: Stage, operation: Exported, options: Parameters<typeof exportPage>[5]) =>
  exportPage(stage.world.state, operation, {}, stage.queryContext, '', options).text;

test('an export for people has dirhams, times in Morocco as all programs read them, and words, and is split at ; where amounts have a comma', () => {
  const stage = new Stage();
  const id = createIntent(stage, { amount: 119_456, description: '=1;2' });
  const charge = openCharge(stage, id);
  stage.settle(stage.calls('submit_card', typedCard, charge));
  const { id: refund } = stage.given('create_refund', { charge, amount: 5, reason: 'duplicate' });
  stage.given('succeed_refund', {}, refund);
  const at = (ms: number) => {
    const [day, month, year, hour, minute] = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Africa/Casablanca',
      dateStyle: 'short',
      timeStyle: 'short',
    })
      .format(ms)
      .split(/\D+/);
    return `${year}-${month}-${day} ${hour}:${minute}`;
  };
  const created = at(stage.get('payment_intent', id).created * 1000);
  const payments = textOf(stage, 'export_payment_intents', { sheet: sheetWith(';') }).split('\r\n');
  assert.deepEqual(payments, [
    '\ufeffcreated;payment;description;reference;customer;status;method;paid_with;amount;received;refunded;currency;settled',
    `${created};${id};"'=1;2";;;partly_refunded;card;visa 4242;"1194,56";"1194,56";"0,05";MAD;${created}`,
    '',
  ]);
  const charges = textOf(stage, 'export_charges', { sheet: sheetWith(',') }).split('\r\n');
  assert.equal(
    charges[1],
    `${created},${id},${charge},card,visa 4242,1194.56,0.05,MAD,succeeded,,${created}`,
  );
  const refunds = textOf(stage, 'export_refunds', { sheet: sheetWith(',') }).split('\r\n');
  assert.equal(refunds[1], `${created},${id},${refund},visa 4242,0.05,MAD,made,duplicate,${created}`);
  const exact = textOf(stage, 'export_payment_intents', {}).split('\r\n');
  assert.match(exact[0]!, /^id,created,livemode,amount,/, 'the exact one stays as it is');
  assert.match(exact[1]!, /,119456,/);
});

test('an export for people names the customer as well as it can, the code for cash, and why an attempt failed', () => {
  const stage = new Stage();
  for (const [customer, name] of [
    [{ name: 'Amal', email: 'amal@shop.example' }, 'Amal'],
    [{ email: 'amal@shop.example' }, 'amal@shop.example'],
    [{}, null],
  ] as const) {
    const { id } = stage.given('create_customer', customer);
    createIntent(stage, { customer: id });
    const [, newest] = textOf(stage, 'export_payment_intents', { sheet: sheetWith(',') }).split('\r\n');
    assert.equal(newest!.split(',')[4], name ?? id);
  }
  const cash = scenes.code(stage);
  const number = stage.get('charge', cash.charge).cash_number!;
  const declined = scenes.declined(stage);
  const canceled = scenes.canceled(stage);
  const lines = textOf(stage, 'export_charges', { sheet: sheetWith(',') }).split('\r\n');
  const ofCharge = (id: string) => lines.find((line) => line.split(',')[2] === id)!.split(',');
  assert.equal(ofCharge(cash.charge)[4], number.match(/.{1,4}/g)!.join('-'));
  assert.deepEqual(
    [cash, declined, canceled].map(({ charge }) => ofCharge(charge).at(-2)),
    ['', 'lost_card', stage.get('charge', canceled.charge).failure_code],
  );
});

test('an export for people tells when money came and went back, and nothing of what did neither', () => {
  const stage = new Stage();
  const { charge, intent } = scenes.code(stage);
  stage.advance(2 * 24 * 60 * minuteMs);
  const paidAt = moroccoTimeAt(stage.nowMs);
  stage.given('pay_cash', { number: stage.get('charge', charge).cash_number, amount });
  const declined = scenes.declined(stage);
  const { id: refund } = stage.given('create_refund', { payment_intent: payByCard(stage).intent });
  stage.given('fail_refund', {}, refund);
  for (const [operation, id, expected] of [
    ['export_payment_intents', intent, paidAt],
    ['export_payment_intents', declined.intent, ''],
    ['export_charges', charge, paidAt],
    ['export_charges', declined.charge, ''],
    ['export_refunds', refund, ''],
  ] as const) {
    const lines = textOf(stage, operation, { sheet: sheetWith(',') }).split('\r\n');
    const line = lines.find((each) => each.includes(id))!;
    assert.equal(line.split(',').at(-1), expected, `${operation} ${id}`);
  }
});

test('no text of an export for people is taken for another number or a day', () => {
  for (const [reference, cell] of [
    ['1042', '1042'],
    ['0', '0'],
    ['CMD-0042', 'CMD-0042'],
    ['7 rue Atlas', '7 rue Atlas'],
    ['00123', "'00123"],
    ['611234567890123456', "'611234567890123456"],
    ['2026-11', "'2026-11"],
    ['3/4', "'3/4"],
    ['12:30', "'12:30"],
    ['12E3', "'12E3"],
    ['1 000', "'1 000"],
    ['12.50', "'12.50"],
    ['-5', "'-5"],
    ['Mars 2026', "'Mars 2026"],
    ['déc.-26', "'déc.-26"],
    ['1 août', "'1 août"],
    ['March 5', "'March 5"],
    ['1-Sept-2026 9:30 PM', "'1-Sept-2026 9:30 PM"],
    ['غشت 2026', "'غشت 2026"],
    ['Mars', 'Mars'],
    ['Loyer mars 2026', 'Loyer mars 2026'],
    ['Mardi 5', 'Mardi 5'],
    ['Ma 5', 'Ma 5'],
  ] as const) {
    const stage = new Stage();
    createIntent(stage, { description: reference });
    const [, line] = textOf(stage, 'export_payment_intents', { sheet: sheetWith(',') }).split('\r\n');
    assert.equal(line!.split(',')[2], cell);
  }
});

test('an export has what belongs to the payments that pass the filters, however many do not', () => {
  const stage = new Stage();
  const wanted = [payByCard(stage), payByCard(stage)];
  const declined = scenes.declined(stage);
  for (let i = 0; i < 450; i++) createIntent(stage);
  const only = (operation: Exported, search: Partial<PaymentSearch>) => {
    const lines: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const options = { search: { ...everyPayment, ...search } };
      const params = { format: 'ndjson' } as const;
      const page = exportPage(stage.world.state, operation, params, stage.queryContext, cursor, options);
      lines.push(...page.text.split('\n').filter((line) => line !== ''));
      cursor = page.cursor;
    }
    return { ids: lines.map((line) => JSON.parse(line).id as string), pages };
  };
  const paid = only('export_payment_intents', { state: 'succeeded' });
  assert.deepEqual(paid.ids, wanted.map(({ intent }) => intent).toReversed());
  assert.ok(paid.pages > 2, 'a page looks at a bounded number');
  assert.deepEqual(only('export_charges', { state: 'failed' }).ids, [declined.charge]);
  assert.deepEqual(only('export_charges', { text: 'lamp' }).ids, []);
  assert.deepEqual(only('export_payment_intents', { customers: ['cus_1'] }).ids, []);
});
