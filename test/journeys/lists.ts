// Reconciliation: lists with each of their filters and cursors, and exports with the same objects.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportOperation, Operation } from '../../src/contract/routes/table.ts';
import type { Service } from '../service.ts';
import { type Input, type Json, openShop, type Shop } from './shop.ts';

/** A morning's business: a canceled payment, one paid and refunded, a declined one paid in the end, an open one. */
async function trade(shop: Shop) {
  const buyer = await shop.do('create_customer', { email: 'amina@shop.example', name: 'Amina' });
  await shop.do('create_customer', { email: 'badr@shop.example', name: 'Badr, "the buyer"\n=1+1' });
  const awkward = { description: '=SUM(A1), "quoted"\r\nline', metadata: { note: 'é, ع' } };
  const canceled = await shop.createIntent({ ...awkward, customer: buyer.id });
  await shop.do('cancel_payment_intent', { id: canceled.id });
  const paid = await shop.paidIntent({ customer: buyer.id });
  const refunded = await shop.do('create_refund', { charge: paid.latest_charge, amount: 7 });
  await shop.do('succeed_refund', { id: refunded.id });
  const failed = await shop.do('create_refund', { charge: paid.latest_charge, amount: 8 });
  await shop.do('fail_refund', { id: failed.id });
  const declined = await shop.confirmedIntent();
  await shop.do('fail_charge', { id: declined.latest_charge });
  const again = await shop.do('confirm_payment_intent', { id: declined.id });
  await shop.do('complete_charge', { id: again.latest_charge });
  await shop.do('create_refund', { charge: again.latest_charge });
  const session = await shop.createSession();
  return { buyer, paid, declined, session };
}

async function listAll<O extends Operation>(shop: Shop, operation: O, input: Input<O> = {}): Promise<Json[]> {
  const { data, has_more } = await shop.do(operation, { limit: 100, ...input });
  assert.equal(has_more, false);
  return data;
}

export function lists(service: () => Service): void {
  test('every filter of every list shows what has the value, and nothing else', async () => {
    const shop = await openShop(service());
    const { buyer, paid, declined } = await trade(shop);
    const filters: readonly (readonly [
      operation: Operation,
      input: object,
      count: number,
      passes: (object: Json) => boolean,
    ])[] = [
      ['list_payment_intents', { customer: buyer.id }, 2, (o) => o.customer === buyer.id],
      ['list_payment_intents', { status: 'succeeded' }, 2, (o) => o.status === 'succeeded'],
      [
        'list_payment_intents',
        { status: 'canceled', customer: buyer.id },
        1,
        (o) => o.status === 'canceled' && o.customer === buyer.id,
      ],
      ['list_charges', { payment_intent: declined.id }, 2, (o) => o.payment_intent === declined.id],
      ['list_charges', { status: 'failed' }, 1, (o) => o.status === 'failed'],
      ['list_refunds', { payment_intent: paid.id }, 2, (o) => o.payment_intent === paid.id],
      ['list_refunds', { status: 'pending' }, 1, (o) => o.status === 'pending'],
      ['list_customers', { email: 'badr@shop.example' }, 1, (o) => o.email === 'badr@shop.example'],
      ['list_events', { type: 'charge.failed' }, 1, (o) => o.type === 'charge.failed'],
      ['list_events', { type: 'payout.paid' }, 0, () => false],
    ];
    for (const [operation, input, count, passes] of filters) {
      const found = await listAll(shop, operation, input);
      const expected = (await listAll(shop, operation)).filter(passes);
      assert.deepEqual(found, expected, `${operation} ${JSON.stringify(input)}`);
      assert.equal(found.length, count, `${operation} ${JSON.stringify(input)}`);
    }
    const dated = ['list_payment_intents', 'list_charges', 'list_refunds', 'list_events'] as const;
    for (const operation of dated) {
      const all = await listAll(shop, operation);
      const [newest, oldest] = [all[0].created, all.at(-1).created];
      const within = { 'created[gte]': oldest, 'created[lte]': newest };
      assert.deepEqual(await listAll(shop, operation, within), all);
      for (const outside of [{ 'created[gt]': newest }, { 'created[lt]': oldest }, { created: oldest - 1 }]) {
        assert.deepEqual(await listAll(shop, operation, outside), []);
      }
      const then = all.filter(({ created }) => created === newest);
      assert.deepEqual(await listAll(shop, operation, { created: newest }), then);
    }
  });

  test('every list by cursors, forward and back, shows every object once', async () => {
    const shop = await openShop(service());
    await trade(shop);
    const operations = [
      'list_payment_intents',
      'list_checkout_sessions',
      'list_charges',
      'list_refunds',
    ] as const;
    const more = ['list_customers', 'list_events', 'list_reviews', 'list_webhook_endpoints'] as const;
    for (const operation of [...operations, ...more]) {
      const all = await listAll(shop, operation);
      const seen: Json[] = [];
      for (let after: Json = null; ; after = { starting_after: seen.at(-1).id }) {
        const { data, has_more } = await shop.do(operation, { limit: 3, ...after });
        seen.push(...data);
        if (!has_more) break;
        assert.equal(data.length, 3);
      }
      assert.deepEqual(seen, all, operation);
      if (all.length === 0) continue;
      const back = await shop.do(operation, { ending_before: all.at(-1).id, limit: 1 });
      assert.deepEqual(back.data, all.slice(-2, -1), operation);
      const both = { starting_after: all[0].id, ending_before: all[0].id };
      await shop.refused('parameter_invalid', operation, both);
      const missing = await shop.refused('resource_missing', operation, { starting_after: 'xx_1' });
      assert.equal(missing.param, 'starting_after');
    }
  });

  test('exports hold what the lists show, as NDJSON and as CSV', async () => {
    const shop = await openShop(service());
    await trade(shop);
    const pairs = [
      ['export_payment_intents', 'list_payment_intents'],
      ['export_charges', 'list_charges'],
      ['export_refunds', 'list_refunds'],
    ] as const satisfies readonly (readonly [ExportOperation, Operation])[];
    for (const [exported, listed] of pairs) {
      const objects = await listAll(shop, listed);
      assert.ok(objects.length >= 3);
      const ndjson = await shop.send(exported, { format: 'ndjson' });
      assert.equal(ndjson.headers.get('content-type'), 'application/x-ndjson');
      assert.ok(ndjson.text.endsWith('\n'));
      const lines = ndjson.text.trimEnd().split('\n');
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        objects,
      );

      const csv = await shop.send(exported);
      assert.match(csv.headers.get('content-type')!, /^text\/csv; charset=utf-8/);
      const [names, ...rows] = readCsv(csv.text);
      assert.equal(rows.length, objects.length);
      for (const [i, row] of rows.entries()) {
        const expected = names!.map((name) => inCsv(objects[i][name]));
        assert.deepEqual(row, expected, exported);
      }
      const later = { 'created[gt]': objects[0].created };
      assert.deepEqual(readCsv((await shop.send(exported, later)).text), [names]);
      assert.equal((await shop.send(exported, { ...later, format: 'ndjson' })).text, '');
    }
  });

  test('an export of more than a page of the shard', async () => {
    const shop = await openShop(service());
    const count = 1_003;
    for (let made = 0; made < count; made += 59) {
      await Promise.all(Array.from({ length: Math.min(59, count - made) }, () => shop.createIntent()));
    }
    const { text } = await shop.send('export_payment_intents', { format: 'ndjson' });
    const ids = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    assert.equal(new Set(ids).size, count);
    assert.deepEqual(ids, ids.toSorted().reverse());
  });
}

/** A value of an object as a field of CSV. */
function inCsv(value: unknown): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** Reads CSV as RFC 4180 has it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}
