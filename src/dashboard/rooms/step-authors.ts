// Who or what made the steps of a payment. The event of a step names the API request that caused it; whether a member made that
// request in the dashboard is in the audit record. What nobody asked for is the customer's, the network's, or was due.

import type { PaymentStory, Step } from '../../domain/payment-story.ts';
import { type Html, html } from '../../edge/pages/html.ts';
import type { OperatorRow } from '../../operator/server/audit.ts';
import { roomLink } from '../links.ts';
import { sayPayment } from '../messages/payments.ts';
import type { Desk, Visit } from '../row.ts';

/** The actions of members that lead to a step, as the audit record names them. */
const actionsOf: Readonly<Record<string, readonly string[]>> = {
  'payment_intent.created': ['api.create_payment_intent', 'api.create_checkout_session'],
  'payment_intent.requires_action': ['api.confirm_payment_intent'],
  'payment_intent.canceled': ['api.cancel_payment_intent', 'api.expire_checkout_session'],
  'charge.failed': ['api.cancel_payment_intent', 'api.expire_checkout_session'],
  'refund.created': ['api.create_refund'],
  'review.closed': ['review.close'],
};

/** Returns the function that tells who made a step of the payment. */
export function createStepAuthors(
  visit: Visit,
  desk: Desk,
  story: PaymentStory,
): (step: Step) => Html | string | null {
  const { organization, language, rooms } = visit;
  const byMembers = desk
    .newestActions()
    .rows.filter(
      ({ by, outcome }) =>
        by !== null && 'member' in by && by.organization === organization.id && outcome === 'done',
    );

  function memberOf(step: Step): string | null {
    const about = new Set([step.object, story.intent.id, story.session?.id]);
    const fits = ({ action, object }: OperatorRow) =>
      actionsOf[step.type]?.includes(action) && object !== null && about.has(object);
    // A form that was sent twice has several rows, of which the oldest did it.
    const by = byMembers.findLast(fits)?.by ?? null;
    if (by === null || !('member' in by)) return null;
    return desk.services.directory.members.find(by.member)?.name ?? by.member;
  }

  function requestOf(id: string): Html {
    const text = html`<bdi class="muted">${id}</bdi>`;
    const shown = rooms.includes('requests')
      ? html`<a href="${roomLink(visit, `requests/${id}`)}">${text}</a>`
      : text;
    return html`${sayPayment('by_request', language)} ${shown}`;
  }

  return (step) => {
    if (isOutcome(step)) return sayPayment('by_network', language);
    const wasAsked = step.request !== null || step.type === 'review.closed';
    const member = wasAsked ? memberOf(step) : null;
    if (member !== null) return html`<bdi>${member}</bdi>`;
    if (step.request !== null) return requestOf(step.request);
    const failure = story.charges.find(({ id }) => id === step.object)?.failure_code ?? null;
    const author = unaskedAuthor(step, failure);
    return author && sayPayment(author, language);
  };
}

/** The outcome of a call to a network is the network's, whoever had asked for the call. */
function isOutcome({ type }: Step): boolean {
  return type === 'charge.succeeded' || type === 'refund.updated' || type === 'refund.failed';
}

function unaskedAuthor({ type }: Step, failure: string | null) {
  switch (type) {
    case 'payment_intent.requires_action':
    case 'payment_intent.processing':
      return 'by_customer';
    case 'charge.failed':
      if (failure === 'payment_attempt_expired') return 'by_time';
      return failure === 'payment_attempt_canceled' ? 'by_customer' : 'by_network';
    case 'payment_intent.canceled':
      return 'by_time';
    case 'review.opened':
      return 'by_network';
    case 'review.closed':
      return 'by_operator';
    default:
      return null;
  }
}
