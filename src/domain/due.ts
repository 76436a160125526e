// Charges and sessions that expire. The shard gives the command `expire_due` for each when its time
// has come, so an expiry is journaled and replayed like any other change. What became due while the
// service was stopped expires at the start.

import { assert } from '../core/assert.ts';
import { failOverdue } from './charges.ts';
import { isOver } from './deadline.ts';
import type { Outcome } from './decision.ts';
import type { Draft } from './draft.ts';
import { dueIndex, timedKey, timeKey } from './indexes.ts';
import { cancelIntent } from './payment-intents.ts';
import type { ChargeRecord, CheckoutSessionRecord, StoredRecord } from './record.ts';
import type { View } from './view.ts';

/**
 * How long to wait before looking again at a record that can't expire yet because its payment is
 * under way.
 */
const postponeMs = 60_000;

export type DueRecord = ChargeRecord | CheckoutSessionRecord;

/** The sort key of a record in the index of those that are due. */
export function dueKey({ due_at_ms, id }: Pick<DueRecord, 'due_at_ms' | 'id'>): string {
  return timedKey(due_at_ms, id);
}

function asDue(record: StoredRecord): DueRecord {
  assert(record.kind === 'charge' || record.kind === 'checkout_session', `${record.id} can't expire`);
  return record;
}

/** Up to `count` records that are due at `serviceMs`, oldest first. */
export function dueRecords(view: Pick<View, 'scan'>, serviceMs: number, count: number): DueRecord[] {
  const due: DueRecord[] = [];
  for (const record of view.scan(dueIndex, { before: timeKey(serviceMs + 1), descending: false })) {
    due.push(asDue(record));
    if (due.length === count) break;
  }
  return due;
}

/** When the next record is due; Infinity when there is none. */
export function nextDueMs(view: Pick<View, 'scan'>): number {
  for (const record of view.scan(dueIndex, { descending: false })) return asDue(record).due_at_ms;
  return Infinity;
}

/**
 * Expires the charge or the checkout session `id` if it is due, or makes it due again later if it
 * can't expire yet.
 */
export function expireDue(draft: Draft, _params: object, id: string): { readonly result: null } {
  const { serviceMs } = draft.context;
  const charge = draft.get('charge', id);
  if (charge?.status === 'pending' && charge.due_at_ms <= serviceMs) {
    const left = failOverdue(draft, charge);
    if (left.status === 'pending') draft.put<ChargeRecord>({ ...left, due_at_ms: serviceMs + postponeMs });
  }
  const session = draft.get('checkout_session', id);
  if (session?.status === 'open' && session.due_at_ms <= serviceMs) {
    const left = expireOverdue(draft, session);
    if (left.status === 'open')
      draft.put<CheckoutSessionRecord>({ ...left, due_at_ms: serviceMs + postponeMs });
  }
  return { result: null };
}

/**
 * Wraps a decider about a charge or a session, so that it sees the record expired if its time is
 * up, although `expire_due` may not have run yet. When the decider refuses, the expiry is dropped
 * with its draft and left to `expire_due`.
 */
export function expiringFirst<P>(decider: (draft: Draft, params: P, id: string) => Outcome): typeof decider {
  return (draft, params, id) => {
    const charge = draft.get('charge', id);
    if (charge !== undefined) failOverdue(draft, charge);
    const intent = charge && draft.get('payment_intent', charge.payment_intent);
    const session = draft.get('checkout_session', intent?.checkout_session ?? id);
    if (session !== undefined) expireOverdue(draft, session);
    return decider(draft, params, id);
  };
}

/**
 * Expires a session whose time is up, unless its payment is under way. Returns the session as it is
 * then.
 */
export function expireOverdue(draft: Draft, session: CheckoutSessionRecord): CheckoutSessionRecord {
  if (session.status !== 'open' || !isOver(session, draft.context.serviceMs)) return session;
  const intent = draft.require('payment_intent', session.payment_intent);
  if (intent.network_call !== null || intent.status === 'processing') return session;
  cancelIntent(draft, intent, 'expired');
  return draft.require('checkout_session', session.id);
}
