// What a commit batch does for webhooks: it records reported attempts, and leases due deliveries to
// the webhook threads.

import { elementAt } from '../core/assert.ts';
import { attemptsPerTrim, isFirstSuccess, newestSerial } from '../domain/attempts.ts';
import { causes } from '../domain/cause.ts';
import type { AttemptReport } from '../domain/deliveries.ts';
import type { DeliveryRecord } from '../domain/record.ts';
import type { CommitBatch, Peer } from './commit-batch.ts';
import { executeFor } from './execute-command.ts';
import type { EndpointReport, OutboxMessage } from './protocol.ts';
import type { DeliveryOutcome } from './shard-options.ts';
import type { ShardState } from './shard-state.ts';

type Status = DeliveryRecord['status'];

/** First attempts of deliveries to one endpoint that have succeeded, which one command records. */
interface Successes {
  /** Of the first of them: they belong to the same organization. */
  readonly delivery: DeliveryRecord;
  readonly reports: EndpointReport[];
  /** Their places in the message. */
  readonly places: number[];
}

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
  /** What became of each delivery; null: nothing. */
  const statuses: (Status | null)[] = reports.map(() => null);
  const successes = new Map<string, Successes>();
  for (const [place, report] of reports.entries()) {
    const { endpoint, delivery: id, number, result } = report;
    // One that is damaged since is not recorded, and is not reported again.
    const delivery = reads.readOr(undefined, () => records.get('delivery', id));
    const isNew = delivery?.attempt_count === number;
    // An attempt that was recorded before is acknowledged also while writes are refused, so that
    // the next one can follow.
    if (isNew && state.refusesWrites) continue;
    outbox.release(endpoint, id, number);
    batch.acknowledge(thread, { endpoint, delivery: id, number });
    if (!isNew) continue;
    if (isFirstSuccess(number, result)) addSuccess(successes, delivery, report, place);
    else statuses[place] = recordAttempt(state, batch, delivery, report);
  }
  for (const { delivery, reports, places } of successes.values()) {
    const params = { reports };
    const given = { operation: 'record_successes', params, cause: causes.webhook } as const;
    const outcome = executeFor(state, batch, delivery, given);
    if ('result' in outcome)
      for (const [i, place] of places.entries()) statuses[place] = elementAt(outcome.result, i);
  }
  // In the order of the attempts: the last one says whether an endpoint fails.
  for (const [place, { endpoint, result }] of reports.entries()) {
    const status = elementAt(statuses, place);
    if (status === null) continue;
    if (outbox.has(endpoint)) state.health.add(endpoint, result);
    onOutcome(status === 'pending' ? 'retried' : status);
  }
}

function addSuccess(
  successes: Map<string, Successes>,
  delivery: DeliveryRecord,
  report: EndpointReport,
  place: number,
): void {
  const others = successes.get(delivery.endpoint);
  if (others === undefined)
    successes.set(delivery.endpoint, { delivery, reports: [report], places: [place] });
  else {
    others.reports.push(report);
    others.places.push(place);
  }
}

/**
 * Records an attempt that becomes a record, within the quota of the organization. Returns the
 * delivery's status; null when refused.
 */
function recordAttempt(
  state: ShardState,
  batch: CommitBatch,
  delivery: DeliveryRecord,
  report: AttemptReport,
): Status | null {
  const { name, attempts } = state.scopes.get(delivery.org, delivery.livemode, batch);
  const { result } = report;
  const cause = causes.webhook;
  const serial = attempts.nextSerial(() => newestSerial(state.tasks, name));
  const isKept = result.answer === '' || (result.failure !== null && attempts.takesAnswer(batch));
  const params = { ...report, serial, result: isKept ? result : { ...result, answer: null } };
  const outcome = executeFor(state, batch, delivery, { operation: 'record_attempt', params, cause });
  // Trimming is refused if an attempt is damaged that it would drop. Retention removes these.
  if (serial % attemptsPerTrim === 0)
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
