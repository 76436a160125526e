// The pages behind the choice: the challenge of the card's bank, and the voucher of a cash code.

import { challengePath, changePath } from '../../contract/page-paths.ts';
import type { Language } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { formatAmount } from '../../core/money.ts';
import { buttonsScript } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { qrCode } from '../../html/qr-code.ts';
import { grouped } from './card-inputs.ts';
import { linkTo, type Page, sayOf, type Visit } from './document.ts';
import { say } from './page-messages.ts';
import type { ShownPayment } from './page-port.ts';
import { facts, moroccoTime, printButton } from './receipt.ts';
import { awayLink } from './return-links.ts';

/** A page that nobody has to touch until the agent has taken the money. */
const watchSeconds = 15;

/** The challenge of the card's bank, which test mode simulates. */
export function challengePage(payment: ShownPayment, visit: Visit, field: Html): Page {
  const { language } = visit;
  const { id, card } = defined(payment.charge, 'this page is of a charge');
  return {
    title: say('challenge_title', language),
    payment,
    body: [
      html`<p>${say('challenge_text', language, { last4: card?.last4 ?? '' })}</p>`,
      payment.livemode ? null : html`<p class="muted">${say('challenge_test', language)}</p>`,
      html`<form method="post" action="${linkTo(visit, challengePath(id))}" class="stack">${field}
<button name="answer" value="pass">${say('challenge_pass', language)}</button>
<button name="answer" value="fail" class="quiet">${say('challenge_fail', language)}</button></form>`,
      changeForm(payment, visit, field),
    ],
  };
}

/** The cash code, to be read out, scanned or printed. */
export function voucherPage(payment: ShownPayment, visit: Visit, field: Html, back: string | null): Page {
  const { language } = visit;
  const charge = defined(payment.charge, 'this page is of a charge');
  const number = defined(charge.cash_number, 'this page is of a cash code');
  const { agents } = payment;
  const change = changeForm(payment, visit, field);
  return {
    title: say('pay_cash', language),
    payment,
    scripts: [buttonsScript],
    watchSeconds,
    body: [
      html`<p>${sayOf(visit, payment, 'voucher_text')}</p>`,
      html`<div class="code"><p class="muted">${say('voucher_code', language)}</p><p><bdi dir="ltr">${grouped(number, [4, 4, 4])}</bdi></p>
${qrCode(number, say('voucher_qr', language))}</div>`,
      html`<div class="pair screen">${copyButton(number, language)}${printButton('print', language)}</div>`,
      facts([
        [say('amount', language), formatAmount(payment.amount, payment.currency, language)],
        [say('voucher_until', language), moroccoTime(charge.expires_at_ms, language)],
        agents !== null && [
          say('voucher_agents', language),
          html`<bdi>${typeof agents === 'string' ? agents : agents[language]}</bdi>`,
        ],
      ]),
      html`<p class="muted">${sayOf(visit, payment, 'voucher_after')}</p>`,
      payment.livemode ? null : html`<p class="muted screen">${say('voucher_test', language)}</p>`,
      back === null ? null : awayLink(back, sayOf(visit, payment, 'return_to'), 'leave screen'),
      change && html`<p class="muted screen">${say('change_ends_code', language)}</p>`,
      change,
    ],
  };
}

function copyButton(text: string, language: Language): Html {
  return html`<button type="button" class="quiet" data-copy="${text}" data-done="${say('copied', language)}" aria-live="polite" hidden>${say('copy', language)}</button>`;
}

/** The form that leads back to the choice, if there is one. It ends the page's charge. */
export function changeForm(
  { intent, session, charge }: ShownPayment,
  visit: Visit,
  field: Html,
): Html | null {
  const others = intent.methods_left.filter((method) => method === 'card' || method !== charge?.method);
  if (session === null || others.length === 0) return null;
  return html`<form method="post" action="${linkTo(visit, changePath(visit.path))}" class="screen">${field}
<button class="quiet">${say('change_method', visit.language)}</button></form>`;
}
