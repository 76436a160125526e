// Changes of an open checkout session that follow from its payment.

import type { Draft } from './draft.ts';
import { presentCheckoutSession } from './present.ts';
import type { ChargeRecord, CheckoutSessionRecord, PaymentIntentRecord } from './record.ts';

function openSessionOf(draft: Draft, intent: PaymentIntentRecord): CheckoutSessionRecord | null {
  if (intent.checkout_session === null) return null;
  const session = draft.get('checkout_session', intent.checkout_session);
  return session?.status === 'open' ? session : null;
}

/** A cash code was issued: the session stays open as long as the code can be paid. */
export function prolongSession(draft: Draft, intent: PaymentIntentRecord, code: ChargeRecord): void {
  const session = openSessionOf(draft, intent);
  if (session !== null && session.deadline_ms < code.deadline_ms) {
    const { expires_at_ms, deadline_ms } = code;
    draft.put({ ...session, expires_at_ms, deadline_ms, due_at_ms: deadline_ms });
  }
}

/** The payment succeeded. */
export function completeSession(draft: Draft, intent: PaymentIntentRecord): void {
  endSession(draft, intent, 'complete', 'checkout.session.completed');
}

/** The payment was canceled. */
export function expireSession(draft: Draft, intent: PaymentIntentRecord): void {
  endSession(draft, intent, 'expired', 'checkout.session.expired');
}

function endSession(
  draft: Draft,
  intent: PaymentIntentRecord,
  status: 'complete' | 'expired',
  event: 'checkout.session.completed' | 'checkout.session.expired',
): void {
  const session = openSessionOf(draft, intent);
  if (session === null) return;
  const ended = draft.put<CheckoutSessionRecord>({ ...session, status });
  draft.emit(event, presentCheckoutSession(ended, draft.context.settings.baseUrl));
}
