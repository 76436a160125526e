// What pages, operators and networks ask a shard beside API requests, and the commands that they give.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routeTable } from '../../src/contract/routes/table.ts';
import { causes } from '../../src/domain/cause.ts';
import { everyPayment } from '../../src/domain/payment-search.ts';
import { Actor, org, settled, startMs } from './actor.ts';

const create = 'POST /v1/payment_intents';
const order = { amount: 12_000, currency: 'mad' };
const missing = '_0000000000000000000000000';
const inScope = { org, livemode: false } as const;
type Question = Parameters<Actor['ask']>[0];

/** The answer's body as a value. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function ask(actor: Actor, question: Question): Promise<any> {
  const answer = await actor.ask(question);
  assert.ok(answer.ok, JSON.stringify(answer));
  return JSON.parse(answer.body);
}

async function refusal(actor: Actor, question: Question): Promise<string> {
  const answer = await actor.ask(question);
  assert.ok(!answer.ok && answer.message.length > 0);
  return answer.code;
}

async function intents(actor: Actor, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await actor.send(create, { body: order, key: `k${n}` })).json.id);
  return ids;
}

/** Creates a webhook endpoint for all events, whose address passes the check. */
async function createEndpoint(actor: Actor, name: string): Promise<string> {
  const body = { url: `https://${name}.test/hook`, enabled_events: ['*'] };
  const answer = actor.send('POST /v1/webhook_endpoints', { body });
  await settled();
  actor.lookUps.at(-1)!.settle(true);
  return (await answer).json.id;
}

const command = { kind: 'command', language: 'en', cause: causes.operator, params: {} } as const;

test('a command is run for the organization of the record that it is about', async () => {
  const actor = new Actor();
  const [id] = await intents(actor, 1);
  const canceled = await ask(actor, { ...command, operation: 'cancel_payment_intent', id: id! });
  assert.equal(canceled.status, 'canceled');
  const again = { ...command, operation: 'cancel_payment_intent', id: id! } as const;
  assert.equal(await refusal(actor, again), 'payment_intent_unexpected_state');
  for (const about of [`pi${missing}`, `nothing${missing}`, org, `req${missing}`, ''])
    assert.equal(
      await refusal(actor, { ...command, operation: 'cancel_payment_intent', id: about }),
      'resource_missing',
      about,
    );
});

test('a command about no record yet names its organization and mode', async () => {
  const actor = new Actor();
  const params = { email: 'a@shop.test', metadata: {} };
  const made = await ask(actor, {
    ...command,
    operation: 'create_customer',
    id: '',
    params,
    scope: { org, livemode: true },
  });
  assert.deepEqual([made.email, made.livemode], ['a@shop.test', true]);
  assert.equal((await actor.send(`GET /v1/customers/${made.id}`, { livemode: true })).status, 200);
});

test('a record is shown as it is stored, by its id', async () => {
  const actor = new Actor();
  const [id] = await intents(actor, 1);
  const record = await ask(actor, { kind: 'record', id: id! });
  assert.deepEqual([record.kind, record.id, record.amount], ['payment_intent', id, order.amount]);
  for (const about of [`pi${missing}`, `nothing${missing}`, org, `req${missing}`])
    assert.equal(await refusal(actor, { kind: 'record', id: about }), 'resource_missing', about);
});

test('the newest records of an index are shown, and those before one of them', async () => {
  const actor = new Actor();
  const made = await intents(actor, 5);
  const index = `payment_intent/${org}/t`;
  const ids = async (limit: number, before?: string) =>
    (await ask(actor, { kind: 'records', index, limit, before })).map((record: { id: string }) => record.id);
  assert.deepEqual(await ids(2), [made[4], made[3]]);
  assert.deepEqual(await ids(9), made.toReversed());
  assert.deepEqual(await ids(2, made[3]), [made[2], made[1]]);
  assert.deepEqual(await ids(2, made[0]), []);
});

test('events are followed from a place on, oldest first', async () => {
  const actor = new Actor();
  const question = { kind: 'events_after', ...inScope, limit: 2 } as const;
  assert.deepEqual(await actor.ask({ ...question, after: null }), { ok: true, body: '[]', cursor: '' });
  const made = await intents(actor, 3);
  const newest = await actor.ask({ ...question, after: null });
  assert.ok(newest.ok && newest.body === '[]' && newest.cursor !== '');
  const seen: string[] = [];
  let after = '';
  for (const expected of [2, 1, 0]) {
    const answer = await actor.ask({ ...question, after });
    assert.ok(answer.ok);
    const events: { id: string; type: string; body: string }[] = JSON.parse(answer.body);
    assert.equal(events.length, expected);
    for (const { id, type, body } of events) {
      assert.equal(JSON.parse(body).id, id);
      assert.equal(JSON.parse(body).type, type);
      seen.push(JSON.parse(body).data.object.id);
    }
    assert.equal(answer.cursor, events.at(-1)?.id ?? after);
    after = answer.cursor!;
  }
  assert.deepEqual(seen, made);
  assert.equal(after, newest.cursor);
  const live = await actor.ask({ ...question, livemode: true, after: '' });
  assert.deepEqual(live, { ok: true, body: '[]', cursor: '' });
});

test('a page of an export is as its request says, and only a route of an export has one', async () => {
  const actor = new Actor();
  const [first, second] = await intents(actor, 2);
  const routeOf = (operation: string) => routeTable.findIndex((route) => route.operation === operation);
  const question = {
    kind: 'export_page',
    ...inScope,
    route: routeOf('export_payment_intents'),
    cursor: '',
  } as const;
  const answer = await actor.ask({ ...question, query: 'format=ndjson' });
  assert.ok(answer.ok);
  const ids = answer.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  assert.deepEqual([ids, answer.cursor], [[second, first], null]);
  const table = await actor.ask({ ...question, query: '' });
  assert.ok(table.ok && table.body.startsWith('id,created,'), 'a table unless asked otherwise');
  assert.equal(await refusal(actor, { ...question, query: 'limit=x' }), 'parameter_unknown');
  const none = new Actor();
  await none.recovered;
  none.ask({ ...question, route: routeOf('list_payment_intents'), query: '' });
  await settled();
  assert.match(String(none.failures[0] ?? ''), /is no export/);
});

test('an export that is over makes room for the next one', async () => {
  const actor = new Actor();
  await actor.recovered;
  const begun = await actor.send('GET /v1/exports/payment_intents');
  const scope = actor.shard.state.scopes.get(org, false, {
    nowMs: actor.clock.now(),
    serviceMs: actor.clock.monotonic(),
  });
  assert.equal(scope.exports.size, 1);
  const [requestId] = [...scope.exports.keys()];
  const over = await actor.ask({ kind: 'export_ended', ...inScope, requestId: requestId! });
  assert.deepEqual([begun.status, over, scope.exports.size], [200, { ok: true, body: '' }, 0]);
});

test('a payment page shows the merchant, and what is not there is missing', async () => {
  const actor = new Actor();
  const body = { ...order, success_url: 'https://shop.test/thanks' };
  const session = (await actor.send('POST /v1/checkout/sessions', { body, key: 's' })).json;
  const view = await ask(actor, { kind: 'view_payment', id: session.id });
  assert.equal(typeof view.merchant, 'string');
  assert.deepEqual(Object.keys(view.branding).sort(), ['colour', 'logoUrl']);
  assert.ok('card_page' in view && 'agents' in view);
  for (const kind of ['view_payment', 'view_link'] as const)
    for (const id of [`cs${missing}`, `pl${missing}`])
      assert.equal(await refusal(actor, { kind, id }), 'resource_missing');
});

test('a payment link is listed, and shown with its merchant', async () => {
  const actor = new Actor();
  const params = {
    order: {
      amount: 500,
      currency: 'mad',
      success_url: 'https://shop.test/thanks',
      payment_method_types: ['card'],
    },
    single_use: true,
    lasts_ms: null,
    made_with: 'form',
  };
  const { id } = await ask(actor, {
    ...command,
    operation: 'create_payment_link',
    id: '',
    params,
    scope: inScope,
  });
  const view = await ask(actor, { kind: 'view_link', id });
  assert.equal(typeof view.merchant, 'string');
  assert.deepEqual(Object.keys(view.branding).sort(), ['colour', 'logoUrl']);
  const { merchant, branding, ...shown } = view;
  assert.deepEqual(await ask(actor, { kind: 'payment_links', ...inScope }), [shown]);
  assert.deepEqual(await ask(actor, { kind: 'payment_links', org, livemode: true }), []);
});

test('searches, stories, named charges, periods and limits are answered for the organization that asks', async () => {
  const actor = new Actor();
  const [id] = await intents(actor, 1);
  const found = await ask(actor, { kind: 'search_payments', ...inScope, search: everyPayment });
  assert.match(JSON.stringify(found), new RegExp(id!));
  assert.doesNotMatch(
    JSON.stringify(await ask(actor, { kind: 'search_payments', org, livemode: true, search: everyPayment })),
    new RegExp(id!),
  );
  assert.match(
    JSON.stringify(await ask(actor, { kind: 'payment_story', ...inScope, reference: id! })),
    new RegExp(id!),
  );
  assert.equal(await ask(actor, { kind: 'payment_story', org, livemode: true, reference: id! }), null);
  assert.deepEqual(await ask(actor, { kind: 'charges_named', ...inScope, names: ['ch_1'] }), [null]);
  const levels = await ask(actor, { kind: 'limit_levels', ...inScope });
  assert.notDeepEqual(levels, await ask(actor, { kind: 'limit_levels', org, livemode: true }));
});

test('a shard says what time it is, in both of its times', async () => {
  const actor = new Actor();
  const first = await ask(actor, { kind: 'now' });
  actor.clock.set(startMs + 3_600_000);
  assert.deepEqual(await ask(actor, { kind: 'now' }), first);
  actor.clock.advance(301_000);
  const last = await ask(actor, { kind: 'now' });
  assert.deepEqual(
    [last.nowMs - startMs, last.serviceMs - first.serviceMs],
    [3_600_000 + 301_000, 301_000],
    'a clock that stays set is followed',
  );
});

test('an endpoint that is enabled says when its next attempt is, and what fails is listed', async () => {
  const actor = new Actor();
  const endpoints = [await createEndpoint(actor, 'a'), await createEndpoint(actor, 'b')];
  await intents(actor, 1);
  const healths = () => ask(actor, { kind: 'endpoint_health', ...inScope });
  actor.clock.advance(5_000);
  assert.deepEqual(
    await healths(),
    endpoints.map((id) => ({ id, enabled: true, nextAttemptMs: startMs + 5_000, health: null })),
    'one that is due is due now',
  );
  const atMs = actor.clock.now();
  const result = { at_ms: atMs, duration_ms: 1, status: 500, failure: 'answered 500', answer: '' };
  for (const id of endpoints) actor.shard.state.health.add(id, result);
  const failing = (limit: number) => ask(actor, { kind: 'failing_endpoints', limit });
  const { count, listed } = await failing(1);
  assert.deepEqual([count, listed.length, listed[0].now.enabled], [2, 1, true]);
  assert.deepEqual([listed[0].endpoint.id, listed[0].now.id], [listed[0].now.id, listed[0].endpoint.id]);
  await actor.send(`POST /v1/webhook_endpoints/${endpoints[0]}`, { body: { disabled: true } });
  const [disabled, enabled] = await healths();
  assert.deepEqual([disabled.enabled, disabled.nextAttemptMs], [false, null]);
  assert.deepEqual([enabled.enabled, enabled.health.failed], [true, 1]);
  assert.deepEqual((await failing(5)).count, 1);
});
