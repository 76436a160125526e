// How often one payment can be tried. Thieves try stolen card numbers on payment pages, so a
// payment takes a limited number of cards. It also takes a limited number of charges of any kind,
// because each costs a network call and sends events to the merchant.

import { cardsPerPaymentMax, chargesPerPaymentMax } from '../contract/limits.ts';
import type { PaymentMethodType } from '../contract/vocabulary.ts';
import { recordsOf } from './find.ts';
import { fieldIndex, scopeOf } from './indexes.ts';
import type { ChargeRecord, PaymentIntentRecord } from './record.ts';
import type { View } from './view.ts';

/** The methods by which another charge of `intent` can begin. */
export function methodsLeft(view: View, intent: PaymentIntentRecord): readonly PaymentMethodType[] {
  const methods = intent.payment_method_types;
  if (intent.latest_charge === null) return methods;
  const scope = scopeOf(intent.org, intent.livemode);
  let charges = 0;
  let cards = 0;
  const index = fieldIndex('charge', scope, 'payment_intent', intent.id);
  for (const charge of recordsOf(view, 'charge', index, { descending: true })) {
    charges++;
    if (triedCard(charge)) cards++;
  }
  if (charges >= chargesPerPaymentMax) return [];
  return cards < cardsPerPaymentMax ? methods : methods.filter((method) => method !== 'card');
}

/** A card was typed, or a test helper said that one was declined. */
function triedCard({ card, decline_code }: ChargeRecord): boolean {
  return card !== null || decline_code !== null;
}
