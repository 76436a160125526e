// Pages without a form to fill in: the state or the outcome of a payment, and errors.

import { format } from '../../contract/messages/table.ts';
import { linkTo, type Page, sayOf, type Visit } from './document.ts';
import { type Html, html } from './html.ts';
import { type PageMessage, say } from './page-messages.ts';
import type { ShownPayment } from './page-port.ts';
import { afterGivingUp, afterPayment } from './return-links.ts';

/** While the page waits for the network it reloads by itself. */
const reloadSeconds = 5;

/** The query of an address to which a form redirects. A success page with it goes on to the merchant at once. */
export const comingFromForm = 'done=1';

export function waitingPage(payment: ShownPayment, visit: Visit, name: 'opening' | 'processing'): Page {
  return {
    title: say(`${name}_title`, visit.language),
    payment,
    reloadSeconds,
    body: [
      name === 'processing' ? paragraph(say('processing_text', visit.language)) : null,
      html`<p><a href="${linkTo(visit, visit.path, comingFromForm)}">${say('check_again', visit.language)}</a></p>`,
    ],
  };
}

/** `leaves`: the customer has just paid and goes back to the merchant without another click. */
export function paidPage(payment: ShownPayment, visit: Visit, leaves: boolean): Page {
  const back = afterPayment(payment);
  const goesBack = leaves && back !== null;
  return {
    title: say('paid_title', visit.language),
    payment,
    ...(goesBack ? { goTo: back } : {}),
    body: [
      paragraph(sayOf(visit, payment, 'paid_text')),
      goesBack ? paragraph(sayOf(visit, payment, 'going_back')) : null,
      returnTo(back, payment, visit),
    ],
  };
}

/** Only the merchant can begin another charge, or nobody can. */
export function failedPage(payment: ShownPayment, visit: Visit): Page {
  return {
    title: say('failed_title', visit.language),
    payment,
    body: [
      payment.intent.methods_left.length === 0
        ? notice(visit, say('charges_used_up', visit.language))
        : failureNotice(payment, visit),
      paragraph(sayOf(visit, payment, 'failed_text')),
      returnTo(afterGivingUp(payment), payment, visit),
    ],
  };
}

export function overPage(payment: ShownPayment, visit: Visit): Page {
  return {
    status: 410,
    title: say('over_title', visit.language),
    payment,
    body: [paragraph(sayOf(visit, payment, 'over_text')), returnTo(afterGivingUp(payment), payment, visit)],
  };
}

/** The button to the merchant's address `back`; null when there is none. */
function returnTo(back: string | null, payment: ShownPayment, visit: Visit): Html | null {
  if (back === null) return null;
  return html`<p><a class="button" href="${back}">${sayOf(visit, payment, 'return_to')}</a></p>`;
}

/** Why the latest charge failed, in the customer's language; null when it did not fail or the customer ended it. */
export function failureNotice({ intent, session, charge }: ShownPayment, visit: Visit): Html | null {
  const error = intent.last_payment_error;
  if (error === null || error.charge !== charge?.id) return null;
  const { language } = visit;
  switch (error.code) {
    case 'card_declined':
      return notice(visit, format(`card_declined.${error.decline_code!}`, language, {}));
    case 'cash_payment_refused':
      return notice(visit, format('failure.cash_refused', language, {}));
    case 'payment_attempt_expired':
      return notice(visit, say(session === null ? 'failed_title' : 'charge_expired', language));
    case 'payment_attempt_canceled':
      return notice(visit, say('failed_title', language));
  }
}

/** A message at the top of the page, which gets the focus. */
export function notice(visit: Visit, message: string | Html): Html {
  return html`<div class="notice" role="alert" tabindex="-1" autofocus><p><strong>${say('problem', visit.language)}</strong></p>
${typeof message === 'string' ? paragraph(message) : message}</div>`;
}

export function missingPage(visit: Visit): Page {
  return plainPage(visit, 404, 'missing');
}

/** The page for a form that was not given to this browser, or that belongs to another payment. */
export function stalePage(visit: Visit): Page {
  return plainPage(visit, 403, 'stale', link(linkTo(visit, visit.path), say('open_again', visit.language)));
}

/** The page for when the service can't answer now, and can't say whether the form took effect. */
export function troublePage(visit: Visit): Page {
  const check = link(linkTo(visit, visit.path, comingFromForm), say('check_payment', visit.language));
  return { ...plainPage(visit, 503, 'trouble', check), headers: [['retry-after', '5']] };
}

export function tooManyPage(visit: Visit, seconds: number): Page {
  return { ...plainPage(visit, 429, 'busy', null, { seconds }), headers: [['retry-after', String(seconds)]] };
}

export function methodNotAllowedPage(visit: Visit, allowed: string): Page {
  const title = say('method_not_allowed', visit.language);
  return { status: 405, title, payment: null, headers: [['allow', allowed]], body: [] };
}

function plainPage(
  visit: Visit,
  status: number,
  name: 'missing' | 'stale' | 'trouble' | 'busy',
  more: Html | null = null,
  values = {},
): Page {
  const text = (key: PageMessage) => say(key, visit.language, values);
  return {
    status,
    title: text(`${name}_title`),
    payment: null,
    body: [paragraph(text(`${name}_text`)), more],
  };
}

const paragraph = (text: string) => html`<p>${text}</p>`;
const link = (href: string, text: string) => html`<p><a href="${href}">${text}</a></p>`;
