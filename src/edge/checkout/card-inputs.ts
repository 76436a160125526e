// The fields for a card, and the list of the test cards.

import type { Language } from '../../contract/vocabulary.ts';
import { elementAt } from '../../core/assert.ts';
import { type Html, html } from '../../html/html.ts';
import { brandShapes } from '../../html/marks.ts';
import { testCards } from '../../networks/test-cards.ts';
import { type CardFault, type CardField, fieldOf } from './card-fields.ts';
import { noticeId } from './notice.ts';
import { say } from './page-messages.ts';

/** Room for a date in any way of writing, and not for a card number. */
export const expiryLengthMax = 12;

/** What is shown again of a form that was sent: never the number nor the security code. */
export interface SentCard {
  readonly wrong: readonly CardFault[];
  readonly expiry: string;
}

/** The slips that can be made in a field; '' is any other. */
const slips = {
  number: ['', 'missing', 'short', 'digit'],
  expiry: ['', 'missing'],
  cvc: ['', 'missing'],
} as const satisfies Record<CardField, readonly string[]>;

/** `focused`: the field that gets the focus, the first to be typed again; null for none. */
export function cardInputs(
  livemode: boolean,
  language: Language,
  { wrong, expiry }: SentCard,
  focused: CardField | null,
): Html {
  const input = (name: CardField, attributes: Html, aside: Html) => {
    const fault = wrong.find((each) => fieldOf(each) === name);
    // What the script of the form says before the form is sent.
    const texts = slips[name].map(
      (slip) =>
        html` data-wrong${slip && `-${slip}`}="${say(`wrong_${slip === '' ? name : (`${name}_${slip}` as CardFault)}`, language)}"`,
    );
    const described = html`${name === focused && `${noticeId} `}${name}-wrong`;
    return html`<div class="field"><label for="${name}"><span>${say(`card_${name}`, language)}</span> ${aside}</label>
<input id="${name}" name="${name}" type="text" inputmode="numeric" dir="ltr" required${attributes}${texts}${fault !== undefined && html` aria-invalid="true"`}${name === focused && html` autofocus`} aria-describedby="${described}">
<span class="wrong" id="${name}-wrong" aria-live="polite">${fault !== undefined && say(fault === 'number' && !livemode ? 'wrong_test_number' : `wrong_${fault}`, language)}</span></div>`;
  };
  const hint = (key: 'card_expiry_hint' | 'card_cvc_hint') =>
    html`<span class="hint">${say(key, language)}</span>`;
  return html`${input('number', html` autocomplete="cc-number" maxlength="40"`, brandShapes)}
<div class="pair fields">${input('expiry', html` autocomplete="cc-exp" maxlength="${expiryLengthMax}" value="${expiry}"`, hint('card_expiry_hint'))}
${input('cvc', html` autocomplete="cc-csc" maxlength="8"`, hint('card_cvc_hint'))}</div>`;
}

/** Folded: it is for developers. */
export function testCardList(language: Language): Html {
  const rows = testCards.map(
    ({ number, brand, text }) =>
      html`<tr><td><bdi dir="ltr">${grouped(number, brand === 'amex' ? [4, 6, 5] : [4, 4, 4, 4])}</bdi></td><td>${text[language]}</td></tr>`,
  );
  return html`<details><summary>${say('test_cards', language)}</summary>
<p class="muted">${say('test_cards_hint', language)}</p>
<table><thead><tr><th scope="col">${say('card_number', language)}</th><th scope="col">${say('test_card_outcome', language)}</th></tr></thead>
<tbody>${rows}</tbody></table></details>`;
}

/** Digits in groups of these sizes. */
export function grouped(digits: string, sizes: readonly number[]): string {
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
  return starts.map((start, i) => digits.slice(start, start + elementAt(sizes, i))).join(' ');
}
