// The parts that all pages share: document, headers, languages. No page is stored by a cache or
// shown in a frame. It loads and runs nothing but scripts of this service, which it can do without,
// and its forms are sent to this service only, or to the card network that the payment goes
// through.

import { type Language, languages } from '../../contract/vocabulary.ts';
import { formatAmount } from '../../core/money.ts';
import { type Asset, addressOf, watchScript } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { languageLinks } from '../../html/language-links.ts';
import { pageHeaders } from '../../html/page-headers.ts';
import { type PageMessage, say } from './page-messages.ts';
import type { PageAnswer, ShownPayment } from './page-port.ts';
import { brandStyle, pageStyle, type Style } from './style.ts';

/** The parts of a visit on which its page depends. */
export interface Visit {
  readonly language: Language;
  /** The language was chosen by a link, so the page's links carry it. */
  readonly languageChosen: boolean;
  /** The page's address without a query, to which its forms redirect. */
  readonly path: string;
  /** The start of the path that a proxy removes from the service's addresses; '' for none. */
  readonly prefix: string;
}

/** What is paid, to whom. */
type Billed = Pick<
  ShownPayment,
  'livemode' | 'amount' | 'currency' | 'description' | 'merchant' | 'branding'
>;

export interface Page {
  /** 200 unless it is given. */
  readonly status?: number;
  /** Also the page's heading. */
  readonly title: string;
  /** The sign of an outcome, above the heading. */
  readonly mark?: Html;
  /** Stands above the heading. */
  readonly alert?: Html | null;
  readonly body: readonly (Html | null)[];
  /** The stage of the payment, for the script that watches it. */
  readonly stage?: string;
  /** The payment that the page is about. */
  readonly payment: Billed | null;
  /** The page reports an error in the form. */
  readonly error?: boolean;
  /** Scripts that make the page easier to use. It works without them. */
  readonly scripts?: readonly Asset[];
  /** The page goes to this address at once. */
  readonly goTo?: string;
  /** The page looks for news this often, and shows them by itself. */
  readonly watchSeconds?: number;
  /** The other origin that a form of the page is sent to. */
  readonly formTarget?: string;
  readonly headers?: readonly (readonly [string, string])[];
}

/** An address of this service, with the language if the customer chose one. */
export function linkTo(visit: Visit, path: string, flag = ''): string {
  const query = [visit.languageChosen ? `lang=${visit.language}` : '', flag].filter((part) => part !== '');
  return visit.prefix + path + (query.length === 0 ? '' : `?${query.join('&')}`);
}

/** A text in which the payment's merchant and amount can be used. */
export function sayOf(
  visit: Visit,
  payment: Pick<Billed, 'merchant' | 'amount' | 'currency'>,
  key: PageMessage,
): string {
  const amount = formatAmount(payment.amount, payment.currency, visit.language);
  return say(key, visit.language, { merchant: payment.merchant, amount });
}

/** The headers of a page with these style elements. */
function headersWith(styles: readonly Style[], formTarget?: string): PageAnswer['headers'] {
  const rules = [
    `style-src ${styles.map(({ source }) => source).join(' ')}`,
    `script-src 'self'`,
    `connect-src 'self'`,
    `img-src 'self' data:`,
  ];
  return pageHeaders(rules, formTarget);
}

/** Redirects the browser with a GET. */
export function redirect(location: string): PageAnswer {
  const headers: PageAnswer['headers'] = [...headersWith([pageStyle]), ['location', location]];
  return { status: 303, headers, body: '' };
}

/** The whole answer for a page, with the cookie `setCookie` unless that is null. */
export function render(page: Page, visit: Visit, setCookie: string | null = null): PageAnswer {
  const { language } = visit;
  const { payment, watchSeconds, stage = '' } = page;
  const colour = payment?.branding.colour ?? null;
  const styles = colour === null ? [pageStyle] : [pageStyle, brandStyle(colour)];
  const headers: (readonly [string, string])[] = [
    ...headersWith(styles, page.formTarget),
    ['content-type', 'text/html; charset=utf-8'],
    ['content-language', language],
    ...(page.headers ?? []),
  ];
  if (setCookie !== null) headers.push(['set-cookie', setCookie]);
  if (stage !== '') headers.push(['payment-stage', stage]);
  const title = page.error ? say('error', language, { title: page.title }) : page.title;
  const scripts = [...(page.scripts ?? []), ...(watchSeconds === undefined ? [] : [watchScript])];
  const watched = watchSeconds !== undefined && html` data-stage="${stage}" data-seconds="${watchSeconds}"`;
  const others = languageLinks(languages, language, say('languages', language), (each) =>
    linkTo({ ...visit, language: each, languageChosen: true }, visit.path),
  );
  const document = html`<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}${payment !== null && ` – ${payment.merchant}`}</title>
${styles.map(({ element }) => element)}
${scripts.map((script) => html`<script type="module" src="${visit.prefix}${addressOf(script)}"></script>\n`)}${page.goTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${page.goTo}">\n`}${watchSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${watchSeconds}"></noscript>\n`}</head>
<body>
${payment?.livemode === false && html`<header class="test"><p>${say('test_mode', language)}</p></header>`}
<main${payment !== null && html` class="split"`}${watched}>
${payment && bill(payment, visit)}
<div class="sheet stack">
${page.mark ?? null}${page.alert ?? null}<h1 id="title">${page.title}</h1>${page.body.filter((part) => part !== null)}
</div></main>
${others}
</body>
</html>
`;
  return { status: page.status ?? 200, headers, body: document.markup };
}

/** Who is paid, how much, and what for. */
function bill(payment: Billed, visit: Visit): Html {
  const { merchant, branding, description } = payment;
  const [initial = ''] = merchant;
  const logo =
    branding.logoUrl === null
      ? html`<span class="logo" aria-hidden="true">${initial.toUpperCase()}</span>`
      : html`<img class="logo" src="${visit.prefix}${branding.logoUrl}" alt="">`;
  return html`<div class="bill"><div class="merchant">${logo}<p>${sayOf(visit, payment, 'pay_to')}</p></div>
<p class="amount">${formatAmount(payment.amount, payment.currency, visit.language)}</p>
${description && html`<p class="what"><bdi>${description}</bdi></p>`}</div>`;
}
