// The sender makes calls to payment networks and asks about them. Where a call that is sent twice
// may have two effects, one that may have been sent, and was not answered, is not sent again at
// once when the network does not know it: it may be on its way. Each time it waits longer, because
// a network remembers what it refuses, too. And it is not sent at all before the log has confirmed
// who owns the partition: the network fences nobody.

import { modeOf } from '../contract/vocabulary.ts';
import { AssertionFailure, assert, defined } from '../core/assert.ts';
import { backOffMs, type Scheduler, type Timers } from '../core/scheduler.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import { type Ownership, requireHeld } from '../journal/ownership.ts';
import type { CardNetwork, CashCode, CashNetwork, Networks } from './network.ts';

const noNetwork: NetworkOutcome = { result: 'failed', reason: 'no_network' };

export interface SenderOptions {
  /** Asked before every call and question: networks hear the owner of the partition only. */
  readonly ownership: Ownership;
  readonly networks: Networks;
  readonly timers: Timers;
  readonly scheduler: Pick<Scheduler, 'elapsedMs'>;
  /** Milliseconds after which a call or a question has failed. Longer than either takes. */
  readonly timeoutMs: number;
}

/** A call that may have been sent, without an answer. */
interface Unanswered {
  /** How often, less one. */
  readonly again: number;
  /** `waits`: the network knows nothing. `over`: nor does it after a while. */
  doubt: 'unasked' | 'waits' | 'over';
  /** When it was last sent, or when that became unknown, by `elapsedMs`. */
  sinceMs: number;
}

/** The longest that a call waits until it is sent again, unless its network wants more. */
const doubtMsMax = 3_600_000;

/** How long a call may be under way at a network that does not say so. */
const doubtMsOtherwise = 300_000;

export class Sender {
  readonly #options: SenderOptions;
  readonly #unanswered = new Map<string, Unanswered>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Sends a call that the network does not know. Without a network it fails at once. */
  async send(call: NetworkCall): Promise<NetworkOutcome> {
    const { ownership } = this.#options;
    // Not within the time of the call: one that was given up may not be sent after all.
    if (this.#networkOf(call)?.doubtMs !== undefined) await ownership.confirm?.();
    try {
      return await this.#within(async () => {
        if (this.#networkOf(call) === null) return noNetwork;
        this.mayHaveSent(call.id);
        const outcome = await send(this.#options.networks, call);
        this.forget(call.id);
        return outcome;
      });
    } catch (error) {
      const sent = this.#unanswered.get(call.id);
      if (sent !== undefined) sent.sinceMs = this.#options.scheduler.elapsedMs();
      throw error;
    }
  }

  /** For how long a call that is not being sent may still be under way; 0 when it is not. */
  underWayMs(call: NetworkCall): number {
    const sent = this.#unanswered.get(call.id);
    if (sent === undefined) return 0;
    const doubtMs = this.#usableNetworkOf(call)?.doubtMs ?? doubtMsOtherwise;
    const untilMs = sent.sinceMs + doubtMs;
    return Math.max(0, untilMs - this.#options.scheduler.elapsedMs());
  }

  /** Asks about a call, and sends it if it is unknown. Rejects while it may be on its way. */
  async askFirst(call: NetworkCall): Promise<NetworkOutcome> {
    const network = this.#networkOf(call);
    if (network === null) throw new Error('there is no network to ask about a call that was begun');
    const known = await this.#within(() => network.lookup(call));
    if (known !== 'unknown') return known;
    if (network.doubtMs !== undefined) this.#assertNoDoubt(call.id, network.doubtMs);
    return this.send(call);
  }

  #assertNoDoubt(callId: string, doubtMs: number): void {
    const sent = this.#unanswered.get(callId);
    if (sent === undefined || sent.doubt === 'over') return;
    if (sent.doubt === 'unasked') {
      sent.doubt = 'waits';
      const times = { minMs: doubtMs, maxMs: Math.max(doubtMs, doubtMsMax) };
      this.#options.timers.after(backOffMs(times, sent.again), () => {
        sent.doubt = 'over';
      });
    }
    throw new Error(
      'the network does not know the call, which may still be under way: it is not sent again yet',
    );
  }

  /** Nobody knows whether a call was sent. */
  mayHaveSent(callId: string): void {
    const { again = -1 } = this.#unanswered.get(callId) ?? {};
    const sinceMs = this.#options.scheduler.elapsedMs();
    this.#unanswered.set(callId, { again: again + 1, doubt: 'unasked', sinceMs });
  }

  forget(callId: string): void {
    this.#unanswered.delete(callId);
  }

  /** Where a call goes; undefined when it stays in this process, or can't be made. */
  hostOf(call: NetworkCall): string | undefined {
    // A page is opened by the customer's browser: who waits for it waits for no other call.
    if (call.action === 'open_card_page') return undefined;
    return this.#usableNetworkOf(call)?.host;
  }

  /** Null also where its network can't be used: whoever makes the call hears why. */
  #usableNetworkOf(call: NetworkCall): CardNetwork | CashNetwork | null {
    try {
      return this.#networkOf(call);
    } catch {
      return null;
    }
  }

  #networkOf(call: NetworkCall): CardNetwork | CashNetwork | null {
    const { card, cash } = this.#options.networks.of(call.org, modeOf(call.livemode));
    return call.cash === null ? card : cash;
  }

  /** Resolves as `action` does; rejects when it takes too long. */
  async #within<T>(action: () => Promise<T>): Promise<T> {
    const { ownership, timers, timeoutMs } = this.#options;
    requireHeld(ownership);
    return new Promise((resolve, reject) => {
      const cancel = timers.after(timeoutMs, () => reject(new Error('the network did not answer in time')));
      // The action may throw before it returns a promise.
      new Promise<T>((begin) => begin(action())).then(resolve, reject).finally(cancel);
    });
  }
}

const unsupported: NetworkOutcome = { result: 'failed', reason: 'unsupported' };

async function send(networks: Networks, call: NetworkCall): Promise<NetworkOutcome> {
  const configured = networks.of(call.org, modeOf(call.livemode));
  if (call.cash !== null)
    return sendCash(defined(configured.cash, `no network for ${call.id}`), call, call.cash);
  const card = defined(configured.card, `no network for ${call.id}`);
  switch (call.action) {
    case 'open_card_page':
      return card.openPage(call);
    case 'authorize_card':
      return card.authorize?.(call, defined(call.token, `${call.id} has no card`)) ?? unsupported;
    case 'await_card_payment':
      // Another network was active when the page was opened. On this one's nobody can pay.
      return { result: 'failed', reason: 'no_page' };
    case 'capture_charge':
      return card.capture?.(call) ?? unsupported;
    case 'release_charge':
      return card.release?.(call) ?? unsupported;
    case 'refund_charge':
      return card.refund(call);
    default:
      throw new AssertionFailure(`${call.id} is about a cash code, and has none`);
  }
}

function sendCash(network: CashNetwork, call: NetworkCall, cash: CashCode): Promise<NetworkOutcome> {
  if (call.action === 'issue_cash_code') return network.issue(call, cash);
  assert(call.action === 'cancel_cash_code', `${call.id} is about no cash code, and has one`);
  return network.cancel(call, cash);
}
