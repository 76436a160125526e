// The stream of test events over HTTP, and the commands that use it with nothing but a test key.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Stripe from 'stripe';
import { eventStreamsAtOnceMax } from '../../src/contract/limits.ts';
import { sentEventTypes } from '../../src/contract/vocabulary.ts';
import { eventStreamsMax } from '../../src/edge/api/event-stream.ts';
import { followEvents, followStream } from '../../src/operator/cli/api-client.ts';
import type { FollowStart } from '../../src/operator/use-cases/webhook-commands.ts';
import type { ListedEvent } from '../../src/shard/protocol.ts';
import { runCommandLine, startListen } from '../operator/cli/command-line.ts';
import { liveKey, newKey, newOrganization, type Service, startService, withRequestLogs } from '../service.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { eventually } from '../webhooks/service-webhooks.ts';

const path = '/v1/test_helpers/events/stream';

let service: Service;
before(async () => {
  service = await startService({ env: withRequestLogs });
});
after(() => service.stop());

let count = 0;
const createIntent = (on: Service, key: string) =>
  on.call('/v1/payment_intents', {
    key,
    idempotencyKey: `stream-${count++}`,
    body: { amount: 100, currency: 'mad' },
  });

/** Opens stream_events; `next` gives its next item, null at its end. */
function open(key: string, position: string | null = null, on = service) {
  const items: (FollowStart | ListedEvent)[] = [];
  let news = Promise.withResolvers<void>();
  let ended = false;
  const tell = () => {
    news.resolve();
    news = Promise.withResolvers();
  };
  const done = followEvents({ url: on.url, apiKey: key }, position, async (item) => {
    items.push(item);
    tell();
  });
  const end = () => {
    ended = true;
    tell();
  };
  done.then(end, end);
  const next = async () => {
    while (items.length === 0 && !ended) await news.promise;
    return items.shift() ?? null;
  };
  return { done, next };
}

test('the stream starts with its position and a secret, and goes on after Last-Event-ID', async () => {
  const { id, key } = await newOrganization(service);
  const first = open(key);
  const start = (await first.next()) as FollowStart;
  assert.equal(start.organization, id);
  assert.match(start.secret, /^svc_whsec_[0-9a-f]{64}$/);
  const made = [await createIntent(service, key), await createIntent(service, key)];
  const seen = [(await first.next()) as ListedEvent, (await first.next()) as ListedEvent];
  const objects = seen.map(({ body }) => JSON.parse(body).data.object.id);
  assert.deepEqual(
    objects,
    made.map(({ json }) => json.id),
  );
  const stored = await service.call(`/v1/events/${seen[0]!.id}`, { key });
  assert.equal(seen[0]!.body, stored.text, 'as a delivery has it');

  for (const [position, expected] of [
    [start.after, seen],
    [seen[0]!.id, seen.slice(1)],
  ] as const) {
    const again = open(key, position);
    const { secret } = (await again.next()) as FollowStart;
    assert.equal(secret, start.secret, 'the secret stays');
    for (const event of expected) assert.deepEqual(await again.next(), event);
  }
  const { json } = await service.call(path, { key, headers: { 'Last-Event-ID': 'pi_1' } });
  assert.deepEqual([json.error.code, json.error.param], ['parameter_invalid', 'Last-Event-ID']);
  await service.operate('org.suspend', { org: id });
});

test('the requests/stream sends the newest requests that fit, then each as it is answered, and goes on after a position', async () => {
  const { key } = await newOrganization(service);
  const ask = (id: string) => service.call(`/v1/payment_intents/${id}`, { key });
  for (const id of ['pi_1', 'pi_2', 'pi_3']) await ask(id);
  const api = { url: service.url, apiKey: key };
  const stream = '/v1/test_helpers/requests/stream';
  /** The objects of the requests that stream_requests sends, up to so many; `now` stands for itself. */
  async function objects(query: string, count: number, position: string | null = null) {
    // A stream that was left counts until its edge has noticed.
    return eventually(() => objectsOnce(query, count, position).catch(() => undefined));
  }
  async function objectsOnce(query: string, count: number, position: string | null) {
    const seen: string[] = [];
    let last: string | null = position;
    await followStream(api, `${stream}?${query}`, position, async ({ id, event, data }) => {
      last = id ?? last;
      seen.push(event ?? JSON.parse(data).object);
      if (event === 'now' && seen.length < count) await ask('pi_later');
      return seen.length < count;
    });
    return { seen, last };
  }
  // They are written half a second after they were answered, at the latest.
  await eventually(async () => ((await objects('object=pi_3', 1)).seen[0] === 'pi_3' ? true : undefined));
  const { seen, last } = await objects('limit=2', 4);
  assert.deepEqual(seen, ['pi_2', 'pi_3', 'now', 'pi_later']);
  await ask('pi_behind');
  assert.deepEqual((await objects('limit=2', 1, last)).seen, ['pi_behind']);
  assert.deepEqual(
    (await objects('status=2xx', 1)).seen,
    ['now'],
    'none was answered with 2xx, but these streams',
  );
  assert.deepEqual((await objects('path=/v1/payment_intents/pi_1', 2)).seen, ['pi_1', 'now']);
  for (const [query, param] of [
    ['status=9xx', 'status'],
    ['limit=101', 'limit'],
    ['since=1', 'since'],
  ] as const) {
    const { json } = await service.call(`${stream}?${query}`, { key });
    assert.equal(json.error.param, param);
  }
  const { json } = await service.call(stream, { key, headers: { 'Last-Event-ID': 'evt_1' } });
  assert.deepEqual([json.error.code, json.error.param], ['parameter_invalid', 'Last-Event-ID']);
});

test('test secret keys only, and a few streams for each organization', async () => {
  const { id, key } = await newOrganization(service);
  const live = await liveKey(service, id);
  assert.equal((await service.call(path, { key: live })).json.error.code, 'test_mode_only');
  const streams = Array.from({ length: eventStreamsAtOnceMax }, () => open(key));
  for (const stream of streams) assert.ok(await stream.next());
  const refused = await service.call(path, { key });
  assert.deepEqual([refused.status, refused.json.error.code], [429, 'rate_limit_exceeded']);
  assert.equal(refused.headers.get('retry-after'), '5');
  const elsewhere = await service.call(path, { key, headers: { 'Last-Event-ID': 'pi_1' } });
  for (const { headers } of [refused, elsewhere])
    for (const name of ['limit', 'remaining', 'reset'])
      assert.match(headers.get(`ratelimit-${name}`) ?? '', /^\d+$/, name);
  const { key: stranger } = await newOrganization(service);
  assert.ok(await open(stranger).next(), 'others have their own');

  await service.operate('key.revoke', { key });
  for (const stream of streams) {
    assert.equal(await stream.next(), null, 'a revoked key ends it');
    await stream.done;
  }
  const another = await newKey(service, id, 'test');
  assert.ok(await open(another).next(), 'the streams that ended make room');
});

test('when a few organizations have all streams another one gets some, and who loses one goes on where it was', async (t) => {
  const own = await startService();
  t.after(() => own.kill());
  const crowd: { readonly key: string; readonly streams: ReturnType<typeof open>[]; position: string }[] = [];
  for (let i = 0; i < eventStreamsMax / eventStreamsAtOnceMax; i++) {
    const { key } = await newOrganization(own);
    const streams = Array.from({ length: eventStreamsAtOnceMax }, () => open(key, null, own));
    const starts = await Promise.all(streams.map((stream) => stream.next()));
    crowd.push({ key, streams, position: (starts[0] as FollowStart).after });
  }
  const { key } = await newOrganization(own);
  for (let i = 1; i < eventStreamsAtOnceMax; i++)
    assert.ok(await open(key, null, own).next(), `it gets ${eventStreamsAtOnceMax - 1}`);
  const oneMore = await own.call(path, { key });
  assert.equal(oneMore.status, 429, 'not one more than those who have given some have left');

  const left = await Promise.all(
    crowd.map(async ({ key, streams, position }) => {
      const made = await createIntent(own, key);
      const seen = await Promise.all(streams.map((stream) => stream.next()));
      const kept = seen.filter((item) => item !== null) as ListedEvent[];
      for (const { body } of kept) assert.equal(JSON.parse(body).data.object.id, made.json.id);
      return { key, position, kept };
    }),
  );
  const losers = left.filter(({ kept }) => kept.length < eventStreamsAtOnceMax);
  assert.deepEqual(
    losers.map(({ kept }) => kept.length),
    Array.from({ length: eventStreamsAtOnceMax - 1 }, () => eventStreamsAtOnceMax - 1),
  );
  const { key: pushedOut, position, kept } = losers[0]!;
  assert.equal((await own.call(path, { key: pushedOut })).status, 429, 'it takes none back');
  await own.operate('key.revoke', { key });
  const again = await eventually(async () => {
    const stream = open(pushedOut, position, own);
    return (await stream.next()) === null ? undefined : stream;
  });
  assert.deepEqual(await again.next(), kept[0], 'what happened meanwhile');
});

const run = (...args: string[]) => runCommandLine(args, {});

for (const type of sentEventTypes) {
  const works = type !== 'review.closed';
  test(`trigger ${type} with a key ${works ? 'makes it happen' : 'is refused: operators only'}`, async () => {
    const { key } = await newOrganization(service);
    const { code, out, error } = await run('trigger', type, '--api-key', key, '--url', service.url, '--json');
    assert.equal(code, works ? 0 : 1, error);
    if (works) assert.equal(JSON.parse(out).type, type);
    else assert.match(JSON.parse(error).error.message, /only an operator can make review\.closed happen/);
  });
}

test('a key comes from a file or the environment, where no other user of the machine sees it', async () => {
  const { key } = await newOrganization(service);
  const file = join(service.dataDir, 'test-key');
  writeFileSync(file, `${key}\n`);
  const trigger = ['trigger', 'payment_intent.created', '--url', service.url, '--json'];
  const fromFile = await run(...trigger, '--api-key-file', file);
  process.env.PAYMENTS_API_KEY = key;
  const fromEnvironment = await run(...trigger);
  delete process.env.PAYMENTS_API_KEY;
  for (const { code, out, error } of [fromFile, fromEnvironment]) {
    assert.equal(code, 0, error);
    assert.equal(JSON.parse(out).type, 'payment_intent.created');
  }
  const missing = await run(...trigger, '--api-key-file', `${file}.not`);
  assert.match(JSON.parse(missing.error).error.message, /can't be read \(ENOENT\)/);
});

test('a key that is none is not printed back, wherever it comes from', async () => {
  const wrong = 'svc_sk_test_hidden and\nmore';
  const file = join(service.dataDir, 'no-key');
  writeFileSync(file, wrong);
  const trigger = ['trigger', 'payment_intent.created', '--url', service.url, '--json'];
  process.env.PAYMENTS_API_KEY = wrong;
  const fromEnvironment = await run(...trigger);
  delete process.env.PAYMENTS_API_KEY;
  const others = [await run(...trigger, '--api-key', wrong), await run(...trigger, '--api-key-file', file)];
  for (const { code, error } of [fromEnvironment, ...others]) {
    assert.equal(code, 2, error);
    assert.ok(!error.includes('hidden'), error);
    assert.match(error, /key/);
  }
});

test('what can not work is said in one line', async () => {
  const { key } = await newOrganization(service);
  const wrong: [args: string[], code: number, message: RegExp][] = [
    [['listen', '--api-key', `${key}x`, '--url', service.url], 1, /\(api_key_invalid\)$/],
    [
      ['listen', '--api-key', key, '--url', 'http://127.0.0.1:9'],
      1,
      /no service answers at http:\/\/127\.0\.0\.1:9/,
    ],
    [['listen', 'org_1', '--api-key', key], 2, /the key names its organization/],
    [['trigger', 'charge.failed', '--url', service.url], 2, /give a key with --url/],
    [['trigger', 'nonsense', '--api-key', key, '--url', service.url], 2, /there is no event type nonsense/],
    [['listen', '--api-key', key, '--url', 'ftp://x'], 2, /must be an address/],
  ];
  for (const [args, expected, message] of wrong) {
    const { code, error } = await run(...args, '--json');
    assert.equal(code, expected, error);
    assert.match(JSON.parse(error).error.message, message);
    assert.ok(!error.includes(key));
  }
});

test('listen with a key forwards events, signed, and misses none over a stop and a kill', async () => {
  const local = await startReceiver();
  let own = await startService();
  const { dataDir } = own;
  const env = { PAYMENTS_PORT: new URL(own.url).port };
  const { id, key } = await newOrganization(own);
  const { next, stop } = startListen(
    '--api-key',
    key,
    '--url',
    own.url,
    '--forward-to',
    `${local.origin}/hooks`,
  );
  const { secret, organization } = await next();
  assert.equal(organization, id);
  await createIntent(own, key);
  const first = await next();
  assert.equal(first.forwarded.status, 200);
  const [{ body, headers }] = local.requests as [(typeof local.requests)[0]];
  new Stripe('sk').webhooks.constructEvent(body, headers['x-service-signature'] as string, secret);

  assert.equal(await own.stop(), 0, 'a stream does not hold a stop up');
  own = await startService({ dataDir, env });
  for (let event = 0; event < 2; event++) await createIntent(own, key);
  await own.kill();
  own = await startService({ dataDir, env });
  for (let event = 0; event < 2; event++) await createIntent(own, key);
  const { json } = await own.call('/v1/events', { key });
  const wanted = json.data.map((event: { id: string }) => event.id).reverse();
  const seen = [first.event.id];
  while (seen.length < wanted.length) seen.push((await next()).event.id);
  assert.deepEqual(seen, wanted);

  const socket = startListen(id, '--data-dir', dataDir);
  assert.equal((await socket.next()).secret, secret, 'the same through the socket');
  await Promise.all([stop(), socket.stop()]);
  assert.equal(await own.stop(), 0);
  await local.close();
});
