// The runner makes calls to payment networks and reports their outcomes. It is given a call once the call's record is
// durable, and all open calls again after a restart. It sends a call only when the call can't have been sent before, or
// when the network says that it never saw it; after any failure it asks the network before it sends again. Where a call that is sent
// twice may have two effects, `unknown` is not believed for a while: the call may still be under way there.
//
// A call leaves the runner when `settle` has taken its final outcome. After an `accepted` the network tells the final outcome,
// or the runner learns it by asking again and again. A call about money that the customer or the network may have moved
// meanwhile begins with the question. What the network says that makes no sense is an error, not an outcome.

import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import { Sender, type SenderOptions } from './sender.ts';

export interface RunnerOptions extends SenderOptions {
  /**
   * Applies an outcome durably, by a `settle_network_call` command. When it rejects it is called again, so it may get an
   * outcome twice.
   */
  readonly settle: (callId: string, outcome: NetworkOutcome) => Promise<void>;
  /** Whether a call has no final outcome yet. */
  readonly isOpen: (callId: string) => boolean;
  /** Told of every call that will be tried again. `error` never holds card data. */
  readonly onTrouble: (trouble: { readonly callId: string; readonly error: unknown }) => void;
}

export interface Runner {
  /** Makes a call that was never made before. */
  run(call: NetworkCall): void;
  /** Why a call has no outcome yet: what went wrong when it was last made or asked about; null when nothing did. */
  lastError(callId: string): string | null;
  /** Whether the network owes an outcome. While a customer is on its page it does not, as long as it can be asked. */
  isOwed(call: Pick<NetworkCall, 'id' | 'action'>): boolean;
  /** Continues calls that may have been made before a restart. */
  recover(calls: readonly NetworkCall[]): void;
  /** Starts no more calls. Those under way are found again by `recover`. */
  stop(): void;
}

const retryMsMin = 500;
const retryMsMax = 60_000;
/** Waits until an accepted call is asked about. */
const acceptedMsMin = 30_000;
const acceptedMsMax = 900_000;

/** The calls that begin with the question what became of them, after a while. */
const beginsWithQuestion: ReadonlySet<NetworkCall['action']> = new Set([
  'await_card_payment',
  'capture_charge',
  'release_charge',
]);

export function createRunner(options: RunnerOptions): Runner {
  const { networks, settle, isOpen, timers, onTrouble } = options;
  /** The calls under way, with the last error of each: one that is given again meanwhile is ignored. */
  const underWay = new Map<string, string | null>();
  const sender = new Sender(options);
  let stopped = false;

  function forget(callId: string): void {
    underWay.delete(callId);
    sender.forget(callId);
  }

  function again(callId: string, tries: number, error: unknown, action: (tries: number) => void): void {
    if (stopped) return;
    onTrouble({ callId, error });
    if (underWay.has(callId)) underWay.set(callId, error instanceof Error ? error.message : String(error));
    timers.after(Math.min(retryMsMax, retryMsMin * 2 ** tries), () => {
      if (!stopped) action(tries + 1);
    });
  }

  function report(callId: string, outcome: NetworkOutcome, tries = 0): void {
    if (stopped) return;
    settle(callId, outcome).then(
      () => void (outcome.result === 'accepted' || forget(callId)),
      (error) => again(callId, tries, error, (next) => report(callId, outcome, next)),
    );
  }

  /** Reports what a network has answered, and asks again later when that is not the end. */
  function answered(call: NetworkCall, outcome: NetworkOutcome, times: number): void {
    underWay.set(call.id, null);
    if (times === 0 || outcome.result !== 'accepted') report(call.id, outcome);
    if (outcome.result === 'accepted') askLater(call, times);
  }

  /** Asks about a call after a while, the longer the more often that was done before. */
  function askLater(call: NetworkCall, times: number): void {
    timers.after(Math.min(acceptedMsMax, acceptedMsMin * 2 ** times), () => {
      if (!stopped) ask(call, 0, times + 1);
    });
  }

  function start(call: NetworkCall): void {
    sender.send(call).then(
      (outcome) => answered(call, outcome, 0),
      (error) => again(call.id, 0, error, (tries) => ask(call, tries)),
    );
  }

  /** Asks about a call, unless it has ended meanwhile. `accepted`: how often the network has said that it is under way. */
  function ask(call: NetworkCall, tries: number, accepted = 0): void {
    if (isOpen(call.id))
      sender.askFirst(call).then(
        (outcome) => answered(call, outcome, accepted),
        (error) => again(call.id, tries, error, (next) => ask(call, next, accepted)),
      );
    else forget(call.id);
  }

  function take(call: NetworkCall): boolean {
    if (stopped || underWay.has(call.id)) return false;
    underWay.set(call.id, null);
    return true;
  }

  networks.onOutcome((id, outcome) => report(id, outcome));

  return {
    run(call) {
      if (!take(call)) return;
      if (beginsWithQuestion.has(call.action)) askLater(call, 0);
      else start(call);
    },
    recover(calls) {
      const taken = calls.filter(take);
      for (const { id } of taken) sender.mayHaveSent(id);
      for (const call of taken) ask(call, 0);
    },
    lastError: (callId) => underWay.get(callId) ?? null,
    isOwed: ({ id, action }) => action !== 'await_card_payment' || typeof underWay.get(id) === 'string',
    stop() {
      stopped = true;
    },
  };
}
