// What happens in test mode as server-sent events, for the command line with a key: the events of
// an organization, or its requests. The edge asks again and again for what came after the last item
// that was sent. So a client that reconnects with `Last-Event-ID` misses none, and a slow one holds
// its own connection only. A comment now and then keeps a connection on which nothing happens.

import { setTimeout as wait } from 'node:timers/promises';
import { type Refusal, refuse, unavailable } from '../../contract/errors/table.ts';
import { eventStreamsAtOnceMax } from '../../contract/limits.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import type { RequestHead } from '../http/request-head.ts';
import { Shares } from '../http/shares.ts';
import { takeStreamSlot } from '../http/stream-slot.ts';

/** Of all organizations together, at each edge. Who has fewer takes the place of who has most. */
export const eventStreamsMax = 64;
const pollMs = 250;
/** uWebSockets.js closes a streamed answer of which nothing was written for 10 seconds. */
export const heartbeatMs = 5_000;
export const heartbeat = ': heart-beat\n\n';
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

/** The first events, and the position behind them. */
interface StreamBeginning {
  readonly events: string;
  readonly cursor: string;
}

/** What a stream sends. */
export interface StreamSource {
  /** Whether a text is a position in it. */
  isPosition(text: string): boolean;
  /** From a position or from now on; null when it can't be told now where that is. */
  begin(position: string | null): Promise<StreamBeginning | null>;
  next(cursor: string): Promise<StreamStep>;
}

/** A request for a stream. */
interface StreamCall {
  readonly exchange: Exchange;
  /** Besides those of a stream. */
  readonly headers: string;
  readonly org: string;
  readonly source: StreamSource;
  readonly head: RequestHead;
  /** Asked again and again, because its key may be revoked. */
  isAllowed(): boolean;
  /** Called before the answer begins. */
  onBegin(): void;
}

export class EventStreams {
  readonly #slots = new Shares(eventStreamsMax, [eventStreamsAtOnceMax]);

  /**
   * Answers with the stream, until the client leaves, the service stops, the stream is not allowed
   * any more or loses its slot to an organization with fewer. Resolves with why the request is
   * refused instead; null: it is not.
   */
  async stream(call: StreamCall): Promise<Refusal | null> {
    const { exchange, org, source } = call;
    const { lastEventId } = call.head;
    if (lastEventId !== '' && !source.isPosition(lastEventId)) return wrongPosition;
    const slot = takeStreamSlot(this.#slots, [org], exchange);
    if (slot === null) return tooMany;
    try {
      const begun = await this.#begin(call);
      if (typeof begun !== 'string') return begun;
      await this.#follow({ ...call, isAllowed: () => !slot.isLost && call.isAllowed() }, begun);
      return null;
    } finally {
      slot.giveBack();
    }
  }

  /**
   * Writes the beginning, which may be long and is not kept while the stream goes on. Resolves with
   * the position behind it, or why there is none.
   */
  async #begin({ exchange, headers, source, head, onBegin }: StreamCall): Promise<string | Refusal> {
    const begun = await source.begin(head.lastEventId || null);
    if (begun === null) return unavailable;
    const text = `retry: 1000\n${begun.events}`;
    if (!exchange.hasRoomFor(Buffer.byteLength(text))) return unavailable;
    if (exchange.isOpen) {
      onBegin();
      exchange.begin(200, eventStream + headers);
      await exchange.write(text);
    }
    return begun.cursor;
  }

  async #follow({ exchange, source, isAllowed }: StreamCall, begun: string): Promise<void> {
    let [cursor, writtenAt] = [begun, performance.now()];
    while (exchange.isOpen && !exchange.isClosing && isAllowed()) {
      const step = await source.next(cursor);
      for (const { id, body } of step.items) {
        // A slow client may take minutes for the items of one step.
        if (!isAllowed()) return exchange.finish();
        await exchange.write(`${id === null ? '' : `id: ${id}\n`}data: ${body}\n\n`);
      }
      cursor = step.cursor;
      if (step.isFull) continue;
      if (performance.now() - writtenAt >= heartbeatMs) {
        await exchange.write(heartbeat);
        writtenAt = performance.now();
      }
      await wait(pollMs);
    }
    exchange.finish();
  }
}
