// The start of a shard: rebuilds its state from the checkpoint and the log, and goes on with the time where it stood.

import { idempotencyRetentionMs } from '../contract/limits.ts';
import { assert } from '../core/assert.ts';
import type { Clocks } from '../core/clock.ts';
import { timeOfId } from '../core/ids.ts';
import { type ClockObserver, ServiceClock } from '../core/service-clock.ts';
import { networkCallIndex } from '../domain/indexes.ts';
import type { NetworkCallRecord } from '../domain/record.ts';
import { type Journal, JournalDamaged } from '../journal/journal.ts';
import type { ShardAccount } from './account.ts';
import type { ShardState } from './shard-state.ts';
import { clockKey, readClock } from './small-values.ts';

export interface Recovery {
  readonly state: ShardState;
  readonly journal: Journal;
  readonly clocks: Clocks;
  readonly clockObserver: ClockObserver;
  /** Of all organizations that the shard may have records of. */
  readonly accounts: Iterable<ShardAccount>;
}

/** Replays the journal into `state`; returns the shard's clock. Throws `JournalDamaged` when accounts are missing. */
export function recover({ state, journal, accounts, clocks, clockObserver }: Recovery): ServiceClock {
  const { log, checkpoint } = journal;
  const stored = readClock(checkpoint.getSmallValue(clockKey));
  const clock = new ServiceClock(clocks, stored?.clock ?? null, clockObserver);
  const { serviceMs, nowMs } = clock.read();
  const sinceMs = serviceMs - idempotencyRetentionMs;
  state.index.load(checkpoint.packedIdempotencyRecords(sinceMs), sinceMs);
  let lastIdMs = stored?.ids.lastMs ?? 0;
  const organizations = new Set<string>();
  for (const entry of journal.replay()) {
    for (const change of entry.changes) {
      state.records.restore(change);
      organizations.add(change.org);
      lastIdMs = Math.max(lastIdMs, timeOfId(change.id));
    }
    if (entry.idempotency !== null) state.index.add(entry.idempotency);
    clock.notBefore(entry.timeMs);
  }
  refuseStrangers(organizations, accounts);
  state.startIds({ lastMs: lastIdMs, leadMs: Math.max(stored?.ids.leadMs ?? 0, lastIdMs - nowMs) });
  state.rememberRunning(openNetworkCalls(state));
  state.outbox.start();
  state.shareMemory();
  assert(log.nextSequence >= checkpoint.sequence, 'the log is not behind the checkpoint');
  return clock;
}

/** The calls to payment networks that have no final outcome: to be asked about after a start. */
export function openNetworkCalls({ records }: ShardState): NetworkCallRecord[] {
  return [...records.scan(networkCallIndex, { descending: false })] as NetworkCallRecord[];
}

/** An organization with changes in the log that has no account: the directory is older than the log. */
function refuseStrangers(organizations: Set<string>, accounts: Iterable<ShardAccount>): void {
  for (const { id } of accounts) organizations.delete(id);
  if (organizations.size === 0) return;
  throw new JournalDamaged(
    `the directory does not know ${[...organizations].join(', ')}, of whom there are changes in the log: restore all of ` +
      'the data folder from one backup, or give up what is missing with "payments serve --accept-loss", once',
  );
}
