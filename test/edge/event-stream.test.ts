// The beginning of the streams of test events and of requests, when it can be told where they begin and when it can't.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../src/contract/errors/table.ts';
import { eventStreamsAtOnceMax } from '../../src/contract/limits.ts';
import { EventStreams, eventStreamsMax } from '../../src/edge/api/event-stream.ts';
import { eventSource, requestSource } from '../../src/edge/api/stream-sources.ts';
import { TailStreams, tailStreamsMax } from '../../src/edge/dashboard/tail-stream.ts';
import type { Exchange } from '../../src/edge/http/exchange.ts';
import type { RequestHead } from '../../src/edge/http/request-head.ts';
import type { AskLogs } from '../../src/request-logs/query.ts';
import type { InternalAnswer } from '../../src/shard/protocol.ts';

/** What a client is sent who opens the stream for the first time, and leaves after the beginning. */
async function opened(newest: InternalAnswer, hasRoom = true): Promise<string[]> {
  const said: string[] = [];
  const exchange = {
    isOpen: true,
    hasRoomFor: () => hasRoom,
    begin: () => said.push('begin'),
    write: async (text: string) => said.push(...text.split('\n').filter((line) => line.startsWith('id: '))),
    finish: () => said.push('finish'),
  } as unknown as Exchange;
  const shard = { ask: async () => newest };
  const refusal = await new EventStreams().stream({
    exchange,
    headers: '',
    org: 'org_1',
    source: eventSource(shard as never, 'org_1', Buffer.alloc(32)),
    head: { lastEventId: '' } as RequestHead,
    isAllowed: () => false,
    onBegin: () => said.push('200'),
  });
  return refusal === null ? said : [...said, `${statusOf(refusal)}, ${refusal.retryAfterSeconds} s`];
}

test('it begins behind the newest event, or before all where there is none yet', async () => {
  const at = (cursor: string): InternalAnswer => ({ ok: true, body: '[]', cursor });
  assert.deepEqual(await opened(at('evt_9')), ['200', 'begin', 'id: evt_9', 'finish']);
  assert.deepEqual(await opened(at('')), ['200', 'begin', 'id: evt_', 'finish']);
});

test('it is refused while the shard can not say which event is the newest', async () => {
  assert.deepEqual(await opened({ ok: false, code: 'api_error', message: '' }), ['503, 1 s']);
});

test('it is refused while its beginning, if the client is slow, would be more than may be held', async () => {
  assert.deepEqual(await opened({ ok: true, body: '[]', cursor: 'evt_9' }, false), ['503, 1 s']);
});

test('a stream that loses its slot ends before its next item, and at once when its client is slow', async () => {
  const streams = new EventStreams();
  const ends = new Map<string, string>();
  const open = (org: string, name: string, isSlow: boolean) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const exchange = {
      isOpen: true,
      hasRoomFor: () => true,
      isStuck: isSlow,
      begin() {},
      write: async () => (isSlow ? ended : undefined),
      cut() {
        ends.set(name, 'cut');
        exchange.isOpen = false;
        end();
      },
      finish: () => ends.set(name, ends.get(name) ?? 'finish'),
    };
    const source = {
      isPosition: () => true,
      begin: async () => ({ events: '', cursor: 'evt_1' }),
      next: async () => ({ items: [], cursor: 'evt_1', isFull: false }),
    };
    const head = { lastEventId: '' } as RequestHead;
    const call = { exchange: exchange as unknown as Exchange, headers: '', org, source, head, onBegin() {} };
    const done = streams.stream({ ...call, isAllowed: () => !isOver });
    return { done };
  };
  let isOver = false;
  const all = Array.from({ length: eventStreamsMax }, (_, i) => {
    const org = Math.floor(i / eventStreamsAtOnceMax);
    return open(`org_${org}`, `${i}`, i === eventStreamsMax - 1);
  });
  const more = [open('org_new', 'new_1', false), open('org_new', 'new_2', false)];
  await all[eventStreamsMax - 1]!.done;
  await all[eventStreamsMax - 1 - eventStreamsAtOnceMax]!.done;
  assert.deepEqual(Object.fromEntries(ends), {
    [eventStreamsMax - 1]: 'cut',
    [eventStreamsMax - 1 - eventStreamsAtOnceMax]: 'finish',
  });
  isOver = true;
  await Promise.all([...all, ...more].map(({ done }) => done));
});

/** What a client is sent of two events that come together, when its key opens the stream `allowed` times. */
async function sentUntilRevoked(allowed: number): Promise<string[]> {
  const said: string[] = [];
  const exchange = {
    isOpen: true,
    hasRoomFor: () => true,
    begin() {},
    write: async (text: string) => said.push(...text.split('\n').filter((line) => line.startsWith('id: '))),
    finish: () => said.push('finish'),
  } as unknown as Exchange;
  const step = (...ids: string[]) => ids.map((id) => ({ id, body: '{}' }));
  const source = {
    isPosition: () => true,
    begin: async () => ({ events: '', cursor: 'evt_1' }),
    next: async () => ({ items: step('evt_2', 'evt_3'), cursor: 'evt_3', isFull: true }),
  };
  const head = { lastEventId: '' } as RequestHead;
  const call = { exchange, headers: '', org: 'org_1', source, head, onBegin() {} };
  let looks = 0;
  await new EventStreams().stream({ ...call, isAllowed: () => ++looks <= allowed });
  return said;
}

test('what was found while the key was revoked is not sent', async () => {
  assert.deepEqual(await sentUntilRevoked(1), ['finish']);
});

test('what a slow client has not taken when its key is revoked is not sent', async () => {
  assert.deepEqual(await sentUntilRevoked(2), ['id: evt_2', 'finish']);
});

test('of the requests that come together only the last one says where to go on, and those for the stream are not among them', async () => {
  const filters: { readonly exceptPath?: string }[] = [];
  const askLogs = async (_: string, { filter }: { readonly filter: (typeof filters)[number] }) => {
    filters.push(filter);
    return { found: [{ request: 'req_1' }, { request: 'req_2' }], newest: '5-3' };
  };
  const { items } = await requestSource(askLogs as unknown as AskLogs, 'org_1', { limit: 50 }).next('5-1');
  assert.deepEqual(
    items.map(({ id }) => id),
    [null, '5-3'],
  );
  assert.deepEqual(
    filters.map(({ exceptPath }) => exceptPath),
    ['/v1/test_helpers/requests/stream'],
  );
});

test('the stream of requests begins behind the newest one as soon as the logs can be asked', async () => {
  const places: string[] = [];
  let isAway = true;
  const askLogs = async (name: string, { after }: { readonly after: string }) => {
    if (isAway) return null;
    if (name === 'newest') return '5-2';
    places.push(after);
    return { found: [], newest: after };
  };
  for (const params of [{ limit: 50 }, { limit: 50, request: 'req_1' }]) {
    isAway = true;
    const source = requestSource(askLogs as unknown as AskLogs, 'org_1', params);
    let { cursor } = (await source.begin(null))!;
    ({ cursor } = await source.next(cursor));
    isAway = false;
    ({ cursor } = await source.next(cursor));
    ({ cursor } = await source.next(cursor));
    assert.equal(cursor, '5-2');
  }
  assert.deepEqual(places, ['5-2', '5-2']);
});

test('a list of the dashboard is not shown while the directory may not be believed', async () => {
  const said: string[] = [];
  const exchange = {
    isOpen: true,
    begin: () => said.push('begin'),
    async write() {
      said.push('the list');
      exchange.isOpen = false;
    },
    finish: () => said.push('finish'),
  };
  const away = () => assert.fail();
  const tails = new TailStreams({ shardOf: away, askLogs: async () => null, isTrusted: () => false });
  const first = { kind: 'tail', list: 'x', source: 'requests', org: 'org_1', livemode: false, member: 'm' };
  await tails.stream(exchange as never, first as never, away);
  assert.deepEqual(said, ['begin', 'finish']);
});

test('where sixteen organizations have all live lists, another one gets the newest of those that have most', async () => {
  let isOver = false;
  const news = { ok: true, body: '[]', cursor: 'evt_1' };
  const shardOf = () => ({ ask: async () => news }) as never;
  const tails = new TailStreams({ shardOf, askLogs: async () => null, isTrusted: () => !isOver });
  const ended: string[] = [];
  const open = (org: string, member: string) => {
    const exchange = {
      isOpen: true,
      isStuck: false,
      begin() {},
      write: async () => {},
      finish: () => ended.push(org),
    };
    const first = { kind: 'tail', list: 'x', source: 'events', org, livemode: false, member };
    return tails.stream(exchange as never, first as never, async () => first as never);
  };
  const { all, ofOrganization, ofMember } = tailStreamsMax;
  const crowd = Array.from({ length: all }, (_, i) =>
    open(`org_${Math.floor(i / ofOrganization)}`, `member_${Math.floor(i / ofMember)}`),
  );
  const other = [open('org_other', 'member_a'), open('org_other', 'member_a')];
  await crowd.at(-1);
  await crowd.at(-1 - ofOrganization);
  assert.deepEqual(ended.sort(), ['org_14', 'org_15']);
  assert.equal(await open('org_0', 'member_0'), false);
  isOver = true;
  assert.deepEqual(new Set(await Promise.all([...crowd, ...other])), new Set([true]));
});
