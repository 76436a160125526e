// Webhook endpoints: how many there may be, which addresses are allowed, what an update changes, what a deletion leaves, and
// which secrets sign.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleIds } from '../../src/contract/openapi/examples.ts';
import { sentEventTypes } from '../../src/contract/vocabulary.ts';
import { createIntent } from './scenes.ts';
import { hourMs, refusalOf, Stage } from './stage.ts';

const url = 'https://shop.test/hooks';
const wanted = { url, enabled_events: ['*'] };
const create = (stage: Stage, more: object = {}): string =>
  stage.given('create_webhook_endpoint', { ...wanted, ...more }).id;

test('created once its address has been checked; the secret is shown once', () => {
  const stage = new Stage();
  const params = { ...wanted, metadata: { a: 'b' } };
  const first = stage.when('create_webhook_endpoint', params);
  assert.deepEqual(first.decision, { changes: [], outcome: { checksAddress: url }, networkCalls: [] });
  const step = stage.when('create_webhook_endpoint', params, '', { addressAllowed: true }).expect({
    answer: {
      url,
      enabled_events: ['*'],
      status: 'enabled',
      metadata: { a: 'b' },
      api_version: '2026-11-01',
    },
    changes: ['webhook_endpoint enabled'],
  });
  const { id, secret } = step.answer;
  assert.match(secret, /^svc_whsec_[0-9A-Za-z]{32}$/);
  assert.ok('storedBody' in step.outcome);
  assert.deepEqual(JSON.parse(step.outcome.storedBody!), { ...step.answer, secret: null });
  assert.equal(stage.read('retrieve_webhook_endpoint', {}, id).secret, null);
  assert.equal(stage.read('list_webhook_endpoints').data[0].secret, null);
  assert.equal(stage.given('update_webhook_endpoint', {}, id).secret, null);
});

test('an address that is not allowed', () => {
  const stage = new Stage();
  const refused = { addressAllowed: false };
  stage.when('create_webhook_endpoint', wanted, '', refused).expect({ refusal: ['url_not_allowed', 'url'] });
  const id = create(stage);
  const update = (params: object) => stage.when('update_webhook_endpoint', params, id, refused);
  update({ url: 'https://other.test' }).expect({ refusal: ['url_not_allowed', 'url'] });
  update({ url, metadata: { a: 'b' } }).expect({ answer: { url, metadata: { a: 'b' } } });
});

test('all events are asked for by * alone', () => {
  const stage = new Stage();
  const id = create(stage);
  const mixed = { enabled_events: ['*', 'refund.failed'] };
  const refusal = { refusal: ['parameter_invalid', 'enabled_events'] } as const;
  stage.when('create_webhook_endpoint', { ...wanted, ...mixed }).expect(refusal);
  stage.when('update_webhook_endpoint', mixed, id).expect(refusal);
  stage.when('update_webhook_endpoint', { enabled_events: ['*'] }, id).expect({ answer: wanted });
});

test('a new address in an update is checked, too', () => {
  const stage = new Stage();
  const id = create(stage);
  const params = { url: 'https://new.test/', enabled_events: ['refund.failed'] };
  const { outcome } = stage.when('update_webhook_endpoint', params, id);
  assert.deepEqual(outcome, { checksAddress: params.url });
  stage
    .when('update_webhook_endpoint', params, id, { addressAllowed: true })
    .expect({ answer: params, changes: ['webhook_endpoint enabled'] });
});

test('versions', () => {
  const stage = new Stage();
  assert.ok(create(stage, { api_version: '2026-11-01' }));
  const { outcome } = stage.when('create_webhook_endpoint', { ...wanted, api_version: '2020-01-01' });
  assert.ok('refusal' in outcome);
  const { code, param, message } = refusalOf(outcome.refusal);
  assert.deepEqual([code, param], ['api_version_invalid', 'api_version']);
  assert.match(message, /2026-11-01/);
});

test('sixteen in a mode', () => {
  const stage = new Stage();
  const live = stage.as({ livemode: true });
  const ids = Array.from({ length: 16 }, () => create(stage));
  const allowed = { addressAllowed: true };
  const another = () => stage.when('create_webhook_endpoint', wanted, '', allowed);
  another().expect({ refusal: ['webhook_endpoint_limit_reached', null] });
  stage.given('update_webhook_endpoint', { disabled: true }, ids[0]);
  another().expect({ refusal: 'webhook_endpoint_limit_reached' });
  create(live);
  stage.given('delete_webhook_endpoint', {}, ids[1]);
  another().expect({ changes: ['webhook_endpoint enabled'] });
  another().expect({ refusal: 'webhook_endpoint_limit_reached' });
});

test('while the address of another one is looked up, all changes are busy', () => {
  const stage = new Stage();
  const id = create(stage);
  const busy = { endpointsBusy: true };
  const refusal = 'webhook_endpoints_busy';
  stage.when('create_webhook_endpoint', wanted, '', busy).expect({ refusal });
  stage.when('update_webhook_endpoint', { disabled: true }, id, busy).expect({ refusal });
  stage.when('delete_webhook_endpoint', {}, id, busy).expect({ refusal });
  stage.when('delete_webhook_endpoint', {}, 'we_x', busy).expect({ refusal: 'resource_missing' });
});

test('metadata is merged, disabled pauses, and what is not sent stays', () => {
  const stage = new Stage();
  const id = create(stage, { metadata: { a: '1', b: '2' } });
  const update = (params: object, answer: object) =>
    stage.when('update_webhook_endpoint', params, id).expect({ answer });
  update({ metadata: { a: '', c: '3' } }, { metadata: { b: '2', c: '3' }, status: 'enabled', url });
  update({ disabled: true }, { metadata: { b: '2', c: '3' }, status: 'disabled' });
  update({ metadata: { d: '4' } }, { metadata: { b: '2', c: '3', d: '4' }, status: 'disabled' });
  update({ disabled: false }, { status: 'enabled', enabled_events: ['*'] });
});

test('events reach the endpoints that want them and are enabled, in their own mode', () => {
  const stage = new Stage();
  const all = create(stage);
  const some = create(stage, { enabled_events: ['payment_intent.created', 'payout.paid'] });
  create(stage, { enabled_events: ['refund.created'] });
  const disabled = create(stage);
  stage.given('update_webhook_endpoint', { disabled: true }, disabled);
  create(stage.as({ livemode: true }));
  create(stage.as({ org: 'org_other00000000000000000000' }));
  const { decision } = stage.when('create_payment_intent', { amount: 100, currency: 'mad' });
  const deliveries = decision.changes.flatMap((change) => (change.kind === 'delivery' ? [change] : []));
  assert.deepEqual(
    deliveries.map(({ endpoint, event_type, status, due_at_ms }) => [
      endpoint,
      event_type,
      status,
      due_at_ms,
    ]),
    [all, some].map((id) => [id, 'payment_intent.created', 'pending', stage.nowMs]),
  );
  const [event] = stage.read('list_events').data;
  assert.equal(event.pending_webhooks, 2);
  assert.deepEqual(new Set(deliveries.map((delivery) => delivery.event)), new Set([event.id]));
});

test('deleted: gone for merchants, and what it waited for ends', () => {
  const stage = new Stage();
  const id = create(stage);
  const kept = create(stage);
  for (let i = 0; i < 129; i++) createIntent(stage);
  const gone = { id, object: 'webhook_endpoint', deleted: true };
  assert.deepEqual(stage.given('delete_webhook_endpoint', {}, id), gone);
  assert.deepEqual(stage.get('webhook_endpoint', id).secrets, []);
  const refusal = 'resource_missing';
  stage.when('update_webhook_endpoint', {}, id).expect({ refusal });
  stage.when('delete_webhook_endpoint', {}, id).expect({ refusal });
  stage.when('roll_secret', { overlapSeconds: 1 }, id).expect({ refusal });
  assert.equal(stage.read('retrieve_webhook_endpoint', {}, id).code, refusal);
  const other = stage.as({ livemode: true });
  assert.doesNotMatch(other.read('retrieve_webhook_endpoint', {}, id).message, /mode/, 'it exists nowhere');
  const page = { starting_after: id };
  assert.equal(stage.read('list_webhook_endpoints', page).code, refusal, 'nor as a cursor');
  assert.deepEqual(
    stage.read('list_webhook_endpoints').data.map((endpoint: { id: string }) => endpoint.id),
    [kept],
  );
  const ends = () => stage.when('drain_endpoint', {}, id).changes;
  assert.equal(ends().length, 128, 'some at a time');
  assert.deepEqual(ends(), ['delivery ended', 'webhook_endpoint deleted']);
  assert.deepEqual(ends(), []);
  assert.equal(stage.read('list_events', { limit: 1 }).data[0].pending_webhooks, 1);
  stage.when('drain_endpoint', {}, kept).expect({ changes: [] });
});

test('rolling a secret: the old ones sign until their overlap ends', () => {
  const stage = new Stage();
  const id = create(stage);
  const secrets = () => stage.get('webhook_endpoint', id).secrets;
  const sealed = (secret: string) => `${id} ${secret}`;
  const first = secrets()[0]!.sealed;
  const { secret: second } = stage.given('roll_secret', { overlapSeconds: 7200 }, id);
  assert.deepEqual(secrets(), [
    { sealed: sealed(second), expires_at_ms: null },
    { sealed: first, expires_at_ms: stage.nowMs + 2 * hourMs },
  ]);
  stage.advance(hourMs);
  const { secret: third } = stage.given('roll_secret', { overlapSeconds: 36_000 }, id);
  assert.deepEqual(secrets(), [
    { sealed: sealed(third), expires_at_ms: null },
    { sealed: sealed(second), expires_at_ms: stage.nowMs + 10 * hourMs },
    { sealed: first, expires_at_ms: stage.nowMs + hourMs },
  ]);
  stage.advance(hourMs);
  const { secret: fourth } = stage.given('roll_secret', { overlapSeconds: 0 }, id);
  assert.deepEqual(secrets(), [{ sealed: sealed(fourth), expires_at_ms: null }], 'at once');
  assert.equal(new Set([first, ...[second, third, fourth].map(sealed)]).size, 4);
});

test('rolling a secret again and again: the newest four sign', () => {
  const stage = new Stage();
  const id = create(stage);
  const roll = (): string => stage.given('roll_secret', { overlapSeconds: 7200 }, id).secret;
  const rolled = Array.from({ length: 6 }, roll);
  const inForce = stage.get('webhook_endpoint', id).secrets.map(({ sealed }) => sealed);
  const newest = rolled.slice(-4).reverse();
  assert.deepEqual(
    inForce,
    newest.map((secret) => `${id} ${secret}`),
  );
});

test('a sample of every type that happens: an event and one delivery, wanted or not', () => {
  const stage = new Stage();
  const id = create(stage, { enabled_events: ['refund.failed'] });
  create(stage);
  for (const type of sentEventTypes) {
    // The endpoint counts what is sent by hand.
    const changes = ['delivery pending', 'webhook_endpoint enabled'];
    const step = stage.when('send_sample', { type }, id).expect({ events: [type], changes });
    const idOf = (kind: string) => step.decision.changes.find((change) => change.kind === kind)!.id;
    assert.deepEqual(step.answer, { event: idOf('event'), delivery: idOf('delivery') });
  }
});

test("the object of a sample is of now, and its ids are nobody's", () => {
  const stage = new Stage();
  const id = create(stage);
  for (const type of sentEventTypes) {
    stage.when('send_sample', { type }, id);
    const { created, data } = stage.read('list_events').data[0];
    const { object } = data;
    assert.equal(object.created, created, type);
    assert.ok((object.expires_at ?? Number.POSITIVE_INFINITY) > created, type);
    const text = JSON.stringify(object);
    for (const example of Object.values(exampleIds)) assert.ok(!text.includes(example), `${type}: ${text}`);
  }
  const request = stage.newRequest('fr');
  stage.advance(120_000);
  stage.when('send_sample', { type: 'charge.failed' }, id, { request });
  const { failure_message: message } = stage.read('list_events').data[0].data.object;
  assert.match(message, /^La carte a été refusée/);
});

test('a sample says that it is one, and what really happened says nothing about it', () => {
  const stage = new Stage();
  const id = create(stage);
  stage.when('send_sample', { type: 'payment_intent.created' }, id);
  stage.given('create_payment_intent', { amount: 5_000, currency: 'mad' });
  const { data } = stage.read('list_events') as { data: { livemode: boolean; sample?: true }[] };
  assert.deepEqual(
    data.map(({ livemode, sample }) => ({ livemode, sample })),
    [
      { livemode: false, sample: undefined },
      { livemode: false, sample: true },
    ],
  );
});

test('no sample for an endpoint that is disabled, in live mode, or gone', () => {
  const stage = new Stage();
  const id = create(stage);
  const refusal = (of: Stage, endpoint: string) =>
    of.when('send_sample', { type: 'charge.failed' }, endpoint).code;
  stage.given('update_webhook_endpoint', { disabled: true }, id);
  assert.equal(refusal(stage, id), 'invalid_request');
  stage.given('delete_webhook_endpoint', {}, id);
  assert.equal(refusal(stage, id), 'resource_missing');
  const live = stage.as({ livemode: true });
  assert.equal(refusal(live, create(live)), 'test_mode_only');
});
