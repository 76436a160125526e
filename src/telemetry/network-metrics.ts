// The metrics of payment networks in a shard: the calls that wait for an outcome, those that had no
// valid answer, and what networks have posted. The labels name the connector and the mode, never an
// organization.

import type { Counter, Gauge, Registry } from 'prom-client';
import { type Mode, modeOf, modes, type PaymentMethodType } from '../contract/vocabulary.ts';
import { methodOfCall } from '../domain/network-call.ts';
import { type ConnectorName, connectorNames } from '../networks/connectors.ts';
import { type CallbackOutcome, callbackOutcomes } from '../networks/network.ts';
import type { OpenCallSummary } from '../shard/open-calls.ts';
import type { CallbackRequest } from '../shard/protocol.ts';
import { metricsIn } from './metrics-in.ts';

const labels = ['shard', 'connector', 'mode'] as const;
/** An accepted call is one whose outcome the network tells later. */
const states = ['sent', 'accepted'] as const;

interface NetworkNames {
  /** What the payments of a method go through. */
  nameOf(org: string, mode: Mode, method: PaymentMethodType): ConnectorName | 'simulator' | 'none';
}

export class NetworkMetrics {
  readonly #shard: string;
  readonly #networks: NetworkNames;
  readonly #waiting: Gauge;
  readonly #oldest: Gauge;
  readonly #failures: Counter;
  readonly #callbacks: Counter;

  constructor(registry: Registry, shard: string, networks: NetworkNames) {
    this.#shard = shard;
    this.#networks = networks;
    const { gauge, counter } = metricsIn(registry);
    this.#waiting = gauge(
      'payments_network_calls_waiting',
      'Calls to payment networks whose outcome a network owes',
      [...labels, 'state'],
    );
    this.#oldest = gauge(
      'payments_network_oldest_call_seconds',
      'For how long the oldest of them has waited',
      [...labels, 'state'],
    );
    this.#failures = counter(
      'payments_network_failures_total',
      'Calls to payment networks that had no valid answer',
      labels,
    );
    this.#callbacks = counter(
      'payments_network_callbacks_total',
      'What payment networks, or others in their name, have posted, by what became of it',
      [...labels, 'outcome'],
    );
    // Start at 0, so that rate() sees the first increment.
    for (const mode of modes) {
      for (const connector of ['simulator', 'none', ...connectorNames])
        this.#failures.inc({ shard, connector, mode }, 0);
      for (const connector of connectorNames)
        for (const outcome of callbackOutcomes) this.#callbacks.inc({ shard, connector, mode, outcome }, 0);
    }
  }

  #labelsOf(call: OpenCallSummary): Record<(typeof labels)[number], string> {
    const mode = modeOf(call.livemode);
    const connector = this.#networks.nameOf(call.org, mode, methodOfCall(call));
    return { shard: this.#shard, connector, mode };
  }

  /** Shows the calls whose outcome a network owes now. There may be thousands. */
  show(calls: Iterable<OpenCallSummary>, nowMs: number): void {
    const shown = new Map<string, { readonly labels: object; count: number; created: number }>();
    for (const call of calls) {
      const labels = { ...this.#labelsOf(call), state: call.accepted ? 'accepted' : 'sent' };
      const key = Object.values(labels).join();
      const alike = shown.get(key) ?? { labels, count: 0, created: call.created };
      shown.set(key, alike);
      alike.count++;
      alike.created = Math.min(alike.created, call.created);
    }
    for (const gauge of [this.#waiting, this.#oldest]) this.#reset(gauge);
    for (const { labels, count, created } of shown.values()) {
      this.#waiting.set({ ...labels }, count);
      this.#oldest.set({ ...labels }, Math.max(0, nowMs / 1000 - created));
    }
  }

  #reset(gauge: Gauge): void {
    gauge.reset();
    for (const mode of modes)
      for (const connector of mode === 'test' ? ['simulator', ...connectorNames] : connectorNames)
        for (const state of states) gauge.set({ shard: this.#shard, connector, mode, state }, 0);
  }

  /** A call had no valid answer. */
  failed(call: OpenCallSummary): void {
    this.#failures.inc(this.#labelsOf(call));
  }

  /** Something was posted. */
  posted({ connector, mode }: Pick<CallbackRequest, 'connector' | 'mode'>, outcome: CallbackOutcome): void {
    this.#callbacks.inc({ shard: this.#shard, connector, mode, outcome });
  }
}
