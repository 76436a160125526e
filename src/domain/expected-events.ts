// The events that must have happened for a record to have its state: those of its creation and of
// each change since. What a record itself does not show, another one shows: an intent's charges
// tell how often it was opened or failed. So the records of a scope together name each of its
// events once, except for samples. `payments verify` compares both.

import type { EventType } from '../contract/vocabulary.ts';
import type { ChargeRecord, StoredRecord } from './record.ts';

/** A type of event, and the id of the object that it is about. */
type ExpectedEvent = readonly [type: EventType, object: string];

export function expectedEvents(record: StoredRecord): readonly ExpectedEvent[] {
  const { id } = record;
  switch (record.kind) {
    case 'payment_intent':
      if (record.status === 'succeeded')
        return [
          ['payment_intent.created', id],
          ['payment_intent.succeeded', id],
        ];
      if (record.status === 'canceled')
        return [
          ['payment_intent.created', id],
          ['payment_intent.canceled', id],
        ];
      return [['payment_intent.created', id]];
    case 'charge':
      return eventsOfCharge(record);
    case 'checkout_session':
      if (record.status === 'complete') return [['checkout.session.completed', id]];
      return record.status === 'expired' ? [['checkout.session.expired', id]] : [];
    case 'refund':
      if (record.status === 'pending') return [['refund.created', id]];
      return [
        ['refund.created', id],
        ['refund.updated', id],
        record.status === 'failed' ? ['refund.failed', id] : ['charge.refunded', record.charge],
      ];
    case 'review':
      return record.open
        ? [['review.opened', id]]
        : [
            ['review.opened', id],
            ['review.closed', id],
          ];
    default:
      return [];
  }
}

function eventsOfCharge({
  id,
  payment_intent,
  status,
  authorization,
  card,
  failure_code,
}: ChargeRecord): ExpectedEvent[] {
  const events: ExpectedEvent[] = [['payment_intent.requires_action', payment_intent]];
  // While the customer is on a network's own page, the network is asked about a payment that may
  // not have begun, with no card yet.
  const isSubmitted = authorization !== null && card !== null;
  if (isSubmitted || status === 'succeeded') events.push(['payment_intent.processing', payment_intent]);
  if (status === 'succeeded') events.push(['charge.succeeded', id]);
  if (status !== 'failed') return events;
  events.push(['charge.failed', id]);
  // Of a charge that was canceled or abandoned, the intent says something else or nothing.
  if (failure_code !== 'payment_attempt_canceled')
    events.push(['payment_intent.payment_failed', payment_intent]);
  return events;
}
