// The way to the page of the card network, where the customer types the card. It is one button, so
// that nothing of the card comes to this service. The browser posts the form straight to the
// network.

import { format } from '../../contract/messages/table.ts';
import { paidPath, unpaidPath } from '../../contract/page-paths.ts';
import type { Language } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { type Html, html } from '../../html/html.ts';
import { lockIcon } from '../../html/marks.ts';
import type { PageStart } from '../../networks/network.ts';
import { linkTo, type Page, sayOf, type Visit } from './document.ts';
import { notice } from './notice.ts';
import { waitingPage } from './outcome-pages.ts';
import { say } from './page-messages.ts';
import type { PagePort, ShownPayment } from './page-port.ts';
import { awayLink, giveUpLink } from './return-links.ts';
import { changeForm } from './voucher-page.ts';

/** `field` protects the form that leads back to the choice; it is not in the one to the network. */
export type HostedPage = (payment: ShownPayment, visit: Visit, field: Html) => Promise<Page>;

/** `baseUrl` is the address of the service for customers, without a final slash. */
export function createHostedPage(port: Pick<PagePort, 'startPage'>, baseUrl: string): HostedPage {
  return async (payment, visit, field) => {
    const { language } = visit;
    const { id } = defined(payment.charge, 'this page is of a charge');
    const chosen = visit.languageChosen ? `?lang=${language}` : '';
    const start = await port.startPage(id, {
      language,
      paidUrl: baseUrl + paidPath(id) + chosen,
      unpaidUrl: baseUrl + unpaidPath(id) + chosen,
    });
    return {
      title: say('pay_by_card', language),
      payment,
      alert: declineNotice(payment, language),
      ...(start.fields === null ? {} : { formTarget: new URL(start.url).origin }),
      body: [
        html`<p>${say('network_text', language)}</p>`,
        button(start, sayOf(visit, payment, 'go_to_network')),
        html`<p class="muted center">${sayOf(visit, payment, 'card_private')}</p>`,
        changeForm(payment, visit, field),
        giveUpLink(payment, visit),
      ],
    };
  };
}

/** Why the card was declined that was tried last. */
function declineNotice({ charge }: ShownPayment, language: Language): Html | null {
  const code = charge?.decline_code ?? null;
  return code === null ? null : notice(format(`card_declined.${code}`, language, {}), language, true);
}

function button({ url, fields }: PageStart, text: string): Html {
  const inner = html`${lockIcon}<span>${text}</span>`;
  return fields === null
    ? html`<p><a class="button" href="${url}">${inner}</a></p>`
    : html`<form method="post" action="${url}" accept-charset="utf-8">${fields.map(hidden)}<button>${inner}</button></form>`;
}

function hidden([name, value]: readonly [name: string, value: string]): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

/** The customer is back from the network's page, and the network has not reported yet. */
export function backFromNetworkPage(payment: ShownPayment, visit: Visit): Page {
  const page = waitingPage(payment, visit, 'processing');
  const back = awayLink(linkTo(visit, visit.path), say('not_paid_yet', visit.language));
  return { ...page, body: [...page.body, back] };
}
