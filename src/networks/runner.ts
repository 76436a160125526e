// The runner: makes the calls that operations ask for and reports their outcomes. It is handed a call once its
// operation is durable, and every open one again after a restart. It sends an operation only when it can't have been
// sent before, or when the network says that it never saw it; whatever goes wrong in between, it asks before it sends.
//
// An operation leaves the runner when its outcome was taken by `settle`. After an `accepted` the outcome follows from
// the network's own notification.

import { modeOf } from '../contract/vocabulary.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/operations.ts';
import type { LookedUp, Networks } from './network.ts';
import type { Timers } from './timers.ts';

export interface RunnerOptions {
  readonly networks: Networks;
  /**
   * Applies an outcome durably; a `settle_operation` command. It is told of an outcome again when it rejects, and an
   * outcome may come twice.
   */
  readonly settle: (operationId: string, outcome: NetworkOutcome) => Promise<void>;
  readonly timers: Timers;
  /** Milliseconds after which a call that has no answer counts as failed. */
  readonly timeoutMs: number;
  /** Hears of everything that will be tried again. `error` never holds anything of a card. */
  readonly onTrouble: (trouble: { readonly operation: string; readonly error: unknown }) => void;
}

export interface Runner {
  /** Makes a call that was never made before. */
  run(call: NetworkCall): void;
  /** Goes on with calls that may have been made before a restart. */
  recover(calls: readonly NetworkCall[]): void;
  /** Starts nothing more. What is under way is found again by `recover`. */
  stop(): void;
}

const retryMsMin = 500;
const retryMsMax = 60_000;

export function createRunner(options: RunnerOptions): Runner {
  const { networks, settle, timers, timeoutMs, onTrouble } = options;
  /** Operations in hand: one that is handed in again meanwhile has nothing to add. */
  const inHand = new Set<string>();
  let stopped = false;

  function again(operation: string, tries: number, error: unknown, action: (tries: number) => void): void {
    if (stopped) return;
    onTrouble({ operation, error });
    const delayMs = Math.min(retryMsMax, retryMsMin * 2 ** tries);
    timers.after(delayMs, () => {
      if (!stopped) action(tries + 1);
    });
  }

  function report(operation: string, outcome: NetworkOutcome, tries = 0): void {
    if (stopped) return;
    settle(operation, outcome).then(
      () => inHand.delete(operation),
      (error) => again(operation, tries, error, (next) => report(operation, outcome, next)),
    );
  }

  function start(call: NetworkCall): void {
    within(timeoutMs, timers, () => send(networks, call)).then(
      (outcome) => report(call.id, outcome),
      (error) => again(call.id, 0, error, (tries) => ask(call, tries)),
    );
  }

  function ask(call: NetworkCall, tries: number): void {
    within(timeoutMs, timers, async () => {
      const known = await lookUp(networks, call);
      return known === 'unknown' ? await send(networks, call) : known;
    }).then(
      (outcome) => report(call.id, outcome),
      (error) => again(call.id, tries, error, (next) => ask(call, next)),
    );
  }

  function take(call: NetworkCall): boolean {
    if (stopped || inHand.has(call.id)) return false;
    inHand.add(call.id);
    return true;
  }

  for (const mode of Object.values(networks)) {
    mode.card?.onOutcome((id, outcome) => report(id, outcome));
    mode.cash?.onOutcome((id, outcome) => report(id, outcome));
  }

  return {
    run(call) {
      if (!take(call)) return;
      // Without a network there is nobody to ask either: the call can't have been made.
      if (networkOf(networks, call) === null) report(call.id, { result: 'failed', reason: 'no_network' });
      else start(call);
    },
    recover(calls) {
      for (const call of calls) if (take(call)) ask(call, 0);
    },
    stop() {
      stopped = true;
    },
  };
}

/** What `action` resolves to; rejects when it takes longer than `timeoutMs`. */
function within<T>(timeoutMs: number, timers: Timers, action: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(timeoutMs, () => reject(new Error('the network did not answer in time')));
    // The action may throw before it returns a promise.
    new Promise<T>((begin) => begin(action())).then(resolve, reject).finally(cancel);
  });
}

function networkOf(networks: Networks, call: NetworkCall) {
  const mode = networks[modeOf(call.livemode)];
  return call.action === 'issue_cash_code' ? mode.cash : mode.card;
}

async function lookUp(networks: Networks, call: NetworkCall): Promise<LookedUp> {
  const network = networkOf(networks, call);
  if (network === null) throw new Error('there is no network to ask about an operation that was begun');
  return network.lookup(call.id);
}

function send(networks: Networks, call: NetworkCall): Promise<NetworkOutcome> {
  const { card, cash } = networks[modeOf(call.livemode)];
  switch (call.action) {
    case 'open_card_page':
      return card!.openPage(call);
    case 'authorize_card':
      return card!.authorize(call, call.token!);
    case 'refund_charge':
      return card!.refund(call);
    case 'issue_cash_code':
      return cash!.issue(call, call.cash!);
  }
}
