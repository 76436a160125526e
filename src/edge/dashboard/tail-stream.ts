// A list of the dashboard that is kept up to date, as server-sent events. The edge looks for news
// and asks the main thread for the list again. So it is the page's, and ends with the session.
//
//   data: …          the list as HTML; it replaces the one before
//   : heart-beat     nothing has changed for a while

import { setTimeout as wait } from 'node:timers/promises';
import type { AskLogs } from '../../request-logs/query.ts';
import type { ShardClient } from '../../shard/client.ts';
import { notStored } from '../api/api.ts';
import { heartbeat, heartbeatMs } from '../api/event-stream.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';
import { Shares } from '../http/shares.ts';
import { type StreamSlot, takeStreamSlot } from '../http/stream-slot.ts';
import type { DashboardAnswer, Unanswered } from './dashboard-port.ts';

type TailAnswer = Extract<DashboardAnswer, { kind: 'tail' }>;

/** At each edge: for all members together, for one organization, and for one of its members. */
export const tailStreamsMax = { all: 256, ofOrganization: 16, ofMember: 4 };

const lookMs = 500;
/** So that a stream ends soon after its session. */
export const askAgainMs = 15_000;

const headers =
  headerLines(['Content-Type', 'text/event-stream'], ['X-Content-Type-Options', 'nosniff']) + notStored;

interface TailStreamOptions {
  readonly shardOf: (org: string) => Pick<ShardClient, 'ask'>;
  readonly askLogs: AskLogs;
  /** Whether the directory may be believed, and with it who may see this. */
  readonly isTrusted: () => boolean;
}

export class TailStreams {
  readonly #options: TailStreamOptions;
  readonly #slots = new Shares(tailStreamsMax.all, [tailStreamsMax.ofOrganization, tailStreamsMax.ofMember]);

  constructor(options: TailStreamOptions) {
    this.#options = options;
  }

  /**
   * Answers with the stream, until it loses its slot to an organization with fewer; false when there
   * is none for it. `again` asks the main thread for the list as it is then.
   */
  async stream(
    exchange: Exchange,
    first: TailAnswer,
    again: () => Promise<DashboardAnswer | Unanswered>,
  ): Promise<boolean> {
    const slot = takeStreamSlot(this.#slots, [first.org, first.member], exchange);
    if (slot === null) return false;
    try {
      exchange.begin(200, headers);
      await this.#write(exchange, slot, first, again);
      exchange.finish();
      return true;
    } finally {
      slot.giveBack();
    }
  }

  async #write(
    exchange: Exchange,
    slot: StreamSlot,
    first: TailAnswer,
    again: () => Promise<DashboardAnswer | Unanswered>,
  ): Promise<void> {
    // What comes while the first list is on its way is in the next one.
    let seen: string | null = null;
    let shown = '';
    let answer = first;
    let [askedAt, writtenAt] = [performance.now(), Number.NEGATIVE_INFINITY];
    while (exchange.isOpen && !exchange.isClosing && !slot.isLost && this.#options.isTrusted()) {
      const now = performance.now();
      if (answer.list !== shown) {
        shown = answer.list;
        await exchange.write(`retry: 2000\n${dataLines(shown)}\n\n`);
        writtenAt = now;
      } else if (now - writtenAt >= heartbeatMs) {
        await exchange.write(heartbeat);
        writtenAt = now;
      }
      await wait(lookMs);
      const newest = await this.#newest(answer);
      const isNews = newest !== null && newest !== seen;
      if (!isNews && performance.now() - askedAt < askAgainMs) continue;
      askedAt = performance.now();
      const next = await again();
      // The main thread is away for a moment, or has too much to do.
      if (typeof next === 'string') continue;
      if (next.kind !== 'tail') return;
      seen = newest ?? seen;
      answer = next;
    }
  }

  /** What is newest in the list's source; null when that can't be told now. */
  async #newest({ source, org, livemode }: TailAnswer): Promise<string | null> {
    const { shardOf, askLogs } = this.#options;
    if (source === 'requests') {
      return askLogs('newest', { scope: { org, mode: livemode ? 'live' : 'test' } });
    }
    const question = { kind: 'events_after', org, livemode, after: null, limit: 1 } as const;
    const answer = await shardOf(org).ask(question);
    return answer.ok ? (answer.cursor ?? '') : null;
  }
}

function dataLines(text: string): string {
  return text
    .split('\n')
    .map((line) => `data: ${line}`)
    .join('\n');
}
