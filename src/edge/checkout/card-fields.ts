// Reads the card form: three texts become a typed card, or the names of the invalid fields. The
// typed texts go nowhere else: neither into an error nor back into the form.

import { asciiDigits, luhnValid } from '../../core/card-number.ts';
import type { CardProblem, TypedCard } from '../../networks/network.ts';

export type CardField = CardProblem['problem'];

/** Reads the fields `number`, `expiry` and `cvc`. Digits may be Arabic ones, and a number may be grouped. */
export function readCard(form: URLSearchParams): TypedCard | { readonly problems: readonly CardField[] } {
  const field = (name: CardField) => asciiDigits(form.get(name) ?? '').trim();
  const number = field('number').replace(/[\s-]/g, '');
  const expiry = /^(\d{1,2}) ?[/.\- ] ?(\d{2}|\d{4})$|^(\d{2})(\d{2}|\d{4})$/.exec(field('expiry'));
  const cvc = field('cvc');
  const expMonth = Number(expiry?.[1] ?? expiry?.[3]);
  const year = Number(expiry?.[2] ?? expiry?.[4]);
  const problems: CardField[] = [];
  if (!/^\d{13,19}$/.test(number) || !luhnValid(number)) problems.push('number');
  if (!(expMonth >= 1 && expMonth <= 12)) problems.push('expiry');
  if (!/^\d{3,4}$/.test(cvc)) problems.push('cvc');
  if (problems.length > 0) return { problems };
  return { number, expMonth, expYear: year < 100 ? 2000 + year : year, cvc };
}
