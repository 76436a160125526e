// Who or what made the steps of a payment: the causes that the journal has for their events.

import type { Step } from '../../domain/payment-story.ts';
import { type Html, html } from '../../html/html.ts';
import { viewLink } from '../layout/links.ts';
import type { Saying } from '../layout/row.ts';
import type { sayPayment } from '../messages/payments.ts';

const says = {
  request: 'by_request',
  customer: 'by_customer',
  operator: 'by_operator',
  network: 'by_network',
  time: 'by_time',
} as const;

/** Returns the function that tells who made a step; null for a cause that is not known any more. */
export function createStepAuthors(request: Saying<typeof sayPayment>): (step: Step) => Html | string | null {
  const { services, views, say } = request;

  function linked(id: string | null): Html | null {
    if (id === null) return null;
    const text = html`<bdi class="muted" dir="ltr">${id}</bdi>`;
    return views.includes('requests')
      ? html` <a href="${viewLink(request, `requests/${id}`)}">${text}</a>`
      : html` ${text}`;
  }

  return (step) => {
    const by = askedBy(step);
    if (by === null || by === 'webhook') return null;
    if (by !== 'member') return html`${say(says[by])}${by === 'request' && linked(step.request)}`;
    const name = services.directory.members.find(step.by_name!)?.name ?? step.by_name;
    return html`<bdi>${name}</bdi>${linked(step.request)}`;
  };
}

/**
 * The cause of a step. The network reports that a customer can pay, but the cause is whoever chose
 * the method: the customer, when there was no request.
 */
function askedBy({ type, by, by_name, request }: Step): Step['by'] {
  if (by === null) return request === null ? null : 'request';
  if (by !== 'network' || type !== 'payment_intent.requires_action') return by;
  if (request === null) return 'customer';
  return by_name === null ? 'request' : 'member';
}
