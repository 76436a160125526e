// The events of a test organization as server-sent events, for `payments listen` with a key. The
// edge asks the shard again and again for what came after the last event that was sent. So a client
// that reconnects with `Last-Event-ID` misses none, and a slow one holds its own connection only.
//
//   event: start            who is followed, and the secret that signs forwarded events
//   id: evt_…               an event, as a delivery has it: the JSON in one line
//   : heart-beat            nothing has happened for a while

import { setTimeout as wait } from 'node:timers/promises';
import { type Refusal, refuse } from '../../contract/errors/table.ts';
import { idPrefixes } from '../../contract/id-prefixes.ts';
import { eventStreamsAtOnceMax } from '../../contract/limits.ts';
import { defined } from '../../core/assert.ts';
import type { Clock } from '../../core/clock.ts';
import type { ShardClient } from '../../shard/client.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { KeyRing } from './authenticate.ts';
import { listenSecret } from './listen-secret.ts';

/** Of all organizations together, for each edge. */
const streamsMax = 64;
const pollMs = 250;
/** uWebSockets.js closes a streamed answer of which nothing was written for 10 seconds. */
const heartbeatMs = 5_000;
const eventsPerStep = 16;
/** Sorts before every event: the position of an organization that has none yet. */
const beforeAll = `${idPrefixes.event}_`;

const eventStream = headerLines(['Content-Type', 'text/event-stream']);
const eventPosition = /^evt_[0-9A-Za-z]{0,64}$/;

const tooMany = refuse('rate_limit_exceeded', {
  message: 'rate_limit_exceeded.streams',
  values: { max: eventStreamsAtOnceMax },
  retryAfterSeconds: 5,
});
const wrongPosition = refuse('parameter_invalid', { param: 'Last-Event-ID' });

export interface EventStreamOptions {
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  /** The signing secrets of `listen` are derived from it. */
  readonly listenKey: Uint8Array;
}

export class EventStreams {
  readonly #options: EventStreamOptions;
  /** How many an organization has. */
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Why an organization gets no stream now; null when it does. */
  refusal(org: string, { lastEventId }: RequestHead): Refusal | null {
    if (lastEventId !== '' && !eventPosition.test(lastEventId)) return wrongPosition;
    const isFull = this.#total >= streamsMax || (this.#open.get(org) ?? 0) >= eventStreamsAtOnceMax;
    return isFull ? tooMany : null;
  }

  /**
   * Answers with the stream. It ends when the client leaves, the service stops, or the key works no
   * more.
   */
  async stream(
    exchange: Exchange,
    headers: string,
    shard: ShardClient,
    org: string,
    head: RequestHead,
  ): Promise<void> {
    this.#total++;
    this.#open.set(org, (this.#open.get(org) ?? 0) + 1);
    try {
      await this.#write(exchange, headers, shard, org, head);
      exchange.finish();
    } finally {
      this.#total--;
      const left = defined(this.#open.get(org), 'each stream is counted') - 1;
      if (left === 0) this.#open.delete(org);
      else this.#open.set(org, left);
    }
  }

  async #write(
    exchange: Exchange,
    headers: string,
    shard: ShardClient,
    org: string,
    { authorization, lastEventId }: RequestHead,
  ): Promise<void> {
    const { keyRing, clock, listenKey } = this.#options;
    const first = lastEventId === '' ? await eventsAfter(shard, org, null) : null;
    let cursor = first === null ? lastEventId : first.cursor || beforeAll;
    const start = { organization: org, secret: listenSecret(listenKey, org) };
    exchange.begin(200, eventStream + headers);
    await exchange.write(`retry: 1000\nevent: start\nid: ${cursor}\ndata: ${JSON.stringify(start)}\n\n`);
    let writtenAt = performance.now();
    while (exchange.isOpen && !exchange.isClosing) {
      if ('refusal' in keyRing.authenticate(authorization, clock)) return;
      const { events, cursor: last } = await eventsAfter(shard, org, cursor);
      for (const { id, body } of events) await exchange.write(`id: ${id}\ndata: ${body}\n\n`);
      cursor = last;
      if (events.length > 0) writtenAt = performance.now();
      if (events.length === eventsPerStep) continue;
      if (performance.now() - writtenAt >= heartbeatMs) {
        await exchange.write(': heart-beat\n\n');
        writtenAt = performance.now();
      }
      await wait(pollMs);
    }
  }
}

interface Step {
  readonly events: readonly { readonly id: string; readonly body: string }[];
  readonly cursor: string;
}

/**
 * The events after `after`; for null no events, but the newest one as the cursor. None while the
 * shard is not running.
 */
async function eventsAfter(shard: ShardClient, org: string, after: string | null): Promise<Step> {
  const answer = await shard.ask({ kind: 'events_after', org, livemode: false, after, limit: eventsPerStep });
  if (!answer.ok) return { events: [], cursor: after ?? '' };
  return { events: JSON.parse(answer.body), cursor: defined(answer.cursor, 'events come with a cursor') };
}
