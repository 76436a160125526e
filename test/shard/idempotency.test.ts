// Idempotency in a shard: which requests get a stored response, which run again, and which are
// refused. This is tested within a commit batch, while the disk writes, during network calls and
// address look-ups, and over restarts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { openNetworkCalls } from '../../src/shard/recover.ts';
import { Actor, type Answer, account, isOpen, settled } from './actor.ts';

const create = 'POST /v1/payment_intents';
const intent = { amount: 12_000, currency: 'mad' };
const hourMs = 3_600_000;
const endpoint = { url: 'https://shop.example/hooks', enabled_events: ['*'] };

const codeOf = ({ json }: Answer): string | undefined => json.error?.code;

function assertReplay(replay: Answer, first: Answer): void {
  assert.equal(replay.replayed, true);
  assert.equal(replay.originalRequest, first.requestId);
  assert.deepEqual([replay.status, replay.text], [first.status, first.text]);
}

async function listed(actor: Actor): Promise<number> {
  return (await actor.send('GET /v1/payment_intents?limit=100')).json.data.length;
}

/** An intent and the request that confirms it, which waits for the network. */
async function confirming(actor: Actor) {
  const { json } = await actor.send(create, { body: intent, key: 'intent' });
  const confirm = `POST /v1/payment_intents/${json.id}/confirm`;
  const first = actor.send(confirm, { key: 'confirm' });
  await settled();
  return { confirm, first, id: json.id as string };
}

test('the stored response is replayed byte for byte, and nothing runs again', async () => {
  const actor = new Actor();
  const first = await actor.send(create, { body: intent, key: 'a' });
  assert.equal(first.replayed, false);
  for (const body of [intent, { currency: 'mad', amount: 12_000.0, payment_method_types: ['card'] }]) {
    assertReplay(await actor.send(create, { body, key: 'a' }), first);
  }
  assert.equal(await listed(actor), 1);
});

for (const [what, readResponse] of [
  ['is damaged', () => assert.fail(new JournalDamaged('it has no readable stored response at offset 0'))],
  ['is gone with its segment', () => undefined],
] as const) {
  test(`a stored response that ${what}: the request does not run again, and all else goes on`, async () => {
    const actor = new Actor();
    const first = await actor.send(create, { body: intent, key: 'a' });
    actor.readResponse = readResponse;
    const again = await actor.send(create, { body: intent, key: 'a' });
    assert.deepEqual([again.status, again.json.error.code, again.replayed], [500, 'api_error', false]);
    assert.match(again.json.error.message, /carried out/);
    assert.equal(actor.damages.length, 1);
    const other = { ...intent, amount: 99_900 };
    assert.equal(
      (await actor.send(create, { body: other, key: 'a' })).json.error.code,
      'idempotency_key_reused',
    );
    assert.equal((await actor.send(create, { body: intent, key: 'b' })).status, 200);
    assert.equal(await listed(actor), 2);
    assert.deepEqual(actor.failures, []);
    actor.readResponse = null;
    assertReplay(await actor.send(create, { body: intent, key: 'a' }), first);
  });
}

test('the same key twice in one commit batch: the second is a replay of the first', async () => {
  const actor = new Actor();
  const [first, second] = await actor.sendTogether(
    [create, { body: intent, key: 'a' }],
    [create, { body: intent, key: 'a' }],
  );
  assertReplay(second!, first!);
  assert.equal(await listed(actor), 1);
});

test('the same key for another request in one commit batch is refused', async () => {
  const actor = new Actor();
  const [, second] = await actor.sendTogether(
    [create, { body: intent, key: 'a' }],
    [create, { body: { ...intent, amount: 12_001 }, key: 'a' }],
  );
  assert.equal(codeOf(second!), 'idempotency_key_reused');
});

test('a replay while the first answer is being written waits for the disk, and then is one', async () => {
  const actor = new Actor();
  actor.holdDisk();
  const first = actor.send(create, { body: intent, key: 'a' });
  await settled();
  const second = actor.send(create, { body: intent, key: 'a' });
  assert.equal(await isOpen(Promise.race([first, second])), true);
  await actor.releaseDisk();
  assertReplay(await second, await first);
});

test('what was being written when the disk failed is forgotten: the same key runs', async () => {
  const actor = new Actor();
  actor.journal.failNextAppend();
  const lost = actor.send(create, { body: intent, key: 'a' });
  assert.equal(await isOpen(lost), true);
  await actor.restart();
  const again = await actor.send(create, { body: intent, key: 'a' });
  assert.deepEqual([again.status, again.replayed], [200, false]);
  assert.equal(await listed(actor), 1);
});

const different: readonly (readonly [what: string, request: string, sent: object])[] = [
  ['another body', create, { body: { ...intent, amount: 5_000 } }],
  ['a body that is not valid', create, { body: { ...intent, colour: 'red' } }],
  ['another query string', `${create}?a=b`, { body: intent }],
  ['another path', 'POST /v1/checkout/sessions', { body: intent }],
];
for (const [what, request, sent] of different) {
  test(`a known key with ${what} is refused and does nothing`, async () => {
    const actor = new Actor();
    const first = await actor.send(create, { body: intent, key: 'a' });
    const refused = await actor.send(request, { ...sent, key: 'a' });
    assert.equal(refused.status, 400);
    assert.equal(codeOf(refused), 'idempotency_key_reused');
    assert.equal(refused.json.error.type, 'idempotency_error');
    assertReplay(await actor.send(create, { body: intent, key: 'a' }), first);
  });
}

test('a known key for the same request of another object is refused and does nothing', async () => {
  const actor = new Actor();
  const made = await Promise.all(['b', 'c'].map((key) => actor.send(create, { body: intent, key })));
  const [first, second] = made.map(({ json }) => `/v1/payment_intents/${json.id}`);
  assert.equal((await actor.send(`POST ${first}/cancel`, { key: 'a' })).status, 200);
  assert.equal(codeOf(await actor.send(`POST ${second}/cancel`, { key: 'a' })), 'idempotency_key_reused');
  assert.notEqual((await actor.send(`GET ${second}`)).json.status, 'canceled');
});

test('a key belongs to its mode: in the other one it is new', async () => {
  const actor = new Actor();
  const first = await actor.send(create, { body: intent, key: 'a' });
  const live = await actor.send(create, { body: intent, key: 'a', livemode: true });
  assert.deepEqual([live.status, live.replayed, live.json.livemode], [200, false, true]);
  assert.notEqual(live.json.id, first.json.id);
});

test('a GET and a DELETE ignore the key', async () => {
  const actor = new Actor();
  const { json } = await actor.send('POST /v1/customers', { key: 'a' });
  const path = `/v1/customers/${json.id}`;
  for (const request of [`GET ${path}`, `DELETE ${path}`, `GET ${path}`]) {
    const answer = await actor.send(request, { key: 'a' });
    assert.deepEqual([answer.status, answer.replayed], [200, false]);
  }
  assert.equal((await actor.send(`GET ${path}`, { key: 'é'.repeat(999) })).json.deleted, true);
});

const badKeys: readonly (readonly [what: string, key: string])[] = [
  ['empty', ''],
  ['too long', 'k'.repeat(256)],
  ['with a letter outside ASCII', 'clé'],
  ['with a tab', 'a\tb'],
  ['with a delete character', 'a\x7f'],
  ['a card number', '4242424242424242'],
  ['with a card number in it', 'order 4242 4242 4242 4242'],
];
for (const [what, key] of badKeys) {
  test(`a key that is ${what} is refused`, async () => {
    const refused = await new Actor().send(create, { body: intent, key });
    assert.deepEqual([refused.status, codeOf(refused)], [400, 'parameter_invalid']);
    assert.equal(refused.json.error.param, 'Idempotency-Key');
    assert.doesNotMatch(refused.text, /4242/);
  });
}

test('the longest key, and one of spaces, are keys', async () => {
  const actor = new Actor();
  for (const key of ['k'.repeat(255), ' ', '~!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}']) {
    const first = await actor.send(create, { body: intent, key });
    assertReplay(await actor.send(create, { body: intent, key }), first);
  }
});

// What is kept and what is not.

test('a refusal on the merits is kept, with the id and the language of the first request', async () => {
  const actor = new Actor();
  const body = { ...intent, amount: 99 };
  const first = await actor.send(create, { body, key: 'a', language: 'fr' });
  assert.equal(codeOf(first), 'amount_too_small');
  assert.equal(first.json.error.request_id, first.requestId);
  const replay = await actor.send(create, { body, key: 'a', language: 'ar' });
  assertReplay(replay, first);
  assert.equal(replay.json.error.request_id, first.requestId);
});

const notKept: readonly (readonly [what: string, code: string, request: string, sent: object])[] = [
  ['an unknown parameter', 'parameter_unknown', create, { body: { ...intent, colour: 'red' } }],
  ['a missing one', 'parameter_missing', create, { body: { currency: 'mad' } }],
  ['an invalid one', 'parameter_invalid', create, { body: { ...intent, amount: '12000' } }],
  ['a card number', 'parameter_invalid', create, { body: { ...intent, description: '4242424242424242' } }],
  ['a body that is no JSON', 'invalid_request', create, { body: '{' }],
  ['another content type', 'invalid_request', create, { body: intent, wrongContentType: true }],
  ['a parameter in the query', 'parameter_unknown', `${create}?limit=1`, { body: intent }],
];
for (const [what, code, request, sent] of notKept) {
  test(`a request that is refused for ${what} is not kept: the corrected one may use its key`, async () => {
    const actor = new Actor();
    assert.equal(codeOf(await actor.send(request, { ...sent, key: 'a' })), code);
    const corrected = await actor.send(create, { body: intent, key: 'a' });
    assert.deepEqual([corrected.status, corrected.replayed], [200, false]);
  });
}

test('a parameter that the operation itself misses is not kept either', async () => {
  const actor = new Actor();
  const refused = await actor.send('POST /v1/refunds', { body: {}, key: 'a' });
  assert.equal(codeOf(refused), 'parameter_missing');
  const corrected = await actor.send(create, { body: intent, key: 'a' });
  assert.deepEqual([corrected.status, corrected.replayed], [200, false]);
});

test('a refusal by a rate limit is not kept, and a replay spends like any other request', async () => {
  const actor = new Actor();
  const few = { perMinute: 6, source: 'custom', untilMs: null } as const;
  const test = { ...account.limits.test, buckets: { ...account.limits.test.buckets, writes: few } };
  actor.shard.putAccount({ ...account, limits: { ...account.limits, test } });
  const first = await actor.send(create, { body: intent, key: 'a' });
  for (let left = 5; left >= 0; left--) {
    const replay = await actor.send(create, { body: intent, key: 'a' });
    assert.deepEqual([replay.replayed, replay.remaining], [true, left]);
  }
  for (const key of ['a', 'b']) {
    const refused = await actor.send(create, { body: intent, key });
    assert.deepEqual([refused.status, codeOf(refused)], [429, 'rate_limit_exceeded']);
    assert.deepEqual([refused.replayed, refused.retryAfterSeconds, refused.remaining], [false, 10, 0]);
  }
  actor.clock.advance(20_000);
  assertReplay(await actor.send(create, { body: intent, key: 'a' }), first);
  assert.equal((await actor.send(create, { body: intent, key: 'b' })).replayed, false);
});

test('a refusal by the daily cap is not kept', async () => {
  const actor = new Actor();
  const test = { ...account.limits.test, dailyPaymentCreations: 1 };
  actor.shard.putAccount({ ...account, limits: { ...account.limits, test } });
  await actor.send(create, { body: intent, key: 'a' });
  const refused = await actor.send(create, { body: intent, key: 'b' });
  assert.equal(codeOf(refused), 'test_daily_cap_reached');
  actor.clock.advance(24 * hourMs);
  assert.equal((await actor.send(create, { body: intent, key: 'b' })).status, 200);
});

test('a 503 of a network that failed is not kept: the same key runs again', async () => {
  const actor = new Actor();
  const { confirm, first } = await confirming(actor);
  await actor.settle({ result: 'failed', reason: 'down' });
  const failed = await first;
  assert.deepEqual([failed.status, codeOf(failed), failed.retryAfterSeconds], [503, 'api_error', 1]);
  const second = actor.send(confirm, { key: 'confirm' });
  await settled();
  assert.equal(actor.networkCalls.length, 2);
  await actor.settle({ result: 'done' });
  assert.deepEqual([(await second).status, (await second).replayed], [200, false]);
});

test('a refusal as busy is not kept: the same key runs again', async () => {
  const actor = new Actor();
  const { id, first } = await confirming(actor);
  const cancel = `POST /v1/payment_intents/${id}/cancel`;
  const busy = await actor.send(cancel, { key: 'cancel' });
  assert.deepEqual([busy.status, codeOf(busy)], [409, 'payment_intent_busy']);
  await actor.settle({ result: 'done' });
  await first;
  const canceled = await actor.send(cancel, { key: 'cancel' });
  assert.deepEqual([canceled.status, canceled.replayed, canceled.json.status], [200, false, 'canceled']);
});

test('an answer of 64 KB is kept, a larger one is not', async () => {
  const actor = new Actor();
  // Three bytes a character.
  const metadata = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, '€'.repeat(500)]));
  const bytesOf = ({ text }: Answer) => Buffer.byteLength(text);
  const small = { ...intent, metadata: metadata(42) };
  const first = await actor.send(create, { body: small, key: 'small' });
  assert.ok(bytesOf(first) <= 65_536);
  assertReplay(await actor.send(create, { body: small, key: 'small' }), first);

  const large = { ...intent, metadata: metadata(44) };
  const second = await actor.send(create, { body: large, key: 'large' });
  assert.ok(bytesOf(second) > 65_536);
  const third = await actor.send(create, { body: large, key: 'large' });
  assert.deepEqual([third.status, third.replayed], [200, false]);
  assert.notEqual(third.json.id, second.json.id);
});

// Requests that take their time.

test('while a network call runs, the same key is in progress and another request is refused', async () => {
  const actor = new Actor();
  const { confirm, first } = await confirming(actor);
  const second = await actor.send(confirm, { key: 'confirm' });
  assert.deepEqual([second.status, codeOf(second)], [409, 'idempotency_in_progress']);
  assert.equal(second.json.error.type, 'idempotency_error');
  const other = await actor.send(create, { body: intent, key: 'confirm' });
  assert.equal(codeOf(other), 'idempotency_key_reused');
  await actor.settle({ result: 'done' });
  assertReplay(await actor.send(confirm, { key: 'confirm' }), await first);
  assert.equal(actor.networkCalls.length, 1);
});

test('the same key twice in one commit batch for a request that waits: the second is in progress', async () => {
  const actor = new Actor();
  const { json } = await actor.send(create, { body: intent, key: 'intent' });
  const confirm = `POST /v1/payment_intents/${json.id}/confirm`;
  const answers = actor.sendTogether([confirm, { key: 'c' }], [confirm, { key: 'c' }]);
  await settled();
  await actor.settle({ result: 'done' });
  const [first, second] = await answers;
  assert.equal(first!.status, 200);
  assert.equal(codeOf(second!), 'idempotency_in_progress');
});

test('a network is not called before the call is on disk', async () => {
  const actor = new Actor();
  const { json } = await actor.send(create, { body: intent, key: 'intent' });
  actor.holdDisk();
  const confirmed = actor.send(`POST /v1/payment_intents/${json.id}/confirm`, { key: 'c' });
  await settled();
  assert.equal(actor.networkCalls.length, 0);
  await actor.releaseDisk();
  assert.equal(actor.networkCalls.length, 1);
  await actor.settle({ result: 'done' });
  assert.equal((await confirmed).status, 200);
});

test('an outcome that comes twice answers once and changes once', async () => {
  const actor = new Actor();
  const { first } = await confirming(actor);
  const call = actor.networkCalls[0]!.id;
  await actor.settle({ result: 'done' }, call);
  const again = await actor.settle({ result: 'failed', reason: 'late' }, call);
  assert.equal(!again.ok && again.code, 'resource_missing');
  assert.equal((await first).json.status, 'requires_action');
});

test('while an address is looked up, the same key is in progress and other changes of endpoints are busy', async () => {
  const actor = new Actor();
  const first = actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  await settled();
  assert.deepEqual(
    actor.lookUps.map(({ url }) => url),
    [endpoint.url],
  );
  const second = await actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  assert.equal(codeOf(second), 'idempotency_in_progress');
  const other = await actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'b' });
  assert.deepEqual([other.status, codeOf(other)], [409, 'webhook_endpoints_busy']);
  const live = actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'b', livemode: true });
  assert.equal(await isOpen(live), true);
  actor.lookUps[0]!.settle(true);
  const created = await first;
  assert.match(created.json.secret, /^svc_whsec_\w{32}$/);
});

test('a secret is shown once: a replay has null in its place and is the same otherwise', async () => {
  const actor = new Actor();
  const answer = actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  await settled();
  actor.lookUps[0]!.settle(true);
  const first = await answer;
  const replay = await actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  assert.deepEqual([replay.replayed, replay.originalRequest], [true, first.requestId]);
  assert.deepEqual(replay.json, { ...first.json, secret: null });
  assert.equal(actor.lookUps.length, 1);
  await actor.restart();
  const later = await actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  assert.equal(later.text, replay.text);
});

test('an address that is not allowed is a refusal that is kept', async () => {
  const actor = new Actor();
  const answer = actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  await settled();
  actor.lookUps[0]!.settle(false);
  const first = await answer;
  assert.deepEqual([first.status, codeOf(first)], [400, 'url_not_allowed']);
  assertReplay(await actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' }), first);
});

test('a look-up that a crash interrupts is forgotten: the same key runs', async () => {
  const actor = new Actor();
  const lost = actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  assert.equal(await isOpen(lost), true);
  await actor.restart();
  const again = actor.send('POST /v1/webhook_endpoints', { body: endpoint, key: 'a' });
  await settled();
  actor.lookUps[0]!.settle(true);
  assert.deepEqual([(await again).status, (await again).replayed], [200, false]);
});

// Restarts and the end of a key.

for (const checkpointed of [false, true]) {
  test(`keys are kept over a restart, ${checkpointed ? 'from the checkpoint' : 'from the log'}`, async () => {
    const actor = new Actor();
    const first = await actor.send(create, { body: intent, key: 'a' });
    const refusal = await actor.send(create, { body: { ...intent, amount: 1 }, key: 'b' });
    if (checkpointed) await actor.shard.checkpoint();
    for (let restarts = 0; restarts < 3; restarts++) {
      await actor.restart();
      assertReplay(await actor.send(create, { body: intent, key: 'a' }), first);
      assertReplay(await actor.send(create, { body: { ...intent, amount: 1 }, key: 'b' }), refusal);
    }
    assert.equal(await listed(actor), 1);
  });

  test(`a key ends after 24 hours, restarted meanwhile ${checkpointed ? 'with' : 'without'} a checkpoint`, async () => {
    const actor = new Actor();
    const first = await actor.send(create, { body: intent, key: 'a' });
    if (checkpointed) await actor.shard.checkpoint();
    actor.clock.advance(24 * hourMs - 1);
    await actor.restart();
    assertReplay(await actor.send(create, { body: intent, key: 'a' }), first);
    actor.clock.advance(1_001);
    const again = await actor.send(create, { body: intent, key: 'a' });
    assert.deepEqual([again.status, again.replayed], [200, false]);
    // And it is kept anew.
    actor.clock.advance(23 * hourMs);
    await actor.restart();
    assertReplay(await actor.send(create, { body: intent, key: 'a' }), again);
  });
}

test('a key of any hour of the day is kept for 24 hours, while checkpoints drop older ones', async () => {
  const actor = new Actor();
  const answers: Answer[] = [];
  for (let hour = 0; hour < 60; hour++) {
    answers.push(await actor.send(create, { body: intent, key: `k${hour}` }));
    await actor.shard.checkpoint();
    if (hour % 7 === 0) await actor.restart();
    const oldest = Math.max(0, hour - 23);
    for (const known of [oldest, (oldest + hour) >> 1, hour]) {
      assertReplay(await actor.send(create, { body: intent, key: `k${known}` }), answers[known]!);
    }
    actor.clock.advance(hourMs);
  }
});

for (const checkpointed of [false, true]) {
  test(`after a crash a key is in progress until its network call is settled, then answered, ${checkpointed ? 'with' : 'without'} a checkpoint`, async () => {
    const actor = new Actor();
    const { confirm, first, id } = await confirming(actor);
    const call = actor.networkCalls[0]!.id;
    if (checkpointed) await actor.shard.checkpoint();
    await actor.restart();
    assert.deepEqual(
      openNetworkCalls(actor.shard.state).map((open) => open.id),
      [call],
    );
    for (let restarts = 0; restarts < 2; restarts++) {
      assert.equal(codeOf(await actor.send(confirm, { key: 'confirm' })), 'idempotency_in_progress');
      assert.equal(
        codeOf(await actor.send(create, { body: intent, key: 'confirm' })),
        'idempotency_key_reused',
      );
      await actor.restart();
    }
    await actor.settle({ result: 'done' }, call);
    const replay = await actor.send(confirm, { key: 'confirm' });
    assert.deepEqual([replay.status, replay.replayed, replay.json.id], [200, true, id]);
    assert.equal(replay.json.status, 'requires_action');
    assert.match(replay.originalRequest, /^req_/);
    assert.equal(await isOpen(first), true, 'nobody is there any more for the first answer');
  });
}

test('after a crash, a network call that failed lets the same key run again', async () => {
  const actor = new Actor();
  const { confirm } = await confirming(actor);
  const call = actor.networkCalls[0]!.id;
  await actor.restart();
  await actor.settle({ result: 'failed', reason: 'down' }, call);
  const again = actor.send(confirm, { key: 'confirm' });
  await settled();
  await actor.settle({ result: 'done' });
  assert.deepEqual([(await again).status, (await again).replayed], [200, false]);
});
