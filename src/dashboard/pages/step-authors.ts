// Who or what made the steps of a payment: what the journal has as the cause of the events that tell of them.

import type { Step } from '../../domain/payment-story.ts';
import { type Html, html } from '../../html/html.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, Visit } from '../layout/row.ts';
import { sayPayment } from '../messages/payments.ts';

const says = {
  request: 'by_request',
  customer: 'by_customer',
  operator: 'by_operator',
  network: 'by_network',
  time: 'by_time',
} as const;

/** Returns the function that tells who made a step. A step whose cause is not known any more has nobody. */
export function createStepAuthors(visit: Visit, { services }: Desk): (step: Step) => Html | string | null {
  const { language, rooms } = visit;

  function linked(request: string | null): Html | null {
    if (request === null) return null;
    const text = html`<bdi class="muted">${request}</bdi>`;
    return rooms.includes('requests')
      ? html` <a href="${roomLink(visit, `requests/${request}`)}">${text}</a>`
      : html` ${text}`;
  }

  return (step) => {
    const by = askedBy(step);
    if (by === null || by === 'webhook') return null;
    if (by !== 'member')
      return html`${sayPayment(says[by], language)}${by === 'request' && linked(step.request)}`;
    const name = services.directory.members.find(step.by_name!)?.name ?? step.by_name;
    return html`<bdi>${name}</bdi>${linked(step.request)}`;
  };
}

/**
 * The cause of a step. That a customer can pay is told by the network, in answer to who chose the method. Without a request, that
 * was the customer.
 */
function askedBy({ type, by, by_name, request }: Step): Step['by'] {
  if (by === null) return request === null ? null : 'request';
  if (by !== 'network' || type !== 'payment_intent.requires_action') return by;
  if (request === null) return 'customer';
  return by_name === null ? 'request' : 'member';
}
