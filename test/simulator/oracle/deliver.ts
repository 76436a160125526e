// Stands in for `shard/deliver.ts`: what is recorded of attempts, and what is leased, is compared with what is due.

import type { CommitBatch, Peer } from '../../../src/shard/commit-batch.ts';
import {
  leaseDeliveries as leaseInService,
  takeReports as takeInService,
} from '../../../src/shard/deliver.ts';
import type { OutboxBatch, OutboxMessage } from '../../../src/shard/protocol.ts';
import type { DeliveryOutcome } from '../../../src/shard/shard-options.ts';
import type { ShardState } from '../../../src/shard/shard-state.ts';
import { oracleOf } from './oracle.ts';

export function takeReports(
  state: ShardState,
  batch: CommitBatch,
  peer: Peer,
  message: OutboxMessage,
  onOutcome: (outcome: DeliveryOutcome) => void,
): void {
  const oracle = oracleOf(state.records);
  oracle?.batches.takes(batch, 0);
  const take = (heard: typeof onOutcome) =>
    takeInService(state, batch, peer, message, (outcome) => {
      heard(outcome);
      onOutcome(outcome);
    });
  if (oracle === undefined) take(() => {});
  else oracle.outbox.reported(batch, peer, message, state, take);
}

export function leaseDeliveries(state: ShardState, batch: CommitBatch): boolean {
  const oracle = oracleOf(state.records);
  if (oracle === undefined) return leaseInService(state, batch);
  oracle.batches.ends(batch);
  const given = new Map<Peer, OutboxBatch>();
  const post = batch.post.bind(batch);
  batch.post = (peer, message) => {
    if (!(message instanceof ArrayBuffer) && 'outbox' in message) given.set(peer, message.outbox);
    post(peer, message);
  };
  const isMore = leaseInService(state, batch);
  batch.post = post;
  oracle.outbox.gave(batch, given, state.readOnly);
  return isMore;
}
