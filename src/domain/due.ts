// What happens by itself when its time has come: attempts and sessions expire. Each is a command like any other,
// raised by the shard, so it is journaled and replayed the same way, also when the time passed while nobody ran.

import { expiredUnpaid, failAttempt } from './attempts.ts';
import type { Outcome } from './decision.ts';
import type { Draft } from './draft.ts';
import { dueIndex, timeKey } from './indexes.ts';
import { cancelIntent } from './payment-intents.ts';
import type { ChargeRecord, CheckoutSessionRecord, StoredRecord } from './record.ts';
import type { View } from './state.ts';

/** How long to wait before looking again at something that a payment in progress holds up. */
const postponeMs = 60_000;

/** Up to `count` records whose time has come, oldest first. */
export function dueRecords(view: View, nowMs: number, count: number): StoredRecord[] {
  const due: StoredRecord[] = [];
  for (const record of view.scan(dueIndex, { before: timeKey(nowMs + 1), descending: false })) {
    due.push(record);
    if (due.length === count) break;
  }
  return due;
}

/** The time of a charge or a checkout session has come. */
export function expireDue(draft: Draft, _params: object, id: string): Outcome {
  const { nowMs } = draft.context;
  const charge = draft.get('charge', id);
  if (charge?.status === 'pending' && charge.due_at_ms <= nowMs) expireAttempt(draft, charge);
  const session = draft.get('checkout_session', id);
  if (session?.status === 'open' && session.due_at_ms <= nowMs) expireOpenSession(draft, session);
  return { body: '{}' };
}

function expireAttempt(draft: Draft, charge: ChargeRecord): void {
  const { nowMs, language } = draft.context;
  if (draft.get('payment_intent', charge.payment_intent)!.operation !== null) {
    draft.put<ChargeRecord>({ ...charge, due_at_ms: nowMs + postponeMs });
  } else {
    failAttempt(draft, charge, expiredUnpaid(language));
  }
}

function expireOpenSession(draft: Draft, session: CheckoutSessionRecord): void {
  const intent = draft.get('payment_intent', session.payment_intent)!;
  if (intent.operation !== null || intent.status === 'processing') {
    draft.put<CheckoutSessionRecord>({ ...session, due_at_ms: draft.context.nowMs + postponeMs });
  } else {
    cancelIntent(draft, intent, null);
  }
}
