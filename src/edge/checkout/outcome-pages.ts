// Pages without a form to fill in: the state or the outcome of a payment, and errors.

import { buttonsScript } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { outcomeMark, waitingMark } from '../../html/marks.ts';
import { linkTo, type Page, sayOf, type Visit } from './document.ts';
import { failureText, notice } from './notice.ts';
import { type PageMessage, say } from './page-messages.ts';
import type { ShownPayment } from './page-port.ts';
import { printButton, receipt } from './receipt.ts';
import { afterGivingUp, awayLink } from './return-links.ts';

/** How often a page that waits for the network looks for news. */
const watchSeconds = 5;

/** Where a form redirects to. A success page with it goes on to the merchant at once. */
export const afterForm = 'done=1';

export function waitingPage(payment: ShownPayment, visit: Visit, name: 'opening' | 'processing'): Page {
  return {
    title: say(`${name}_title`, visit.language),
    payment,
    watchSeconds,
    mark: waitingMark,
    body: [
      name === 'processing' ? paragraph(say('processing_text', visit.language)) : null,
      awayLink(linkTo(visit, visit.path, afterForm), say('check_again', visit.language)),
    ],
  };
}

/** `leaves`: the customer has just paid and goes back to the merchant without another click. */
export function paidPage(payment: ShownPayment, visit: Visit, back: string | null, leaves: boolean): Page {
  const goesBack = leaves && back !== null;
  return {
    title: say('paid_title', visit.language),
    payment,
    mark: outcomeMark('good'),
    scripts: [buttonsScript],
    ...(goesBack ? { goTo: back } : {}),
    body: [
      paragraph(sayOf(visit, payment, 'paid_text')),
      goesBack ? paragraph(sayOf(visit, payment, 'going_back')) : null,
      receipt(payment, visit),
      html`<div class="stack screen">${returnTo(back, payment, visit)}${printButton('print_receipt', visit.language)}</div>`,
    ],
  };
}

/** Only the merchant can begin another charge, or nobody can. */
export function failedPage(payment: ShownPayment, visit: Visit): Page {
  const isUsedUp = payment.intent.methods_left.length === 0;
  const message = isUsedUp ? say('charges_used_up', visit.language) : failureText(payment, visit);
  return {
    title: say('failed_title', visit.language),
    payment,
    mark: outcomeMark('bad'),
    body: [
      message === null ? null : notice(message, visit.language, true),
      paragraph(sayOf(visit, payment, 'failed_text')),
      returnTo(afterGivingUp(payment), payment, visit),
    ],
  };
}

/** Nothing can be paid here any more: the merchant canceled the payment, or its time is up. */
export function endedPage(payment: ShownPayment, visit: Visit, name: 'canceled' | 'expired'): Page {
  return {
    status: 410,
    title: say(`${name}_title`, visit.language),
    payment,
    mark: outcomeMark(name === 'canceled' ? 'bad' : 'late'),
    body: [
      paragraph(sayOf(visit, payment, `${name}_text`)),
      returnTo(afterGivingUp(payment), payment, visit),
    ],
  };
}

/** The button to the merchant's address `back`; null when there is none. */
function returnTo(back: string | null, payment: ShownPayment, visit: Visit): Html | null {
  if (back === null) return null;
  return html`<p><a class="button" href="${back}">${sayOf(visit, payment, 'return_to')}</a></p>`;
}

export function missingPage(visit: Visit): Page {
  return plainPage(visit, 404, 'missing');
}

/** The page for a form that was not given to this browser, or that belongs to another payment. */
export function stalePage(visit: Visit): Page {
  return plainPage(
    visit,
    403,
    'stale',
    awayLink(linkTo(visit, visit.path), say('open_again', visit.language)),
  );
}

/** The page for when the service can't answer now, and can't say whether the form took effect. */
export function troublePage(visit: Visit): Page {
  const check = awayLink(linkTo(visit, visit.path, afterForm), say('check_payment', visit.language));
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
