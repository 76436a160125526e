// The start of a shard: it rebuilds the state from the checkpoint and the log, and continues the shard's clock.

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
  /** The accounts of all organizations of which the shard may have records. */
  readonly accounts: Iterable<ShardAccount>;
}

/** Replays the journal into `state`. Returns the shard's clock. Throws `JournalDamaged` when accounts are missing. */
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

/** The network calls that have no final outcome. After a start, the networks are asked about them. */
export function openNetworkCalls({ records }: ShardState): NetworkCallRecord[] {
  return [...records.scan(networkCallIndex, { descending: false })] as NetworkCallRecord[];
}

/** Refuses a log with changes of an organization without an account, because the directory is then older than the log. */
function refuseStrangers(organizations: Set<string>, accounts: Iterable<ShardAccount>): void {
  for (const { id } of accounts) organizations.delete(id);
  if (organizations.size === 0) return;
  throw new JournalDamaged(
    `the directory does not know ${[...organizations].join(', ')}, of whom there are changes in the log: restore all of ` +
      'the data folder from one backup, or give up what is missing with "payments serve --accept-loss", once',
  );
}
