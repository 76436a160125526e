// Removes events whose retention time is over. Their age is that of their ids, which ascend also
// when the clock steps back. The shard knows up to which id they are old enough
// (shard/event-retention.ts).

import type { Draft } from './draft.ts';
import { recordsOf } from './find.ts';
import { fieldIndex, kindIndex, scopeOf } from './indexes.ts';
import type { DeliveryRecord, EventRecord } from './record.ts';

const prunedPerCommandMax = 128;

/**
 * Removes some of the events of an organization in a mode whose ids come before `before`, the
 * oldest first. A delivery that still waits with such an event has nothing left to send: it ends.
 */
export function pruneEvents(
  draft: Draft,
  { before }: { readonly before: string },
): { readonly result: { readonly more: boolean } } {
  const { org, livemode } = draft.context;
  let count = 0;
  const index = kindIndex('event', scopeOf(org, livemode));
  for (const event of recordsOf(draft.view, 'event', index, { before, descending: false })) {
    if (count === prunedPerCommandMax) return { result: { more: true } };
    endDeliveriesOf(draft, event);
    draft.remove({ ...event, object_json: '' });
    count++;
  }
  return { result: { more: false } };
}

function endDeliveriesOf(draft: Draft, { id, org, livemode }: EventRecord): void {
  const { serviceMs } = draft.context;
  const index = fieldIndex('delivery', scopeOf(org, livemode), 'event', id);
  for (const delivery of recordsOf(draft.view, 'delivery', index, { descending: false }))
    if (delivery.status === 'pending')
      draft.put<DeliveryRecord>({ ...delivery, status: 'ended', due_at_ms: null, ended_at_ms: serviceMs });
}
