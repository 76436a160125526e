// Defaults that depend on the state: a request without a parameter is the same as one with the
// default of that time, in either order, after changes of the state, over a restart, and while the
// first request runs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalDamaged } from '../../src/journal/journal.ts';
import { openNetworkCalls } from '../../src/shard/recover.ts';
import { Actor, type Answer, settled } from './actor.ts';

interface Scene {
  readonly request: string;
  /** What is sent besides. */
  readonly body?: object;
  readonly param: string;
  /** What leaving the parameter out stands for. */
  readonly implied: unknown;
  /** Another value. */
  readonly other: unknown;
  /** Does what the first request waits for. */
  readonly settle?: () => Promise<void>;
  /** Changes what the default depends on. */
  readonly moveOn?: () => Promise<void>;
}

const intent = { amount: 12_000, currency: 'mad' };
const hourMs = 3_600_000;

async function openIntent(actor: Actor, method = 'card'): Promise<string> {
  const body = { ...intent, payment_method_types: [method] };
  return (await actor.send('POST /v1/payment_intents', { body, key: 'setting up' })).json.id;
}

/** A charge that waits for its customer. */
async function openCharge(actor: Actor): Promise<{ intent: string; charge: string }> {
  const id = await openIntent(actor);
  const confirmed = actor.send(`POST /v1/payment_intents/${id}/confirm`, { key: 'confirming' });
  await settled();
  await actor.settle({ result: 'done' });
  return { intent: id, charge: (await confirmed).json.latest_charge };
}

async function paidIntent(actor: Actor): Promise<{ intent: string; charge: string }> {
  const opened = await openCharge(actor);
  await actor.send(`POST /v1/test_helpers/charges/${opened.charge}/complete`);
  return opened;
}

const scenes: Record<string, (actor: Actor) => Promise<Scene>> = {
  'the amount of a refund': async (actor) => {
    const { intent: payment_intent } = await paidIntent(actor);
    return {
      request: 'POST /v1/refunds',
      body: { payment_intent },
      param: 'amount',
      implied: 12_000,
      other: 11_000,
      moveOn: async () => {
        const body = { payment_intent, amount: 500 };
        await actor.send('POST /v1/refunds', { body, key: 'another refund' });
      },
    };
  },
  'the amount of a refund of a charge, part of which is refunded': async (actor) => {
    const { charge } = await paidIntent(actor);
    const refund = { charge, amount: 2_000 };
    await actor.send('POST /v1/refunds', { body: refund, key: 'an earlier refund' });
    return { request: 'POST /v1/refunds', body: { charge }, param: 'amount', implied: 10_000, other: 2_000 };
  },
  'the end of a session': async (actor) => {
    const end = Math.floor(actor.clock.now() / 1000) + 24 * 3_600;
    return {
      request: 'POST /v1/checkout/sessions',
      body: { ...intent, success_url: 'https://shop.example/' },
      param: 'expires_at',
      implied: end,
      other: end - 3_600,
      moveOn: async () => actor.clock.advance(hourMs),
    };
  },
  'the only method of a payment': async (actor) => {
    const id = await openIntent(actor);
    return {
      request: `POST /v1/payment_intents/${id}/confirm`,
      param: 'payment_method_type',
      implied: 'card',
      other: 'cash',
      settle: async () => {
        if (actor.networkCalls.length > 0) await actor.settle({ result: 'done' });
      },
    };
  },
  'the amount that a customer pays': async (actor) => {
    const { charge } = await openCharge(actor);
    const request = `POST /v1/test_helpers/charges/${charge}/complete`;
    return { request, param: 'amount', implied: 12_000, other: 11_000 };
  },
  'the reason of a declined card': async (actor) => {
    const { charge } = await openCharge(actor);
    const request = `POST /v1/test_helpers/charges/${charge}/fail`;
    return { request, param: 'decline_code', implied: 'generic_decline', other: 'lost_card' };
  },
  'the reason of a failed refund': async (actor) => {
    const { charge } = await paidIntent(actor);
    const { json } = await actor.send('POST /v1/refunds', { body: { charge }, key: 'refunding' });
    const request = `POST /v1/test_helpers/refunds/${json.id}/fail`;
    return { request, param: 'failure_reason', implied: 'declined', other: 'card_account_closed' };
  },
  'the version of an endpoint': async (actor) => ({
    request: 'POST /v1/webhook_endpoints',
    body: { url: 'https://shop.example/hooks', enabled_events: ['*'] },
    param: 'api_version',
    implied: '2026-11-01',
    other: '2020-01-01',
    settle: async () => actor.lookUps.at(-1)?.settle(true),
  }),
};

/** Sends the scene's request, with or without the parameter. */
function sendWith(actor: Actor, scene: Scene, value: unknown): Promise<Answer> {
  const { request, body = {}, param } = scene;
  return actor.send(request, { body: value === undefined ? body : { ...body, [param]: value }, key: 'a' });
}

async function first(actor: Actor, scene: Scene, value: unknown): Promise<Answer> {
  const answer = sendWith(actor, scene, value);
  await settled();
  await scene.settle?.();
  return answer;
}

/** What becomes of the request sent again: a replay, or the code of its refusal. */
async function again(actor: Actor, scene: Scene, value: unknown): Promise<string> {
  const { replayed, json } = await sendWith(actor, scene, value);
  return replayed ? 'replay' : json.error.code;
}

for (const [what, setUp] of Object.entries(scenes)) {
  for (const sent of ['nothing', 'the default'] as const) {
    test(`${what}: ${sent} first, then it is the same with and without it, and always`, async () => {
      const actor = new Actor();
      const scene = await setUp(actor);
      const { implied, other } = scene;
      await first(actor, scene, sent === 'nothing' ? undefined : implied);
      const check = async () => {
        assert.equal(await again(actor, scene, undefined), 'replay');
        assert.equal(await again(actor, scene, null), 'replay');
        assert.equal(await again(actor, scene, implied), 'replay');
        assert.equal(await again(actor, scene, other), 'idempotency_key_reused');
      };
      await check();
      await scene.moveOn?.();
      await check();
      await actor.restart();
      await check();
      await actor.shard.checkpoint();
      await actor.restart();
      await check();
    });
  }
}

for (const what of ['the amount of a refund', 'the end of a session', 'the amount that a customer pays']) {
  test(`${what}: another value first, then neither nothing nor the default is the same`, async () => {
    const actor = new Actor();
    const scene = await scenes[what]!(actor);
    await first(actor, scene, scene.other);
    for (let round = 0; round < 2; round++) {
      assert.equal(await again(actor, scene, scene.other), 'replay');
      assert.equal(await again(actor, scene, undefined), 'idempotency_key_reused');
      assert.equal(await again(actor, scene, scene.implied), 'idempotency_key_reused');
      await actor.restart();
    }
  });
}

test('while the first request runs, before and after a crash, the same one is in progress and another one is not', async () => {
  const actor = new Actor();
  const scene = await scenes['the only method of a payment']!(actor);
  void sendWith(actor, scene, undefined);
  await settled();
  for (let round = 0; round < 2; round++) {
    assert.equal(await again(actor, scene, undefined), 'idempotency_in_progress');
    assert.equal(await again(actor, scene, 'card'), 'idempotency_in_progress');
    assert.equal(await again(actor, scene, 'cash'), 'idempotency_key_reused');
    await actor.restart();
  }
  // The outcome comes after the crash: its response is stored with the defaults of its request.
  await actor.settle({ result: 'done' }, openNetworkCalls(actor.shard.state)[0]!.id);
  assert.equal(await again(actor, scene, 'card'), 'replay');
  assert.equal(await again(actor, scene, undefined), 'replay');
});

test('a refund that is refused because nothing remains: leaving its amount out stands for nothing', async () => {
  const actor = new Actor();
  const scene = await scenes['the amount of a refund']!(actor);
  await actor.send('POST /v1/refunds', { body: scene.body, key: 'all of it' });
  const refused = await sendWith(actor, scene, undefined);
  assert.equal(refused.json.error.code, 'amount_too_large');
  assert.equal(await again(actor, scene, undefined), 'replay');
  assert.equal(await again(actor, scene, 12_000), 'idempotency_key_reused');
});

test('an object that the request may not see leaves no trace in the comparison', async () => {
  const actor = new Actor();
  const id = await openIntent(actor);
  const request = `POST /v1/payment_intents/${id}/confirm`;
  const sent = { key: 'a', livemode: true };
  assert.equal((await actor.send(request, sent)).status, 404);
  const named = await actor.send(request, { ...sent, body: { payment_method_type: 'card' } });
  assert.equal(named.json.error.code, 'idempotency_key_reused');
});

test('with a lost answer its defaults are lost: whatever is sent, the request does not run again', async () => {
  const actor = new Actor();
  const scene = await scenes['the amount of a refund']!(actor);
  await first(actor, scene, undefined);
  actor.readResponse = () =>
    assert.fail(new JournalDamaged('it has no readable stored response at offset 0'));
  for (const value of [undefined, 12_000, 500]) assert.equal(await again(actor, scene, value), 'api_error');
});

for (const params of [{ charge: 5 }, { payment_intent: ['pi_1'] }, { charge: 'x'.repeat(5_000) }, {}]) {
  test(`a refund of ${JSON.stringify(params).slice(0, 40)} is refused for what is wrong with it`, async () => {
    const { status, json } = await new Actor().send('POST /v1/refunds', { body: params, key: 'a' });
    assert.deepEqual([status, json.error.code.slice(0, 10)], [400, 'parameter_']);
  });
}
