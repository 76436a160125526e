// The runner makes calls to payment networks and reports their outcomes. It is given a call once
// the call's record is durable, and all open calls again after a restart. It sends a call only when
// the call can't have been sent before, or when the network says that it never saw it; after any
// failure it asks the network before it sends again. Where a call that is sent twice may have two
// effects, `unknown` is not believed for a while: the call may still be under way there.
//
// A call leaves the runner when `apply` has taken its final outcome. After an `accepted` the
// network tells the final outcome, or the runner learns it by asking again and again. A call about
// money that the customer or the network may have moved meanwhile begins with the question. What
// the network says that makes no sense is an error, not an outcome.
//
// Where the network can't tell, a person may: the runner settles a call with what they found out,
// at a moment when the call is in no other hands.
//
// Thousands of calls may be open. Few are made or asked about at once, new ones apart from
// questions, for which nobody waits; the others wait for their turn (call-turns.ts).

import { jittered } from '../core/jitter.ts';
import { backOffMs } from '../core/scheduler.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import { askedAtOnceMax, CallTurns, sentAtOnceMax } from './call-turns.ts';
import { Sender, type SenderOptions } from './sender.ts';

type Apply = (callId: string, outcome: NetworkOutcome) => Promise<void>;

export interface RunnerOptions extends SenderOptions {
  /** Applies an outcome durably. When it rejects it is called again, so maybe twice. */
  readonly apply: Apply;
  /** Whether a call has no final outcome yet. */
  readonly isOpen: (callId: string) => boolean;
  /** Told of every call that will be tried again. `error` never holds card data. */
  readonly onTrouble: (trouble: { readonly callId: string; readonly error: unknown }) => void;
  /** Draws a whole number below `limit`, for the jitter of what waits. */
  readonly randomBelow: (limit: number) => number;
}

const retry = { minMs: 500, maxMs: 60_000 };
/** Waits until an accepted call is asked about. */
const accepted = { minMs: 30_000, maxMs: 900_000 };

/** The calls that begin with the question what became of them, after a while. */
const beginsWithQuestion: ReadonlySet<NetworkCall['action']> = new Set([
  'await_card_payment',
  'capture_charge',
  'release_charge',
]);

interface UnderWay {
  readonly call: NetworkCall;
  /** What went wrong when it was last made or asked about; null when nothing did. */
  lastError: string | null;
  /** It is being made, asked about or settled. Each begins only when none of them is under way. */
  isBusy: boolean;
  /** The network has told its final outcome, which is being applied. */
  hasOutcome: boolean;
}

/** Why a person can't settle a call now. */
export type NotSettled =
  /** It has its outcome, or never was. */
  | { readonly because: 'not_open' }
  | { readonly because: 'busy' }
  /** It may have been sent, and may still be under way for so long. */
  | { readonly because: 'under_way'; readonly ms: number }
  /** Nothing went wrong: the network has it, or is asked about it next. */
  | { readonly because: 'goes_on' };

/** Something that is done about a call: it is made, or asked about. */
interface Step {
  take(): Promise<NetworkOutcome>;
  answered(outcome: NetworkOutcome): void;
  failed(error: unknown): void;
}

export class Runner {
  readonly #options: RunnerOptions;
  readonly #sender: Sender;
  /** The calls under way. One that is given again is ignored. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #sent = new CallTurns(sentAtOnceMax);
  readonly #asked = new CallTurns(askedAtOnceMax);
  #isStopped = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#sender = new Sender(options);
    options.networks.onOutcome((id, outcome) => this.#report(id, outcome));
  }

  /** Makes a call that was never made before. */
  run(call: NetworkCall): void {
    if (!this.#take(call)) return;
    if (beginsWithQuestion.has(call.action)) this.#askLater(call, 0);
    else this.#start(call);
  }

  /** Continues calls that may have been made before a restart. */
  recover(calls: readonly NetworkCall[]): void {
    const taken = calls.filter((call) => this.#take(call));
    for (const { id } of taken) this.#sender.mayHaveSent(id);
    for (const call of taken) this.#ask(call, 0);
  }

  /** What went wrong when a call was last made or asked about; null when nothing did. */
  lastError(callId: string): string | null {
    return this.#underWay.get(callId)?.lastError ?? null;
  }

  /** Whether the network owes an outcome: not while a customer is on its page and it answers. */
  isOwed({ id, action }: Pick<NetworkCall, 'id' | 'action'>): boolean {
    return action !== 'await_card_payment' || this.lastError(id) !== null;
  }

  /**
   * Applies what a person found out about a call of which the network can't tell; null when that is
   * done. Nobody makes the call or asks about it meanwhile. Rejects as `apply` does, and the call
   * goes on then.
   */
  async settle(callId: string, outcome: NetworkOutcome, apply: Apply): Promise<NotSettled | null> {
    const underWay = this.#underWay.get(callId);
    if (underWay === undefined || !this.#options.isOpen(callId)) return { because: 'not_open' };
    if (underWay.isBusy || underWay.hasOutcome) return { because: 'busy' };
    const ms = this.#sender.underWayMs(underWay.call);
    if (ms > 0) return { because: 'under_way', ms };
    if (underWay.lastError === null) return { because: 'goes_on' };
    underWay.isBusy = true;
    try {
      await apply(callId, outcome);
      this.#forget(callId);
      return null;
    } finally {
      underWay.isBusy = false;
    }
  }

  /** Starts no more calls. Those under way are found again by `recover`. */
  stop(): void {
    this.#isStopped = true;
  }

  #take(call: NetworkCall): boolean {
    if (this.#isStopped || this.#underWay.has(call.id)) return false;
    this.#underWay.set(call.id, { call, lastError: null, isBusy: false, hasOutcome: false });
    return true;
  }

  #forget(callId: string): void {
    this.#underWay.delete(callId);
    this.#sender.forget(callId);
  }

  #retry(callId: string, tries: number, error: unknown, action: (tries: number) => void): void {
    if (this.#isStopped) return;
    this.#options.onTrouble({ callId, error });
    const underWay = this.#underWay.get(callId);
    if (underWay !== undefined) underWay.lastError = error instanceof Error ? error.message : String(error);
    this.#after(backOffMs(retry, tries), () => action(tries + 1));
  }

  #after(ms: number, action: () => void): void {
    const { timers, randomBelow } = this.#options;
    timers.after(jittered(ms, randomBelow), action);
  }

  /** Makes a call, or asks about it, when its turn has come, unless it is decided by then. */
  #inTurn(turns: CallTurns, call: NetworkCall, step: Step): void {
    const begin = async () => {
      if (this.#isStopped) return;
      const underWay = this.#underWay.get(call.id);
      if (underWay === undefined || !this.#options.isOpen(call.id)) return this.#forget(call.id);
      if (underWay.isBusy) return this.#after(retry.minMs, () => this.#inTurn(turns, call, step));
      underWay.isBusy = true;
      await step.take().then(
        (outcome) => {
          underWay.isBusy = false;
          step.answered(outcome);
        },
        (error) => {
          underWay.isBusy = false;
          step.failed(error);
        },
      );
    };
    const host = this.#sender.hostOf(call);
    if (host === undefined) void begin();
    else turns.take(host, call.org, begin);
  }

  #report(callId: string, outcome: NetworkOutcome, tries = 0): void {
    if (this.#isStopped) return;
    const underWay = this.#underWay.get(callId);
    if (underWay !== undefined && outcome.result !== 'accepted') underWay.hasOutcome = true;
    this.#options.apply(callId, outcome).then(
      () => void (outcome.result === 'accepted' || this.#forget(callId)),
      (error) => this.#retry(callId, tries, error, (next) => this.#report(callId, outcome, next)),
    );
  }

  /** Reports what a network has answered, and asks again later when that is not the end. */
  #answered(call: NetworkCall, outcome: NetworkOutcome, times: number): void {
    const underWay = this.#underWay.get(call.id);
    const refusal = outcome.result === 'accepted' ? outcome.refusal : undefined;
    if (underWay !== undefined)
      underWay.lastError = refusal === undefined ? null : `the network refuses it for now (${refusal})`;
    if (times === 0 || outcome.result !== 'accepted') this.#report(call.id, outcome);
    if (outcome.result === 'accepted') this.#askLater(call, times);
  }

  /** Asks about a call after a while, the longer the more often that was done before. */
  #askLater(call: NetworkCall, times: number): void {
    this.#after(backOffMs(accepted, times), () => this.#ask(call, 0, times + 1));
  }

  #start(call: NetworkCall): void {
    this.#inTurn(this.#sent, call, {
      take: () => this.#sender.send(call),
      answered: (outcome) => this.#answered(call, outcome, 0),
      failed: (error) => this.#retry(call.id, 0, error, (tries) => this.#ask(call, tries)),
    });
  }

  /** Asks about an open call. `accepted`: how often the network said that it is under way. */
  #ask(call: NetworkCall, tries: number, accepted = 0): void {
    this.#inTurn(this.#asked, call, {
      take: () => this.#sender.askFirst(call),
      answered: (outcome) => this.#answered(call, outcome, accepted),
      failed: (error) => this.#retry(call.id, tries, error, (next) => this.#ask(call, next, accepted)),
    });
  }
}
