// The page on which a customer pays: the methods as one choice, the card form in it. With one
// method there is nothing to choose, and a payment intent without a session has its card form
// alone.

import { type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { elementAt } from '../../core/assert.ts';
import { cardFormScript } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { cardIcon, cashIcon, lockIcon } from '../../html/marks.ts';
import { type CardField, fieldOf } from './card-fields.ts';
import { cardInputs, type SentCard, testCardList } from './card-inputs.ts';
import { linkTo, type Page, sayOf, type Visit } from './document.ts';
import { failureText, notice } from './notice.ts';
import { type PageMessage, say } from './page-messages.ts';
import type { ShownPayment } from './page-port.ts';
import { giveUpLink } from './return-links.ts';

/** What became of a form that was sent from this page and leads back to it. */
export interface SentForm extends SentCard {
  readonly problem: 'method_missing' | 'method_unavailable' | 'check_fields' | 'declined';
}

/** `field` is the hidden field that protects the form; `sent` is null on the first visit. */
export function checkoutPage(
  payment: ShownPayment,
  visit: Visit,
  field: Html,
  sent: SentForm | null = null,
): Page {
  const { language } = visit;
  const offered = offeredMethods(payment);
  /** The card is typed here. */
  const byCard = offered.includes('card') && payment.card_page === 'own';
  const usedUp =
    payment.session !== null && offered.length < payment.intent.payment_method_types.length
      ? ('cards_used_up' as const)
      : null;
  const said = sent === null || sent.problem === 'declined' ? usedUp : sent.problem;
  const message = said === null ? failureText(payment, visit) : say(said, language);
  // Who can type a card now begins there. A screen reader reads the message with the field.
  const startsAtField = byCard && (said === null || said === 'check_fields') && message !== null;
  const focused = startsAtField ? fieldOf(sent?.wrong[0] ?? 'number') : null;
  const attempt = payment.session === null ? '' : (payment.charge?.id ?? '');

  function panel(method: PaymentMethodType): Html {
    if (method === 'cash') return cashPanel(payment, visit);
    return byCard ? cardPanel(payment, visit, sent, focused) : networkPanel(visit);
  }

  function only(method: PaymentMethodType): Html {
    return html`<input type="hidden" name="method" value="${method}">${panel(method)}`;
  }

  function choice(): Html {
    const choices = offered.map(
      (method, i) => html`<div class="method">
<input type="radio" id="by-${method}" name="method" value="${method}"${i === 0 && html` checked`}>
<label for="by-${method}">${method === 'card' ? cardIcon : cashIcon}<span>${say(`by_${method}`, language)}</span></label>
<div class="panel">${panel(method)}</div></div>`,
    );
    return html`<fieldset aria-labelledby="title">${choices}</fieldset>`;
  }

  return {
    status: sent === null ? 200 : sent.problem === 'declined' ? 402 : 400,
    title: say(offered.length === 1 ? titles[elementAt(offered, 0)] : 'choose_title', language),
    payment,
    error: sent !== null,
    alert: message === null ? null : notice(message, language, focused === null),
    scripts: byCard ? [cardFormScript] : [],
    body: [
      html`<form method="post" action="${linkTo(visit, visit.path)}" class="${byCard ? 'card' : 'cash'} stack" novalidate>${field}<input type="hidden" name="attempt" value="${attempt}">
${offered.length === 1 ? only(elementAt(offered, 0)) : choice()}</form>`,
      giveUpLink(payment, visit),
      byCard && !payment.livemode ? testCardList(language) : null,
    ],
  };
}

/** The methods for another charge, and that of a charge whose card did not arrive. */
function offeredMethods({ intent, session, charge }: ShownPayment): readonly PaymentMethodType[] {
  if (session === null) return ['card'];
  const open = charge?.status === 'pending' ? charge.method : null;
  return paymentMethodTypes.filter((method) => intent.methods_left.includes(method) || method === open);
}

const titles = { card: 'pay_by_card', cash: 'pay_cash' } as const satisfies Record<
  PaymentMethodType,
  PageMessage
>;

function cardPanel(
  payment: ShownPayment,
  visit: Visit,
  sent: SentForm | null,
  focused: CardField | null,
): Html {
  const { language } = visit;
  return html`${cardInputs(payment.livemode, language, sent ?? { wrong: [], expiry: '' }, focused)}
<button data-sending="${say('paying', language)}">${lockIcon}<span>${sayOf(visit, payment, 'pay_amount')}</span></button>
<p class="muted center">${sayOf(visit, payment, 'card_private')}</p>`;
}

/** The card is typed on the network's page. */
function networkPanel({ language }: Visit): Html {
  return html`<p>${say('network_text', language)}</p>
<button data-sending="${say('opening_title', language)}">${lockIcon}<span>${say('pay_by_card', language)}</span></button>`;
}

function cashPanel(payment: ShownPayment, visit: Visit): Html {
  const { language } = visit;
  return html`<p>${sayOf(visit, payment, 'cash_text')}</p>
<button data-sending="${say('opening_title', language)}"><span>${say('get_code', language)}</span></button>`;
}
