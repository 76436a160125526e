// The start of a shard: rebuilds its state from the checkpoint and the log, and goes on with the time where it stood.

import { idempotencyRetentionMs } from '../contract/limits.ts';
import { assert } from '../core/assert.ts';
import type { Clocks } from '../core/clock.ts';
import { timeOfId } from '../core/ids.ts';
import { type ClockObserver, ServiceClock } from '../core/service-clock.ts';
import { operationIndex } from '../domain/indexes.ts';
import type { OperationRecord } from '../domain/record.ts';
import type { Journal, KeptKey } from '../journal/journal.ts';
import { clockLevel, readClock } from './levels.ts';
import type { ShardState } from './shard-state.ts';

export interface Recovery {
  readonly state: ShardState;
  readonly journal: Journal;
  readonly clocks: Clocks;
  readonly clockObserver: ClockObserver;
  /** Gets the keys that the checkpoint does not hold. */
  readonly onKept: (key: KeptKey) => void;
}

/** Replays the journal into `state`; returns the shard's clock. */
export function recover({ state, journal, clocks, clockObserver, onKept }: Recovery): ServiceClock {
  const { log, checkpoint } = journal;
  const level = readClock(checkpoint.getLevel(clockLevel));
  const clock = new ServiceClock(clocks, level?.clock ?? null, clockObserver);
  const { serviceMs, nowMs } = clock.read();
  for (const key of checkpoint.keptKeys(serviceMs - idempotencyRetentionMs)) state.index.add(key);
  let lastIdMs = level?.ids.lastMs ?? 0;
  for (const entry of journal.replay()) {
    for (const change of entry.changes) {
      state.records.apply(change);
      lastIdMs = Math.max(lastIdMs, timeOfId(change.id));
    }
    if (entry.kept !== null) onKept(entry.kept);
    clock.notBefore(entry.timeMs);
  }
  state.startIds({ lastMs: lastIdMs, leadMs: Math.max(level?.ids.leadMs ?? 0, lastIdMs - nowMs) });
  state.rememberRunning(openOperations(state));
  state.outbox.start();
  assert(log.nextSequence >= checkpoint.sequence, 'the log is not behind the checkpoint');
  return clock;
}

/** The calls to payment networks that have no final outcome: to be asked about after a start. */
export function openOperations({ records }: ShardState): OperationRecord[] {
  return [...records.scan(operationIndex, { descending: false })] as OperationRecord[];
}
