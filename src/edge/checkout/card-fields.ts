// Reads the card form: three texts become a typed card, or what is wrong with each of them. The
// typed texts go nowhere else: neither into an error nor back into the form.

import { asciiDigits, luhnValid } from '../../core/card-number.ts';
import type { CardProblem, TypedCard } from '../../networks/network.ts';

export type CardField = CardProblem['problem'];

/** What is wrong: a field that fits no card that can pay, or the slip that was made in it. */
export type CardFault = CardField | `${CardField}_missing` | 'number_short' | 'number_digit';

export function fieldOf(fault: CardFault): CardField {
  return fault.split('_')[0] as CardField;
}

/** Reads `number`, `expiry` and `cvc`. Digits may be Arabic ones, and numbers grouped. */
export function readCard(form: URLSearchParams): TypedCard | { readonly problems: readonly CardFault[] } {
  const field = (name: CardField) => asciiDigits(form.get(name) ?? '').trim();
  const number = field('number').replace(/[\s-]/g, '');
  const expiry = /^(\d{1,2}) ?[/.\- ] ?(\d{2}|\d{4})$|^(\d{2})(\d{2}|\d{4})$/.exec(field('expiry'));
  const cvc = field('cvc');
  const expMonth = Number(expiry?.[1] ?? expiry?.[3]);
  const year = Number(expiry?.[2] ?? expiry?.[4]);
  const faults = [
    numberFault(number),
    field('expiry') === '' ? 'expiry_missing' : !(expMonth >= 1 && expMonth <= 12) && 'expiry',
    cvc === '' ? 'cvc_missing' : !/^\d{3,4}$/.test(cvc) && 'cvc',
  ] as const;
  const problems = faults.filter((fault) => fault !== false);
  if (problems.length > 0) return { problems };
  return { number, expMonth, expYear: year < 100 ? 2000 + year : year, cvc };
}

function numberFault(number: string): CardFault | false {
  if (number === '') return 'number_missing';
  if (!/^\d{1,19}$/.test(number)) return 'number';
  if (number.length < 13) return 'number_short';
  return !luhnValid(number) && 'number_digit';
}
