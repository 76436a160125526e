// What a commit batch does for webhooks: it records reported attempts, and leases due deliveries to
// the webhook threads.

import { attemptsPerTrim, isFirstSuccess, newestSerial } from '../domain/attempts.ts';
import { causes } from '../domain/cause.ts';
import type { AttemptReport } from '../domain/deliveries.ts';
import type { DeliveryRecord } from '../domain/record.ts';
import type { CommitBatch, Peer } from './commit-batch.ts';
import { executeFor } from './execute-command.ts';
import type { OutboxMessage } from './protocol.ts';
import type { DeliveryOutcome } from './shard-options.ts';
import type { ShardState } from './shard-state.ts';

/** Records and acknowledges reported attempts. What is not acknowledged is reported again. */
export function takeReports(
  state: ShardState,
  batch: CommitBatch,
  peer: Peer,
  { thread, open, reports }: OutboxMessage,
  onOutcome: (outcome: DeliveryOutcome) => void,
): void {
  const { outboxes, records, reads } = state;
  const outbox = outboxes.ofThread(thread);
  if (open) outbox.open(peer);
  if (outbox.peer !== peer) return;
  for (const { endpoint, ...report } of reports) {
    // One that is damaged since is not recorded, and is not reported again.
    const delivery = reads.readOr(undefined, () => records.get('delivery', report.delivery));
    const isNew = delivery?.attempt_count === report.number;
    // An attempt that was recorded before is acknowledged also while writes are refused, so that
    // the next one can follow.
    if (isNew && state.refusesWrites) continue;
    outbox.release(endpoint, report.delivery, report.number);
    batch.acknowledge(thread, { endpoint, delivery: report.delivery, number: report.number });
    if (!isNew) continue;
    const status = recordAttempt(state, batch, delivery, report);
    if (status !== null) state.health.add(endpoint, report.result);
    if (status !== null) onOutcome(status === 'pending' ? 'retried' : status);
  }
}

/** Keeps to the quota of the organization. Returns the delivery's status; null when refused. */
function recordAttempt(
  state: ShardState,
  batch: CommitBatch,
  delivery: DeliveryRecord,
  report: AttemptReport,
): DeliveryRecord['status'] | null {
  const { name, attempts } = state.scopes.get(delivery.org, delivery.livemode, batch);
  const { result } = report;
  const cause = causes.webhook;
  const isRecord = !isFirstSuccess(report.number, result);
  const serial = isRecord ? attempts.nextSerial(() => newestSerial(state.tasks, name)) : 0;
  const isKept = result.answer === '' || (result.failure !== null && attempts.takesAnswer(batch));
  const params = { ...report, serial, result: isKept ? result : { ...result, answer: null } };
  const outcome = executeFor(state, batch, delivery, { operation: 'record_attempt', params, cause });
  // Trimming is refused if an attempt is damaged that it would drop. Retention removes these.
  if (isRecord && serial % attemptsPerTrim === 0)
    executeFor(state, batch, delivery, { operation: 'trim_attempts', params: { serial }, cause });
  return 'result' in outcome ? outcome.result : null;
}

/** Leases due deliveries, to be sent when the batch is durable. True when more could be leased. */
export function leaseDeliveries({ outboxes, readOnly }: ShardState, batch: CommitBatch): boolean {
  const taken = outboxes.take(batch.serviceMs, readOnly);
  for (const [thread, leased] of taken.entries()) {
    const { peer } = outboxes.ofThread(thread);
    const recorded = batch.acknowledged(thread);
    const isEmpty = leased.endpoints.length + leased.deliveries.length + recorded.length === 0;
    if (peer !== null && (leased.complete || !isEmpty)) batch.post(peer, { outbox: { ...leased, recorded } });
  }
  return !readOnly && outboxes.isReady;
}
