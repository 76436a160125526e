// The ways back to the merchant. Addresses come from merchants; only http and https ones become links.

import type { ShownPayment } from './page-port.ts';

/** Where a customer who has paid, or has the code to pay with, goes back to; null when the merchant named no place. */
export function afterPayment({ session, intent }: ShownPayment): string | null {
  if (session === null) return webAddress(intent.return_url);
  return webAddress(withSession(session.success_url, session.id));
}

/** Where a customer who gives up goes back to. */
export function afterGivingUp({ session, intent }: ShownPayment): string | null {
  if (session === null) return webAddress(intent.return_url);
  return webAddress(session.cancel_url && withSession(session.cancel_url, session.id));
}

function withSession(address: string, id: string): string {
  return address.replaceAll('{CHECKOUT_SESSION_ID}', id);
}

function webAddress(text: string | null): string | null {
  const url = text === null ? null : URL.parse(text);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : null;
}
