// The stage of a payment for its customer, which decides the page to show. Every visit and every form ends here, so a second
// click, an old link and the Back button all show the current state.

import { cardPath, checkoutPath, voucherPath } from '../../contract/page-paths.ts';
import type { PaymentView } from '../../domain/payment-view.ts';

export type Stage =
  /** The customer chooses a method. */
  | { readonly name: 'choose'; readonly path: string }
  /** The customer types a card. */
  | { readonly name: 'card'; readonly path: string }
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
  /** Nothing can be paid here any more. */
  | { readonly name: 'over' };

/** The stage of the payment of `id`, which is a session or a charge. `path` is the address of the stage's page. */
export function stageOf(view: PaymentView, id: string): Stage {
  const { intent, session, charge } = view;
  if (intent.status === 'succeeded') return { name: 'paid' };
  if (intent.status === 'canceled') return { name: 'over' };
  if (intent.status === 'processing') return { name: 'processing' };
  if (intent.busy) return { name: 'opening' };
  if (session?.over) return { name: 'over' };
  if (intent.status === 'requires_payment_method') {
    if (session === null || intent.methods_left.length === 0) return { name: 'failed' };
    return { name: 'choose', path: checkoutPath(session.id) };
  }
  // Another charge has followed this one. Within a session the customer began it, so the page goes on with it.
  if (charge === null || (session === null && charge.id !== id)) return { name: 'over' };
  if (charge.over) return { name: 'over' };
  if (charge.method === 'cash') return { name: 'voucher', path: voucherPath(charge.id) };
  return { name: charge.challenge ? 'challenge' : 'card', path: cardPath(charge.id) };
}
