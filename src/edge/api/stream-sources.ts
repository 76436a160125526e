// What can be followed as server-sent events (event-stream.ts): the events of a test organization,
// and its requests with their answers.
//
//   event: start            who is followed, and the secret that signs forwarded events
//   id: evt_…               an event, as a delivery has it: the JSON in one line
//
//   data: {"request":…}     a request that was answered, or how many are missing there
//   event: now              the newest ones were sent; from now on they come as they are answered

import { createHmac } from 'node:crypto';
import { idPrefixes } from '../../contract/id-prefixes.ts';
import type { Params } from '../../contract/routes/parsed-params.ts';
import { routeTable } from '../../contract/routes/table.ts';
import { defined } from '../../core/assert.ts';
import { isPlaceInAll } from '../../request-logs/all-nodes.ts';
import type { AskLogs } from '../../request-logs/query.ts';
import { type LogFilter, statusRangeOf } from '../../request-logs/search.ts';
import type { ShardClient } from '../../shard/client.ts';
import type { InternalAnswer, ListedEvent } from '../../shard/protocol.ts';
import type { StreamSource, StreamStep } from './event-stream.ts';

const itemsPerStep = 16;
const streamPath = routeTable.find(({ operation }) => operation === 'stream_requests')?.path;
/** Sorts before every event: the position of an organization that has none yet. */
const beforeAll = `${idPrefixes.event}_`;

/** `listenKey`: the signing secrets of `listen` are derived from it. */
export function eventSource(shard: ShardClient, org: string, listenKey: Uint8Array): StreamSource {
  return {
    isPosition: (text) => /^evt_[0-9A-Za-z]{0,64}$/.test(text),
    async begin(position) {
      const cursor = position ?? (await newestEvent(shard, org));
      if (cursor === null) return null;
      const start = { organization: org, secret: listenSecret(listenKey, org) };
      return { events: `event: start\nid: ${cursor}\ndata: ${JSON.stringify(start)}\n\n`, cursor };
    },
    next: (cursor) => eventsAfter(shard, org, cursor),
  };
}

function askForEvents(shard: ShardClient, org: string, after: string | null): Promise<InternalAnswer> {
  return shard.ask({ kind: 'events_after', org, livemode: false, after, limit: itemsPerStep });
}

/** The position of the newest event; null when the shard can't tell now. */
async function newestEvent(shard: ShardClient, org: string): Promise<string | null> {
  const answer = await askForEvents(shard, org, null);
  return answer.ok ? answer.cursor || beforeAll : null;
}

/** The events after `after`. None while the shard is not running. */
async function eventsAfter(shard: ShardClient, org: string, after: string): Promise<StreamStep> {
  const answer = await askForEvents(shard, org, after);
  if (!answer.ok) return { items: [], cursor: after, isFull: false };
  const items: ListedEvent[] = JSON.parse(answer.body);
  const cursor = defined(answer.cursor, 'events come with a cursor');
  return { items, cursor, isFull: items.length === itemsPerStep };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** The position in the requests while the logs can't be asked: the stream begins when they can. */
const notKnownYet = '';

/** The requests that fit the parameters of `stream_requests`, which are valid. */
export function requestSource(askLogs: AskLogs, org: string, params: Params): StreamSource {
  const limit = Number(params.limit);
  const request = textOf(params.request);
  const filter: LogFilter = {
    status: statusRangeOf(textOf(params.status) ?? '') ?? undefined,
    path: textOf(params.path),
    // Those who follow requests do not want to see that they do.
    exceptPath: streamPath,
    object: textOf(params.object),
    idempotencyKey: textOf(params.idempotency_key),
  };
  const scope = { org, mode: 'test' } as const;
  const newestPlace = async () => (await askLogs('newest', { scope })) ?? notKnownYet;
  /** The newest ones, oldest first, and the position behind them. */
  const newest = async () => {
    if (request !== undefined) {
      const { entry = null } = (await askLogs('find', { scope, request })) ?? {};
      return { found: entry === null ? [] : [entry], cursor: await newestPlace() };
    }
    const page = await askLogs('search', { scope, filter, limit, before: null });
    return { found: page?.found.toReversed() ?? [], cursor: page?.newest ?? notKnownYet };
  };
  return {
    isPosition: isPlaceInAll,
    async begin(position) {
      if (position !== null) return { events: '', cursor: position };
      const { found, cursor } = await newest();
      const events = found.map((entry) => `data: ${JSON.stringify(entry)}\n\n`).join('');
      return { events: `${events}event: now\nid: ${cursor}\ndata: {}\n\n`, cursor };
    },
    async next(cursor) {
      if (cursor === notKnownYet) return { items: [], cursor: await newestPlace(), isFull: false };
      const step = await askLogs('after', { scope, filter, limit: itemsPerStep, after: cursor });
      if (step === null) return { items: [], cursor, isFull: false };
      const { found, newest } = step;
      const wanted = found.filter(
        (entry) => request === undefined || ('request' in entry && entry.request === request),
      );
      const items = wanted.map((entry, i) => ({
        id: i === wanted.length - 1 ? newest : null,
        body: JSON.stringify(entry),
      }));
      return { items, cursor: newest, isFull: found.length >= itemsPerStep };
    },
  };
}

/**
 * The secret with which `payments listen` signs forwarded events of test mode, and nothing else.
 * Derived from the key of the data folder, it never changes, so that a developer sets it once in
 * the receiving program.
 */
export function listenSecret(listenKey: Uint8Array, org: string): string {
  return `svc_whsec_${createHmac('sha256', listenKey).update(`listen ${org}`).digest('hex')}`;
}
