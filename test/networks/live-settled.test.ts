// Calls of which CMI can't tell, settled by an operator: a real service and the stand-in for the gateway. Each has one effect,
// over two operators at once, a crash and late reports, and the statement tells which choice was wrong.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { payments } from '../main/payments-command.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { amount, CardShop, type Started, secrets } from './card-shop.ts';
import { clientId } from './cmi-stand-in/merchant.ts';

const part = 10_000;
const reason = "looked up in CMI's interface";
let shop: CardShop;
before(async () => {
  shop = await CardShop.open();
  await shop.connect();
});
after(() => shop.close());

interface Waiting {
  readonly id: string;
  readonly refund: string | null;
  readonly charge: string;
  readonly last_error: string | null;
}

/** The call about a charge or a refund, when CMI could not tell of it. */
const stuck = (about: { charge: string } | { refund: string }) =>
  shop.service.until(async () => {
    const waiting = await shop.service.operate<Waiting[]>('network.waiting', {});
    const [key, id] = Object.entries(about)[0] as ['charge' | 'refund', string];
    return waiting.find((call) => call[key] === id && call.last_error !== null)?.id;
  });

const settle = (call: string, as: 'done' | 'failed') =>
  shop.service.operate<{ id: string; as: string }>('network.settle', { call, as, reason });

/** Settles a call as soon as nothing of it can be under way any more. */
const settleSoon = (call: string, as: 'done' | 'failed') =>
  shop.service.until(() =>
    settle(call, as).catch((error: Error) => {
      assert.match(error.message, /still be under way|just being sent/);
      return undefined;
    }),
  );

/** A refund that was sent once, and of which CMI's history does not tell whether it was made. */
async function stuckRefund({ id, charge }: Started, fault: 'cut_off' | 'error') {
  await shop.standIn.set({ keepsTransId: false });
  await shop.standIn.misbehave({ oid: charge, api: 'Credit', fault });
  const { json } = await shop.call('/v1/refunds', { payment_intent: id, amount: part });
  const refund: string = json.id;
  return { refund, call: await stuck({ refund }) };
}

/** The types of the events about a refund, the oldest first. */
async function eventsOf(refund: string): Promise<string[]> {
  const { json } = await shop.call('/v1/events?limit=100');
  const events: { type: string; data: { object: { id: string } }; request: { id: string | null } }[] =
    json.data;
  const about = events.filter(({ data }) => data.object.id === refund);
  for (const { request } of about) assert.match(request.id!, /^req_/, 'the request that made the refund');
  return about.map(({ type }) => type).reverse();
}

const statusOf = async (refund: string) => {
  const { json } = await shop.call(`/v1/refunds/${refund}`);
  return [json.status, json.failure_reason];
};

const made = ['refund.created', 'refund.updated'];
const refused = ['refund.created', 'refund.updated', 'refund.failed'];

test('a refund that CMI has made is settled once, though two operators do it and the service is killed', async () => {
  const paid = await shop.paid();
  const { refund, call } = await stuckRefund(paid, 'cut_off');
  const { id } = await settleSoon(call, 'done');
  assert.equal(id, refund);
  const again = await Promise.allSettled([settle(call, 'done'), settle(call, 'failed')]);
  for (const each of again) assert.match(String(each.status === 'rejected' && each.reason), /is not open/);
  await shop.service.kill();
  await shop.startAgain();
  await shop.standIn.callBack(paid.charge);
  assert.deepEqual(await statusOf(refund), ['succeeded', null]);
  assert.deepEqual(await eventsOf(refund), made);
  const { requests, refunds, captured } = await shop.order(paid.charge);
  assert.deepEqual([requests.Credit, refunds, captured], [1, 1, amount]);
  const { json } = await shop.call(`/v1/charges/${paid.charge}`);
  assert.equal(json.amount_refunded, part);
});

test('two operators at once who have found that CMI has no such refund: one of them settles it', async () => {
  const paid = await shop.paid();
  const first = await stuckRefund(paid, 'cut_off');
  await settleSoon(first.call, 'done');
  // CMI never got the second one, and has a refund of this amount under a name that is not ours.
  const second = await stuckRefund(paid, 'error');
  const both = await shop.service.until(async () => {
    const results = await Promise.allSettled([settle(second.call, 'failed'), settle(second.call, 'failed')]);
    return results.some(({ status }) => status === 'fulfilled') ? results : undefined;
  });
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  assert.deepEqual(await statusOf(second.refund), ['failed', 'settled_by_operator']);
  assert.deepEqual(await eventsOf(second.refund), refused);
  const { json } = await shop.call(`/v1/charges/${paid.charge}`);
  assert.equal(json.amount_refunded, part);
  const { requests, refunds } = await shop.order(paid.charge);
  assert.deepEqual([requests.Credit, refunds], [2, 1]);
});

test('the statement tells what was settled wrongly, and nothing of what was settled rightly', async () => {
  const [made, refused] = [await shop.paid(), await shop.paid()];
  const first = await stuckRefund(made, 'cut_off');
  await settleSoon(first.call, 'failed');
  const before = await stuckRefund(refused, 'cut_off');
  await settleSoon(before.call, 'done');
  const second = await stuckRefund(refused, 'error');
  await settleSoon(second.call, 'done');
  const file = join(temporaryFolder(), 'statement.csv');
  writeFileSync(file, await shop.standIn.statement());
  const args = ['reconcile', shop.org, '--mode', 'live', '--network', 'cmi', '--file', file, '--dry-run'];
  const { out, error } = await payments(...args, '--json', '--data-dir', shop.dataDir);
  const lines = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const differences = lines.flatMap(({ difference }) => (difference ? [difference] : []));
  assert.deepEqual(
    differences.map(({ kind, charge }) => [kind, charge]).sort(),
    [
      ['refund_failed_here', made.charge],
      ['refund_not_in_statement', refused.charge],
    ],
    error,
  );
});

test('what a closed review gives up is settled where CMI can be asked no longer', async () => {
  const started = await shop.start();
  await shop.call(`/v1/payment_intents/${started.id}/cancel`, {});
  await shop.decide(started, 'approve');
  const [review] = await shop.reviewsOf(started.id);
  await shop.service.operate('network.set', {
    org: shop.org,
    mode: 'live',
    network: 'cmi',
    settings: { gateway: shop.standIn.url, client_id: clientId },
    secrets: { store_key: secrets.storeKey },
  });
  await shop.service.operate('review.close', { review: review!.id, as: 'refunded' });
  await shop.service.kill();
  await shop.startAgain();
  const call = await stuck({ charge: started.charge });
  await settleSoon(call, 'done');
  const waiting = await shop.service.operate<Waiting[]>('network.waiting', {});
  assert.ok(!waiting.some(({ id }) => id === call));
});
