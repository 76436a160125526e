// Pages on which the customer does something: choose a method, type a card, pass a challenge, take a code to an agent.

import { challengePath, changePath } from '../../contract/page-paths.ts';
import { type Language, type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { formatAmount } from '../../core/money.ts';
import { testCards } from '../../networks/test-cards.ts';
import type { CardField } from './card-fields.ts';
import { linkTo, type Page, sayOf, type Visit } from './document.ts';
import { type Html, html } from './html.ts';
import { failureNotice, notice } from './outcome-pages.ts';
import { buttonsScript } from './page-assets.ts';
import { type PageMessage, say } from './page-messages.ts';
import type { ShownPayment } from './page-port.ts';
import { qrCode } from './qr-code.ts';
import { afterGivingUp, afterPayment } from './return-links.ts';

const methodTexts = {
  card: { name: 'pay_by_card', hint: 'pay_by_card_hint' },
  cash: { name: 'pay_cash', hint: 'pay_cash_hint' },
} as const satisfies Record<PaymentMethodType, Record<string, PageMessage>>;

/** `field` is the hidden field that protects the form; `problem` is why the last choice was refused. */
export function choicePage(
  payment: ShownPayment,
  visit: Visit,
  field: Html,
  problem: 'method_missing' | 'method_unavailable' | null = null,
): Page {
  const text = (key: PageMessage) => say(key, visit.language);
  const { payment_method_types, methods_left } = payment.intent;
  const choices = paymentMethodTypes
    .filter((method) => methods_left.includes(method))
    .map((method) => {
      const { name, hint } = methodTexts[method];
      return html`<button class="choice" name="method" value="${method}">${text(name)}
<span class="hint">${text(hint)}</span></button>`;
    });
  const said =
    problem ?? (methods_left.length < payment_method_types.length ? ('cards_used_up' as const) : null);
  return {
    status: problem === null ? 200 : 400,
    title: text('choose_title'),
    payment,
    error: problem !== null,
    alert: said === null ? failureNotice(payment, visit) : notice(visit, text(said)),
    body: [
      html`<form method="post" action="${linkTo(visit, visit.path)}" class="choices">${field}${choices}</form>`,
      givingUp(payment, visit),
    ],
  };
}

/** The card form. `problems` are the invalid fields. The typed texts are not repeated. */
export function cardPage(
  payment: ShownPayment,
  visit: Visit,
  field: Html,
  problems: readonly CardField[] = [],
): Page {
  const { language } = visit;
  const wrong = (name: CardField) =>
    say(name === 'number' && !payment.livemode ? 'wrong_test_number' : `wrong_${name}`, language);
  const input = (name: CardField, hint: PageMessage | null, attributes: Html) => {
    const isWrong = problems.includes(name);
    const notes = [hint && `${name}-hint`, isWrong && `${name}-wrong`].filter(Boolean).join(' ');
    return html`<div><label for="${name}">${say(`card_${name}`, language)}</label>
${hint && html`<span class="hint" id="${name}-hint">${say(hint, language)}</span>`}
<input id="${name}" name="${name}" type="text" inputmode="numeric" dir="ltr" required${attributes}${isWrong && html` aria-invalid="true"`}${notes !== '' && html` aria-describedby="${notes}"`}>
${isWrong && html`<span class="wrong" id="${name}-wrong">${wrong(name)}</span>`}</div>`;
  };
  const list = problems.map((name) => html`<li><a href="#${name}">${wrong(name)}</a></li>`);
  return {
    status: problems.length === 0 ? 200 : 400,
    title: say('pay_by_card', language),
    payment,
    error: problems.length > 0,
    alert: problems.length === 0 ? null : notice(visit, html`<ul>${list}</ul>`),
    body: [
      html`<form method="post" action="${linkTo(visit, visit.path)}" class="stack" novalidate>${field}
${input('number', null, html` autocomplete="cc-number" maxlength="40"`)}
<div class="pair">${input('expiry', 'card_expiry_hint', html` autocomplete="cc-exp" maxlength="12"`)}
${input('cvc', 'card_cvc_hint', html` autocomplete="cc-csc" maxlength="8"`)}</div>
<button>${sayOf(visit, payment, 'pay_amount')}</button></form>`,
      changing(payment, visit, field),
      givingUp(payment, visit),
      payment.livemode ? null : testCardList(language),
    ],
  };
}

function testCardList(language: Language): Html {
  const rows = testCards.map(
    ({ number, brand, text }) =>
      html`<tr><td><bdi dir="ltr">${grouped(number, brand === 'amex' ? [4, 6, 5] : [4, 4, 4, 4])}</bdi></td><td>${text[language]}</td></tr>`,
  );
  return html`<details open><summary>${say('test_cards', language)}</summary>
<p class="muted">${say('test_cards_hint', language)}</p>
<table><thead><tr><th scope="col">${say('card_number', language)}</th><th scope="col">${say('test_card_outcome', language)}</th></tr></thead>
<tbody>${rows}</tbody></table></details>`;
}

/** The challenge of the card's bank, which test mode simulates. */
export function challengePage(payment: ShownPayment, visit: Visit, field: Html): Page {
  const { language } = visit;
  const { id, card } = payment.charge!;
  return {
    title: say('challenge_title', language),
    payment,
    body: [
      html`<p>${say('challenge_text', language, { last4: card?.last4 ?? '' })}</p>`,
      payment.livemode ? null : html`<p class="muted">${say('challenge_test', language)}</p>`,
      html`<form method="post" action="${linkTo(visit, challengePath(id))}" class="choices">${field}
<button name="answer" value="pass">${say('challenge_pass', language)}</button>
<button name="answer" value="fail" class="quiet">${say('challenge_fail', language)}</button></form>`,
      changing(payment, visit, field),
    ],
  };
}

/** The cash code, to be read out, scanned or printed. */
export function voucherPage(payment: ShownPayment, visit: Visit, field: Html): Page {
  const { language } = visit;
  const charge = payment.charge!;
  const number = charge.cash_number!;
  const back = afterPayment(payment);
  const change = changing(payment, visit, field);
  return {
    title: say('pay_cash', language),
    payment,
    scripts: [buttonsScript],
    body: [
      html`<p>${say('voucher_text', language)}</p>`,
      html`<dl><div><dt>${say('voucher_code', language)}</dt><dd class="code"><bdi dir="ltr">${grouped(number, [4, 4, 4])}</bdi></dd>${copyButton(number, language)}</div>
<div><dt>${say('voucher_amount', language)}</dt><dd>${formatAmount(payment.amount, payment.currency, language)}</dd></div>
<div><dt>${say('voucher_until', language)}</dt><dd>${moroccoTime(charge.expires_at_ms, language)}</dd></div></dl>`,
      qrCode(number, say('voucher_qr', language)),
      html`<button type="button" class="quiet screen" data-print hidden>${say('print', language)}</button>`,
      html`<p class="muted">${sayOf(visit, payment, 'voucher_after')}</p>`,
      payment.livemode ? null : html`<p class="muted screen">${say('voucher_test', language)}</p>`,
      back === null
        ? null
        : html`<p class="screen center"><a href="${back}">${sayOf(visit, payment, 'return_to')}</a></p>`,
      change && html`<p class="muted screen">${say('change_ends_code', language)}</p>`,
      change,
    ],
  };
}

function copyButton(text: string, language: Language): Html {
  return html`<button type="button" class="quiet screen" data-copy="${text}" data-done="${say('copied', language)}" aria-live="polite" hidden>${say('copy', language)}</button>`;
}

/** The form that leads back to the choice of methods, if there is a choice. Sending it ends the charge of this page. */
function changing({ intent, session, charge }: ShownPayment, visit: Visit, field: Html): Html | null {
  const others = intent.methods_left.filter((method) => method !== charge!.method);
  if (session === null || others.length === 0) return null;
  return html`<form method="post" action="${linkTo(visit, changePath(visit.path))}" class="screen">${field}
<button class="quiet">${say('change_method', visit.language)}</button></form>`;
}

function givingUp(payment: ShownPayment, visit: Visit): Html | null {
  const back = afterGivingUp(payment);
  return back === null
    ? null
    : html`<p class="center"><a href="${back}">${sayOf(visit, payment, 'give_up')}</a></p>`;
}

function grouped(digits: string, sizes: readonly number[]): string {
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
  return starts.map((start, i) => digits.slice(start, start + sizes[i]!)).join(' ');
}

const locales: Readonly<Record<Language, string>> = { en: 'en-GB', fr: 'fr-MA', ar: 'ar-MA' };

/** A time in Morocco's time zone, to the minute, in the digits that Morocco uses. */
function moroccoTime(ms: number, language: Language): string {
  return new Intl.DateTimeFormat(locales[language], {
    timeZone: 'Africa/Casablanca',
    numberingSystem: 'latn',
    dateStyle: 'full',
    timeStyle: 'short',
  }).format(ms);
}
