// The networks of test mode, where no money moves. Outcomes depend on the test card alone, and a
// token says what its card does, so a call that is sent again after a restart gets the same answer,
// although nothing is stored. While it runs, the simulator remembers its answers, so that one call
// has one effect, as with a real network.
//
// The card page's `tokenize` and the calls may run in different threads, each with a simulator of
// its own.

import { declineCodes, type Mode } from '../contract/vocabulary.ts';
import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { FixedQueue } from '../core/fixed-queue.ts';
import type { Timers } from '../core/scheduler.ts';
import type { TokenizedCard } from '../domain/charges.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import type {
  CardProblem,
  CashNetwork,
  OutcomeListener,
  TellingNetworks,
  TypedCard,
  TypedCardNetwork,
} from './network.ts';
import { type CardBehavior, testCards } from './test-cards.ts';

interface SimulatorOptions {
  /** Milliseconds until a call is answered. */
  readonly latencyMs: number;
  /** Milliseconds from the decision to refund until the refund is made. */
  readonly refundSettleMs: number;
  /** How long a card payment that is confirmed late stays in `processing`, milliseconds. */
  readonly processingSettleMs: number;
  readonly now: Clock;
  readonly timers: Timers;
}

/** Calls that the simulator remembers. An older one is answered again, in the same way. */
const rememberedMax = 10_000;

/** Who takes its cash codes, as customers are told. */
export const simulatedAgents = { en: 'Test agent', fr: 'Agent de test', ar: 'وكيل اختبار' } as const;

const done: NetworkOutcome = { result: 'done' };
const accepted: NetworkOutcome = { result: 'accepted' };

/** The calls that reached the simulated networks, with their answers. */
class AnsweredCalls {
  readonly #options: SimulatorOptions;
  readonly #answers = new Map<string, NetworkOutcome>();
  /** Oldest first. To find the oldest in the map would mean to pass all that have gone. */
  readonly #ids = new FixedQueue<string>();
  readonly #listeners: OutcomeListener[] = [];

  constructor(options: SimulatorOptions) {
    this.#options = options;
  }

  /** Answers a call with `first`. To a new one `later` follows, `laterMs` after its decision. */
  async take(
    call: NetworkCall,
    first: NetworkOutcome,
    later: NetworkOutcome | null = null,
    laterMs = 0,
  ): Promise<NetworkOutcome> {
    assert(!call.livemode, 'a live call reached the simulated networks');
    let answer = this.#answers.get(call.id);
    if (answer === undefined) {
      answer = first;
      this.#remember(call.id, first);
      if (later !== null) this.#tellLater(call, later, laterMs);
    }
    await this.#latency();
    return answer;
  }

  /** A lookup has no latency, so that the runner learns the outcome of a call that timed out. */
  readonly lookup = async ({ id }: NetworkCall) => this.#answers.get(id) ?? 'unknown';

  listen(listener: OutcomeListener): void {
    this.#listeners.push(listener);
  }

  #tellLater({ id, startedAtMs }: NetworkCall, later: NetworkOutcome, laterMs: number): void {
    const { now, timers } = this.#options;
    // When the clock was set since the call, the wait must not become longer.
    const waitMs = Math.min(laterMs, Math.max(0, startedAtMs + laterMs - now()));
    timers.after(waitMs, () => {
      this.#remember(id, later);
      for (const listener of this.#listeners) listener(id, later);
    });
  }

  #remember(id: string, outcome: NetworkOutcome): void {
    if (!this.#answers.has(id)) this.#ids.push(id);
    this.#answers.set(id, outcome);
    if (this.#answers.size > rememberedMax) this.#answers.delete(this.#ids.shift() ?? '');
  }

  #latency(): Promise<void> {
    const { latencyMs, timers } = this.#options;
    return latencyMs === 0 ? Promise.resolve() : new Promise((resolve) => timers.after(latencyMs, resolve));
  }
}

/** The networks of test mode. In live mode a simulated payment would pass for a real one. */
export function createSimulator(
  mode: Mode,
  options: SimulatorOptions,
): TellingNetworks & { readonly card: TypedCardNetwork; readonly cash: CashNetwork } {
  if (mode !== 'test') throw new Error('the simulated networks are for test mode only');
  const calls = new AnsweredCalls(options);
  const { lookup } = calls;
  return {
    card: {
      tokenize: async (card) => tokenize(card, options.now()),
      openPage: (call) => calls.take(call, done),
      authorize(call, token) {
        const { outcome, lingers } = readToken(token);
        if (!lingers) return calls.take(call, outcome);
        return calls.take(call, accepted, outcome, options.processingSettleMs);
      },
      refund(call) {
        const outcome: NetworkOutcome = refundFails(call) ? { result: 'failed', reason: 'declined' } : done;
        return calls.take(call, accepted, outcome, options.refundSettleMs);
      },
      lookup,
    },
    cash: {
      issue: (call) => calls.take(call, done),
      cancel: (call) => calls.take(call, done),
      lookup,
    },
    onOutcome: (listener) => calls.listen(listener),
  };
}

function tokenize({ number, expMonth, expYear, cvc }: TypedCard, nowMs: number): TokenizedCard | CardProblem {
  const card = testCards.find((candidate) => candidate.number === number);
  if (card === undefined) return { problem: 'number' };
  // A card is valid until the end of its month, here in UTC. Banks differ in the hour.
  if (!(expMonth >= 1 && expMonth <= 12) || Date.UTC(expYear, expMonth) <= nowMs)
    return { problem: 'expiry' };
  if (!/^[0-9]+$/.test(cvc) || cvc.length !== (card.brand === 'amex' ? 4 : 3)) return { problem: 'cvc' };
  return {
    token: tokenOf(card),
    card: { brand: card.brand, last4: number.slice(-4), exp_month: expMonth, exp_year: expYear },
    challenge: card.challenge,
  };
}

/** When the payment ends and how: `sim_now_succeeds`, `sim_later_insufficient_funds`. */
function tokenOf({ lingers, decline }: CardBehavior): string {
  return `sim_${lingers ? 'later' : 'now'}_${decline ?? 'succeeds'}`;
}

function readToken(token: string): { readonly outcome: NetworkOutcome; readonly lingers: boolean } {
  const [, when, end] = /^sim_(now|later)_(\w+)$/.exec(token) ?? [];
  const decline = declineCodes.find((code) => code === end);
  if (decline !== undefined)
    return { outcome: { result: 'declined', decline_code: decline }, lingers: when === 'later' };
  if (end === 'succeeds') return { outcome: done, lingers: when === 'later' };
  return { outcome: { result: 'failed', reason: 'unknown_token' }, lingers: false };
}

function refundFails({ card }: NetworkCall): boolean {
  return testCards.some(
    ({ refundFails, brand, number }) =>
      refundFails && brand === card?.brand && number.slice(-4) === card.last4,
  );
}
