// The links back to the merchant. Merchants choose the addresses; only http and https ones become
// links.

import { checkoutPath, withSession } from '../../contract/page-paths.ts';
import { type Html, html } from '../../html/html.ts';
import { sayOf, type Visit } from './document.ts';
import type { ShownPayment } from './page-port.ts';

/**
 * The address to which a customer returns after paying or with a cash code; null when the merchant
 * named none, or the page where the customer pays, which shows the receipt.
 */
export function afterPayment({ session, intent }: ShownPayment, baseUrl: string): string | null {
  if (session === null) return webAddress(intent.return_url);
  const back = webAddress(withSession(session.success_url, session.id));
  return back === webAddress(baseUrl + checkoutPath(session.id)) ? null : back;
}

/** The address to which a customer returns without paying. */
export function afterGivingUp({ session, intent }: ShownPayment): string | null {
  if (session === null) return webAddress(intent.return_url);
  return webAddress(session.cancel_url && withSession(session.cancel_url, session.id));
}

/** The link with which the customer gives up; null when it would lead nowhere. */
export function giveUpLink(payment: ShownPayment, visit: Visit): Html | null {
  const back = afterGivingUp(payment);
  return back === null ? null : awayLink(back, sayOf(visit, payment, 'give_up'));
}

/** A link that is no button: away from the page, or to what it shows next. */
export function awayLink(href: string, text: string, kind = 'leave'): Html {
  return html`<p class="${kind}"><a class="away" href="${href}">${text}</a></p>`;
}

function webAddress(text: string | null): string | null {
  const url = text === null ? null : URL.parse(text);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : null;
}
