// The stage of a payment for its customer, which decides the page to show. Every visit and every
// form ends here, so a second click, an old link and the Back button all show the current state.

import { cardPath, checkoutPath, voucherPath } from '../../contract/page-paths.ts';
import type { PaymentView } from '../../domain/payment-view.ts';
import type { ShownPayment } from './page-port.ts';

export type Stage =
  /** The customer of a checkout session chooses a method and types a card. */
  | { readonly name: 'choose'; readonly path: string }
  /** The customer of a payment intent without a session types a card. */
  | { readonly name: 'card'; readonly path: string }
  /** The customer types a card on the network's page; here is the way to it. */
  | { readonly name: 'hosted'; readonly path: string }
  /** The customer answers the challenge of the card's bank. */
  | { readonly name: 'challenge'; readonly path: string }
  /** The customer takes the code to an agent. */
  | { readonly name: 'voucher'; readonly path: string }
  /** The network is opening the card page or issuing the cash code. */
  | { readonly name: 'opening' }
  /** The customer has paid; the network has not confirmed it yet. */
  | { readonly name: 'processing' }
  | { readonly name: 'paid' }
  /** The charge failed, and only the merchant can begin another. */
  | { readonly name: 'failed' }
  /** The merchant canceled the payment. */
  | { readonly name: 'canceled' }
  /** The time to pay here is over. */
  | { readonly name: 'expired' };

/** The stage of the payment of a session or a charge. `path`: the stage's page. */
export function stageOf(view: PaymentView & Pick<ShownPayment, 'card_page'>, id: string): Stage {
  const { intent, session, charge } = view;
  if (intent.status === 'succeeded') return { name: 'paid' };
  if (intent.status === 'canceled') {
    return { name: intent.cancellation_reason === 'expired' ? 'expired' : 'canceled' };
  }
  if (intent.status === 'processing') return { name: 'processing' };
  if (intent.busy) return { name: 'opening' };
  if (session?.over) return { name: 'expired' };
  if (intent.status === 'requires_payment_method') {
    if (session === null || intent.methods_left.length === 0) return { name: 'failed' };
    return { name: 'choose', path: checkoutPath(session.id) };
  }
  // Another charge followed this one. The customer of a session began it: the page goes on.
  if (charge === null || (session === null && charge.id !== id)) return { name: 'expired' };
  if (charge.over) return { name: 'expired' };
  if (charge.method === 'cash') return { name: 'voucher', path: voucherPath(charge.id) };
  if (charge.challenge) return { name: 'challenge', path: cardPath(charge.id) };
  if (view.card_page === 'hosted') return { name: 'hosted', path: cardPath(charge.id) };
  // A session's charge is opened when the card is sent. One that did not follow is sent again.
  if (session !== null) return { name: 'choose', path: checkoutPath(session.id) };
  return { name: 'card', path: cardPath(charge.id) };
}
