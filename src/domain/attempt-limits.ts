// How often one payment can be tried. Whoever has stolen many card numbers tries them on a payment page, so a payment
// takes a number of cards and then no more; and because every attempt costs a call to a network and tells the merchant,
// it takes a larger number of attempts of any kind.

import { attemptsMax, cardAttemptsMax } from '../contract/limits.ts';
import type { PaymentMethodType } from '../contract/vocabulary.ts';
import { fieldIndex, scopeOf } from './indexes.ts';
import type { ChargeRecord, PaymentIntentRecord } from './record.ts';
import type { View } from './view.ts';

/** The methods by which another attempt to pay `intent` can begin. */
export function methodsLeft(view: View, intent: PaymentIntentRecord): readonly PaymentMethodType[] {
  const methods = intent.payment_method_types;
  if (intent.latest_charge === null) return methods;
  const scope = scopeOf(intent.org, intent.livemode);
  let attempts = 0;
  let cards = 0;
  for (const charge of view.scan(fieldIndex('charge', scope, 'payment_intent', intent.id), {
    descending: true,
  })) {
    attempts++;
    if (triedCard(charge as ChargeRecord)) cards++;
  }
  if (attempts >= attemptsMax) return [];
  return cards < cardAttemptsMax ? methods : methods.filter((method) => method !== 'card');
}

/** A card was typed, or a test helper said that one was declined. */
function triedCard({ card, decline_code }: ChargeRecord): boolean {
  return card !== null || decline_code !== null;
}
