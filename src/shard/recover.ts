// The start of a shard: it rebuilds the state from the checkpoint and the log, and continues the
// clock.

import { idempotencyRetentionMs } from '../contract/limits.ts';
import type { Clocks } from '../core/clock.ts';
import { noLeads, withLead } from '../core/ids.ts';
import { type ClockObserver, ServiceClock } from '../core/service-clock.ts';
import { networkCallIndex } from '../domain/indexes.ts';
import type { NetworkCallRecord } from '../domain/record.ts';
import { type Journal, JournalDamaged } from '../journal/journal.ts';
import { clockKey, idsAfter, readClock } from './metadata.ts';
import type { ShardState } from './shard-state.ts';

/** The clock of a shard, which goes on where it was. Recovery moves it to where the log ends. */
export function storedClock({ checkpoint }: Journal, clocks: Clocks, observer: ClockObserver): ServiceClock {
  const stored = readClock(checkpoint.getMetadata(clockKey));
  return new ServiceClock(clocks, stored?.clock ?? null, observer);
}

/** Replays the journal. Rejects with `JournalDamaged`, also if an account is missing. */
export async function recover(state: ShardState, journal: Journal, clock: ServiceClock): Promise<void> {
  const { checkpoint } = journal;
  const { serviceMs, nowMs } = clock.read();
  const sinceMs = serviceMs - idempotencyRetentionMs;
  state.keys.index.load(checkpoint.packedIdempotencyRecords(sinceMs), sinceMs);
  let ids = readClock(checkpoint.getMetadata(clockKey))?.ids ?? { lastMs: 0, ...noLeads };
  const organizations = new Set<string>();
  for await (const entries of journal.replay()) {
    for (const entry of entries) {
      for (const change of entry.changes) {
        state.records.restore(change);
        organizations.add(change.org);
      }
      ids = idsAfter(ids, entry);
      if (entry.idempotency !== null) state.keys.index.add(entry.idempotency);
      clock.notBefore(entry.timeMs);
    }
  }
  refuseStrangers(organizations, state);
  const { lastMs } = ids;
  state.ids.start({ ...withLead(ids, lastMs, lastMs - nowMs), lastMs });
  for (const call of openNetworkCalls(state)) {
    state.openCalls.observe(call);
    if (!call.accepted) state.keys.markRunning(call.request);
  }
  state.outboxes.start();
  state.shareMemory();
}

/**
 * The network calls without a final outcome, about which a start asks the networks. Throws
 * `JournalDamaged` when one can't be read: its request could run a second time without it.
 */
export function openNetworkCalls({ records }: ShardState): NetworkCallRecord[] {
  const calls = records.scan(networkCallIndex, { descending: false });
  return [...calls].filter((record) => record.kind === 'network_call');
}

/** Refuses changes of an organization without an account: the directory is older than the log. */
function refuseStrangers(organizations: Set<string>, { scopes }: ShardState): void {
  for (const known of scopes.organizations) organizations.delete(known);
  if (organizations.size === 0) return;
  throw new JournalDamaged(
    `the directory does not know ${[...organizations].join(', ')}, of whom there are changes in the log: restore all of ` +
      'the data folder from one backup, or give up what is missing with "payments serve --accept-loss", once',
  );
}
