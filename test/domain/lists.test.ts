// Lists: every filter, the range over the time of creation, cursors, and that nobody sees the objects of others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueryOperation } from '../../src/contract/routes/table.ts';
import { idFloor } from '../../src/core/ids.ts';
import { type Filters, listPageOf } from '../../src/domain/list-pages.ts';
import type { View } from '../../src/domain/view.ts';
import { createIntent, createSession, openCharge, payByCard, scenes } from './scenes.ts';
import { type Json, Stage } from './stage.ts';

const ids = (list: Json): string[] => list.data.map(({ id }: { id: string }) => id);

/** Five intents, a second apart; newest first. */
function fiveIntents(stage: Stage): string[] {
  const made: string[] = [];
  for (let i = 0; i < 5; i++) {
    made.unshift(createIntent(stage));
    stage.advance(1_000);
  }
  return made;
}

test('a page: newest first, ten unless asked, and whether there is more', () => {
  const stage = new Stage();
  const empty = { object: 'list', url: '/v1/payment_intents', has_more: false, data: [] };
  assert.deepEqual(stage.read('list_payment_intents'), empty);
  const made = Array.from({ length: 11 }, () => createIntent(stage)).reverse();
  const page = stage.read('list_payment_intents');
  assert.deepEqual([ids(page), page.has_more], [made.slice(0, 10), true]);
  assert.deepEqual(page.data[0], stage.read('retrieve_payment_intent', {}, made[0]));
  const all = stage.read('list_payment_intents', { limit: 11 });
  assert.deepEqual([ids(all), all.has_more], [made, false]);
});

/** Cursor, limit, the positions of the page in the list, and whether there is more. */
const pages: readonly (readonly [object, number, number, boolean])[] = [
  [{ starting_after: 0, limit: 2 }, 1, 3, true],
  [{ starting_after: 2, limit: 2 }, 3, 5, false],
  [{ starting_after: 4, limit: 2 }, 5, 5, false],
  [{ ending_before: 4, limit: 2 }, 2, 4, true],
  [{ ending_before: 2, limit: 2 }, 0, 2, false],
  [{ ending_before: 3, limit: 1 }, 2, 3, true],
  [{ ending_before: 0, limit: 2 }, 0, 0, false],
  [{ ending_before: 4 }, 0, 4, false],
];

for (const [params, from, to, hasMore] of pages) {
  test(`cursors: ${JSON.stringify(params)}`, () => {
    const stage = new Stage();
    const made = fiveIntents(stage);
    const named = Object.entries(params).map(([name, value]) => [
      name,
      name === 'limit' ? value : made[value as number],
    ]);
    const page = stage.read('list_payment_intents', Object.fromEntries(named));
    assert.deepEqual([ids(page), page.has_more], [made.slice(from, to), hasMore]);
  });
}

test('a cursor that names nothing here, or something of another kind, mode or organization', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage);
  const live = createIntent(stage.as({ livemode: true }));
  const other = createIntent(stage.as({ org: 'org_other00000000000000000000' }));
  for (const name of ['starting_after', 'ending_before']) {
    for (const id of ['pi_x', charge, live, other]) {
      const { code, param, message } = stage.read('list_payment_intents', { [name]: id });
      assert.deepEqual([code, param], ['resource_missing', name]);
      assert.equal(/exists in live mode/.test(message), id === live);
    }
  }
});

/** Bounds in seconds after the start, and the positions of the five intents that are within. */
const ranges: readonly (readonly [object, number, number])[] = [
  [{ 'created[gte]': 1 }, 0, 4],
  [{ 'created[gt]': 1 }, 0, 3],
  [{ 'created[lte]': 1 }, 3, 5],
  [{ 'created[lt]': 1 }, 4, 5],
  [{ 'created[gte]': 1, 'created[lt]': 3 }, 2, 4],
  [{ 'created[gt]': 1, 'created[lte]': 3 }, 1, 3],
  [{ 'created[gte]': 1, 'created[gt]': 2, 'created[lte]': 9, 'created[lt]': 4 }, 1, 2],
  [{ 'created[gt]': 3, 'created[lt]': 4 }, 0, 0],
  [{ created: 2 }, 2, 3],
  [{ created: 9 }, 0, 0],
  [{ created: 2, 'created[gte]': 1, 'created[lte]': 2 }, 2, 3],
  [{ created: 2, 'created[gt]': 2 }, 0, 0],
  [{ 'created[gte]': 4, 'created[lte]': 1 }, 0, 0],
];

for (const [params, from, to] of ranges) {
  test(`created: ${JSON.stringify(params)}`, () => {
    const stage = new Stage();
    const start = stage.nowMs / 1000;
    const made = fiveIntents(stage);
    const bounds = Object.fromEntries(
      Object.entries(params).map(([name, seconds]) => [name, start + seconds]),
    );
    const page = stage.read('list_payment_intents', bounds);
    assert.deepEqual([ids(page), page.has_more], [made.slice(from, to), false]);
  });
}

test('created, with the ends of time', () => {
  const stage = new Stage();
  const made = fiveIntents(stage);
  const list = (params: object) => ids(stage.read('list_payment_intents', params));
  assert.deepEqual(list({ 'created[gte]': 0, 'created[lte]': 99_999_999_999 }), made);
  assert.deepEqual(list({ 'created[lt]': 0 }), []);
  assert.deepEqual(list({ 'created[gt]': 99_999_999_999 }), []);
  assert.ok(idFloor('pi', stage.nowMs) > made[0]!);
});

test('created and a cursor bound the same page', () => {
  const stage = new Stage();
  const start = stage.nowMs / 1000;
  const made = fiveIntents(stage);
  const list = (params: object) => ids(stage.read('list_payment_intents', params));
  assert.deepEqual(list({ 'created[gte]': start + 1, starting_after: made[1] }), made.slice(2, 4));
  assert.deepEqual(list({ 'created[lt]': start + 3, starting_after: made[0] }), made.slice(2));
  assert.deepEqual(list({ 'created[lte]': start + 3, ending_before: made[4], limit: 2 }), made.slice(2, 4));
  assert.deepEqual(list({ 'created[gt]': start + 2, ending_before: made[4] }), made.slice(0, 2));
});

test('payment intents by status and customer', () => {
  const stage = new Stage();
  const customer = stage.given('create_customer').id;
  const [fresh, canceled] = [0, 1].map(() => createIntent(stage, { customer }));
  const other = createIntent(stage);
  stage.given('cancel_payment_intent', {}, canceled);
  const list = (params: object) => ids(stage.read('list_payment_intents', params));
  assert.deepEqual(list({ customer }), [canceled, fresh]);
  assert.deepEqual(list({ status: 'requires_payment_method' }), [other, fresh]);
  assert.deepEqual(list({ status: 'requires_payment_method', customer }), [fresh]);
  assert.deepEqual(list({ status: 'succeeded', customer }), []);
  assert.deepEqual(list({ status: 'canceled', starting_after: fresh }), []);
  const page = stage.read('list_payment_intents', { customer, limit: 1 });
  assert.deepEqual([ids(page), page.has_more], [[canceled], true]);
});

test('charges and refunds by payment intent and status', () => {
  const stage = new Stage();
  const { intent, charge: failed } = scenes.declined(stage);
  const paid = openCharge(stage, intent);
  stage.given('complete_charge', {}, paid);
  const other = payByCard(stage).charge;
  const charges = (params: object) => ids(stage.read('list_charges', params));
  assert.deepEqual(charges({ payment_intent: intent }), [paid, failed]);
  assert.deepEqual(charges({ status: 'succeeded' }), [other, paid]);
  assert.deepEqual(charges({ payment_intent: intent, status: 'failed' }), [failed]);
  const [first, second] = [1, 2].map((amount) => stage.given('create_refund', { charge: paid, amount }).id);
  const third = stage.given('create_refund', { charge: other }).id;
  stage.given('fail_refund', {}, second);
  const refunds = (params: object) => ids(stage.read('list_refunds', params));
  assert.deepEqual(refunds({ payment_intent: intent }), [second, first]);
  assert.deepEqual(refunds({ status: 'pending' }), [third, first]);
  assert.deepEqual(refunds({ payment_intent: intent, status: 'pending' }), [first]);
});

test('a list with two filters reads the records that it shows, and one more', () => {
  const stage = new Stage();
  const customer = stage.given('create_customer').id;
  const fresh = createIntent(stage, { customer });
  for (let i = 0; i < 20; i++) {
    stage.given('cancel_payment_intent', {}, createIntent(stage, { customer }));
    createIntent(stage);
  }
  const { state } = stage.world;
  let reads = 0;
  const view: View = {
    get: (kind, id) => state.get(kind, id),
    *scan(index, range) {
      for (const record of state.scan(index, range)) {
        reads++;
        yield record;
      }
    },
  };
  const listed = (filters: Filters) => {
    reads = 0;
    const page = listPageOf(view, stage.queryContext, 'payment_intent', { limit: 2 }, filters);
    assert.ok('records' in page);
    return page.records.length;
  };
  assert.deepEqual([listed({ customer, status: 'requires_payment_method' }), reads], [1, 1]);
  assert.deepEqual([listed({ customer, status: 'canceled' }), reads], [2, 3]);
  assert.deepEqual([listed({ customer, status: undefined }), reads], [2, 3]);
  assert.equal(
    stage.read('list_payment_intents', { status: 'requires_payment_method', customer }).data[0].id,
    fresh,
  );
});

test('customers by e-mail address, events by type', () => {
  const stage = new Stage();
  const email = 'amina@shop.test';
  const [a, b] = [email, 'other@shop.test'].map((each) => stage.given('create_customer', { email: each }).id);
  assert.deepEqual(ids(stage.read('list_customers', { email })), [a]);
  stage.given('update_customer', { email }, b);
  assert.deepEqual(ids(stage.read('list_customers', { email })), [b, a]);
  payByCard(stage);
  const types = (params: object) =>
    stage.read('list_events', params).data.map(({ type }: { type: string }) => type);
  assert.deepEqual(types({ type: 'charge.succeeded' }), ['charge.succeeded']);
  assert.deepEqual(types({ type: 'payout.paid' }), []);
  assert.equal(types({}).length, 5);
});

const filters: readonly (readonly [QueryOperation, string])[] = [
  ['list_payment_intents', 'customer'],
  ['list_charges', 'payment_intent'],
  ['list_refunds', 'payment_intent'],
];

for (const [operation, name] of filters) {
  test(`${operation}: a ${name} that is not there`, () => {
    const { code, param } = new Stage().read(operation, { [name]: 'x' });
    assert.deepEqual([code, param], ['resource_missing', name]);
  });
}

/** Everything that is listed and read by id. */
const resources: readonly (readonly [QueryOperation, QueryOperation, string])[] = [
  ['list_payment_intents', 'retrieve_payment_intent', '/v1/payment_intents'],
  ['list_checkout_sessions', 'retrieve_checkout_session', '/v1/checkout/sessions'],
  ['list_refunds', 'retrieve_refund', '/v1/refunds'],
  ['list_charges', 'retrieve_charge', '/v1/charges'],
  ['list_customers', 'retrieve_customer', '/v1/customers'],
  ['list_reviews', 'retrieve_review', '/v1/reviews'],
  ['list_events', 'retrieve_event', '/v1/events'],
  ['list_webhook_endpoints', 'retrieve_webhook_endpoint', '/v1/webhook_endpoints'],
];

/** One of everything. */
function everything(stage: Stage): void {
  stage.given('create_webhook_endpoint', { url: 'https://a.test', enabled_events: ['*'] });
  stage.given('create_customer');
  createSession(stage);
  const { charge } = payByCard(stage);
  stage.given('create_refund', { charge });
  stage.given('complete_charge', { amount: 1 }, scenes.open(stage).charge);
}

for (const [list, retrieve, url] of resources) {
  test(`${list} and ${retrieve}: the same object, and only to whom it belongs`, () => {
    const stage = new Stage();
    const live = stage.as({ livemode: true });
    const other = stage.as({ org: 'org_other00000000000000000000' });
    for (const each of [stage, live, other]) everything(each);
    const page = stage.read(list, { limit: 100 });
    assert.equal(page.url, url);
    assert.ok(page.data.length > 0);
    for (const object of page.data) {
      assert.equal(object.livemode, false);
      assert.deepEqual(stage.read(retrieve, {}, object.id), object);
      assert.match(live.read(retrieve, {}, object.id).message, /exists in test mode/);
      assert.doesNotMatch(other.read(retrieve, {}, object.id).message, /mode/);
    }
    const elsewhere = [live, other].flatMap((each) => ids(each.read(list, { limit: 100 })));
    assert.equal(elsewhere.length, page.data.length * 2);
    assert.equal(new Set([...elsewhere, ...ids(page)]).size, page.data.length * 3);
    assert.equal(stage.read(retrieve, {}, 'x').code, 'resource_missing');
  });
}

test('the account: what it may do, and its limits', () => {
  const stage = new Stage();
  stage.offer({ card: true, cash: false });
  const account = stage.read('retrieve_account');
  assert.deepEqual(account.payment_methods, { card: 'available', cash: 'unavailable' });
  assert.deepEqual(account.limits.all, { per_minute: 600, burst: 100, source: 'default' });
  const live = stage.as({ livemode: true }).read('retrieve_account');
  assert.deepEqual([live.livemode, live.limits.payment_creation.burst], [true, 20]);
});
