// What a turn does for webhooks: it records reported attempts, leases due deliveries to the webhook thread, ends the
// deliveries of deleted endpoints, and removes deliveries that are older than the retention time.

import { attemptsPerTrim, isFirstSuccess, newestSerial } from '../domain/attempts.ts';
import { causes } from '../domain/cause.ts';
import type { AttemptReport } from '../domain/deliveries.ts';
import { endedIndex, timeKey } from '../domain/indexes.ts';
import type { DeliveryRecord } from '../domain/record.ts';
import { about, executeCommand } from './execute-command.ts';
import type { OutboxMessage } from './protocol.ts';
import type { ShardState } from './shard-state.ts';
import type { Peer, Turn } from './turn.ts';

/** The state of a delivery after an attempt. */
export const deliveryOutcomes = ['succeeded', 'retried', 'failed', 'ended'] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

/**
 * Records and acknowledges reported attempts. An attempt that is not acknowledged is reported again. `onOutcome` is called
 * for each delivery.
 */
export function takeReports(
  state: ShardState,
  turn: Turn,
  peer: Peer,
  { open, reports }: OutboxMessage,
  onOutcome: (outcome: DeliveryOutcome) => void,
): void {
  if (open) {
    state.outbox.open();
    state.webhooks = peer;
  }
  if (state.webhooks !== peer) return;
  for (const { endpoint, ...report } of reports) {
    // One that is damaged since is not recorded, and is not reported again.
    const delivery = state.read(
      () => state.records.get('delivery', report.delivery),
      () => undefined,
    );
    const isNew = delivery?.attempt_count === report.number;
    // An attempt that was recorded before is acknowledged also while writes are refused, so that the next one can follow.
    if (isNew && state.refusesWrites) continue;
    state.outbox.release(endpoint, report.delivery, report.number);
    turn.recorded.push({ endpoint, delivery: report.delivery, number: report.number });
    if (!isNew) continue;
    const status = recordAttempt(state, turn, delivery, report);
    if (status !== null) onOutcome(outcomeOf(status));
  }
}

/** Records an attempt and keeps to the quota of its organization. Returns the delivery's status; null when it is refused. */
function recordAttempt(
  state: ShardState,
  turn: Turn,
  delivery: DeliveryRecord,
  report: AttemptReport,
): DeliveryRecord['status'] | null {
  const scope = state.scope(delivery.org, delivery.livemode, turn);
  const { attempts } = scope;
  const isRecord = !isFirstSuccess(report.number, report.result);
  const serial = isRecord ? attempts.nextSerial(() => newestSerial(state.tasks, scope.name)) : 0;
  const { failure, answer } = report.result;
  const isKept = failure !== null && answer !== '' && attempts.takesAnswer(turn);
  const params = isKept ? { ...report, serial } : withoutAnswer({ ...report, serial });
  const command = about(state, turn, delivery, 'record_attempt', params, causes.webhook);
  const outcome = executeCommand(state, turn, command, null);
  if (isRecord && serial % attemptsPerTrim === 0) trim(state, turn, delivery, serial);
  return 'result' in outcome ? outcome.result : null;
}

function withoutAnswer<R extends AttemptReport>(report: R): R {
  const { answer } = report.result;
  return answer === '' ? report : { ...report, result: { ...report.result, answer: null } };
}

/** It is refused when an attempt is damaged that it would drop: these stay until retention removes them. */
function trim(state: ShardState, turn: Turn, delivery: DeliveryRecord, serial: number): void {
  executeCommand(
    state,
    turn,
    about(state, turn, delivery, 'trim_attempts', { serial }, causes.webhook),
    null,
  );
}

function outcomeOf(status: DeliveryRecord['status']): DeliveryOutcome {
  return status === 'pending' ? 'retried' : status;
}

/** Leases due deliveries. They are sent when the turn is durable. True when more could be leased at once. */
export function leaseDeliveries(state: ShardState, turn: Turn): boolean {
  const { outbox, webhooks } = state;
  if (webhooks === null) return false;
  const batch = state.readOnly
    ? { endpoints: [], complete: false, deliveries: [] }
    : outbox.take(turn.serviceMs);
  const { recorded } = turn;
  if (batch.complete || batch.endpoints.length + batch.deliveries.length + recorded.length > 0) {
    turn.post(webhooks, { outbox: { ...batch, recorded } });
  }
  return !state.readOnly && outbox.isReady;
}

/** Ends some deliveries of each deleted endpoint; true while there are more. */
export function drainEndpoints(state: ShardState, turn: Turn): boolean {
  const { draining } = state.outbox;
  for (const [id, after] of draining) {
    const endpoint = state.read(
      () => state.records.get('webhook_endpoint', id),
      () => undefined,
    );
    const params = after === undefined ? {} : { after };
    const outcome =
      endpoint &&
      executeCommand(state, turn, about(state, turn, endpoint, 'drain_endpoint', params, causes.time), null);
    // It needs a damaged record. The next start tries again.
    if (outcome === undefined || 'refusal' in outcome) draining.delete(id);
    else if (draining.has(id) && 'result' in outcome) draining.set(id, outcome.result.after ?? undefined);
  }
  return draining.size > 0;
}

/** When the first of all ended deliveries ended, in service time; Infinity when there is none. */
export function oldestEndedMs(state: ShardState): number {
  for (const oldest of state.tasks.scan(endedIndex, { descending: false })) {
    if (oldest.kind === 'delivery') return oldest.ended_at_ms ?? Infinity;
  }
  return Infinity;
}

/** Removes some deliveries that ended before `endedBeforeMs`; true while there are more. */
export function pruneDeliveries(state: ShardState, turn: Turn, endedBeforeMs: number): boolean {
  const before = timeKey(endedBeforeMs);
  for (const oldest of state.tasks.scan(endedIndex, { before, descending: false })) {
    const command = about(state, turn, oldest, 'prune_deliveries', { endedBeforeMs }, causes.time);
    const outcome = executeCommand(state, turn, command, null);
    return 'result' in outcome && outcome.result.more;
  }
  return false;
}
