// What happens in test mode as server-sent events, for the command line with a key: the events of
// an organization, or its requests. The edge asks again and again for what came after the last item
// that was sent. So a client that reconnects with `Last-Event-ID` misses none, and a slow one holds
// its own connection only. A comment says now and then that nothing has happened.

import { setTimeout as wait } from 'node:timers/promises';
import { type Refusal, refuse } from '../../contract/errors/table.ts';
import { eventStreamsAtOnceMax } from '../../contract/limits.ts';
import { defined } from '../../core/assert.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import type { RequestHead } from '../http/request-head.ts';
import { Shares } from '../http/shares.ts';

/** Of all organizations together, at each edge. */
const streamsMax = 64;
const pollMs = 250;
/** uWebSockets.js closes a streamed answer of which nothing was written for 10 seconds. */
const heartbeatMs = 5_000;
const eventStream = headerLines(['Content-Type', 'text/event-stream']);

const tooMany = refuse('rate_limit_exceeded', {
  message: 'rate_limit_exceeded.streams',
  values: { max: eventStreamsAtOnceMax },
  retryAfterSeconds: 5,
});
const wrongPosition = refuse('parameter_invalid', { param: 'Last-Event-ID' });

/** Items after a position; there may be more at once. */
export interface StreamStep {
  /** The last one has a position, from which a client can go on. */
  readonly items: readonly { readonly id: string | null; readonly body: string }[];
  readonly cursor: string;
  readonly isFull: boolean;
}

/** What a stream sends. */
export interface StreamSource {
  /** Whether a text is a position in it. */
  isPosition(text: string): boolean;
  /**
   * The first events, from a position or from now on, and the position behind them; null when it
   * can't be told now where that is.
   */
  begin(position: string | null): Promise<{ readonly events: string; readonly cursor: string } | null>;
  next(cursor: string): Promise<StreamStep>;
}

export class EventStreams {
  readonly #slots = new Shares(streamsMax, [eventStreamsAtOnceMax]);

  /** Why an organization gets no stream now; null when it does. */
  refusal(org: string, source: StreamSource, { lastEventId }: RequestHead): Refusal | null {
    if (lastEventId !== '' && !source.isPosition(lastEventId)) return wrongPosition;
    return this.#slots.isFull([org]) ? tooMany : null;
  }

  /**
   * Answers with the stream, until the client leaves, the service stops or the stream is not
   * allowed any more.
   */
  async stream(
    exchange: Exchange,
    headers: string,
    org: string,
    source: StreamSource,
    head: RequestHead,
    isAllowed: () => boolean,
  ): Promise<void> {
    const end = defined(this.#slots.take([org]), 'a stream is not refused');
    try {
      await this.#write(exchange, headers, source, head, isAllowed);
      exchange.finish();
    } finally {
      end();
    }
  }

  async #write(
    exchange: Exchange,
    headers: string,
    source: StreamSource,
    { lastEventId }: RequestHead,
    isAllowed: () => boolean,
  ): Promise<void> {
    const begun = await source.begin(lastEventId || null);
    if (begun === null) return exchange.cut();
    exchange.begin(200, eventStream + headers);
    await exchange.write(`retry: 1000\n${begun.events}`);
    let [cursor, writtenAt] = [begun.cursor, performance.now()];
    while (exchange.isOpen && !exchange.isClosing) {
      if (!isAllowed()) return;
      const step = await source.next(cursor);
      if (!isAllowed()) return;
      for (const { id, body } of step.items)
        await exchange.write(`${id === null ? '' : `id: ${id}\n`}data: ${body}\n\n`);
      cursor = step.cursor;
      if (step.items.length > 0) writtenAt = performance.now();
      if (step.isFull) continue;
      if (performance.now() - writtenAt >= heartbeatMs) {
        await exchange.write(': heart-beat\n\n');
        writtenAt = performance.now();
      }
      await wait(pollMs);
    }
  }
}
