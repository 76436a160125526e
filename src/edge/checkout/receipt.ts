// What customers keep of a payment, on the screen or on paper: a list of facts, and the receipt.

import type { Language } from '../../contract/vocabulary.ts';
import { formatAmount } from '../../core/money.ts';
import { type Html, html } from '../../html/html.ts';
import { brandName } from '../../html/marks.ts';
import type { Visit } from './document.ts';
import { say } from './page-messages.ts';
import type { ShownPayment } from './page-port.ts';

type Fact = readonly [name: string, value: string | Html];

/** Names and values; `false` and `null` are left out. */
export function facts(rows: readonly (Fact | false | null)[]): Html {
  const shown = rows.filter((row) => row !== false && row !== null);
  return html`<dl>${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A button that prints the page. Without scripts there is none, only the browser's menu. */
export function printButton(label: 'print' | 'print_receipt', language: Language): Html {
  return html`<button type="button" class="quiet" data-print hidden>${say(label, language)}</button>`;
}

export function receipt({ amount, currency, merchant, intent, charge }: ShownPayment, visit: Visit): Html {
  const { language } = visit;
  return facts([
    [say('receipt_merchant', language), html`<bdi>${merchant}</bdi>`],
    [say('amount', language), formatAmount(amount, currency, language)],
    charge !== null &&
      charge.settled_at_ms !== null && [
        say('receipt_date', language),
        moroccoTime(charge.settled_at_ms, language),
      ],
    charge !== null && [say('receipt_method', language), methodOf(charge, language)],
    [say('receipt_reference', language), html`<bdi dir="ltr" class="reference">${intent.id}</bdi>`],
  ]);
}

function methodOf({ method, card }: NonNullable<ShownPayment['charge']>, language: Language): string {
  if (method === 'cash') return say('by_cash', language);
  if (card === null) return say('by_card', language);
  return say('card_ending', language, { brand: brandName(card.brand), last4: card.last4 });
}

const locales: Readonly<Record<Language, string>> = { en: 'en-GB', fr: 'fr-MA', ar: 'ar-MA' };

/** A time in Morocco's time zone, to the minute, in the digits that Morocco uses. */
export function moroccoTime(ms: number, language: Language): string {
  return new Intl.DateTimeFormat(locales[language], {
    timeZone: 'Africa/Casablanca',
    numberingSystem: 'latn',
    dateStyle: 'full',
    timeStyle: 'short',
  }).format(ms);
}
