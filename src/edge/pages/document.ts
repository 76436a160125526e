// The parts that all pages share: document, headers, languages. No page is stored by a cache or shown in a frame. It loads
// and runs nothing but scripts of this service, which it can do without, and its forms are sent to this service only.

import { type Language, languages } from '../../contract/vocabulary.ts';
import { formatAmount } from '../../core/money.ts';
import { type Asset, addressOf } from '../assets.ts';
import { type Html, html } from './html.ts';
import { languageNames, type PageMessage, say } from './page-messages.ts';
import type { PageAnswer, ShownPayment } from './page-port.ts';
import { styleElement, styleSource } from './style.ts';

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

export interface Page {
  /** 200 unless it is given. */
  readonly status?: number;
  /** Also the page's heading. */
  readonly title: string;
  /** Stands above the heading. */
  readonly alert?: Html | null;
  readonly body: readonly (Html | null)[];
  /** The payment that the page is about. */
  readonly payment: ShownPayment | null;
  /** The page reports an error in the form. */
  readonly error?: boolean;
  /** Scripts that make the page easier to use. It works without them. */
  readonly scripts?: readonly Asset[];
  /** The page goes to this address at once. */
  readonly goTo?: string;
  /** The page reloads after this many seconds. */
  readonly reloadSeconds?: number;
  readonly headers?: readonly (readonly [string, string])[];
}

/** An address of this service, with the language if the customer chose one. */
export function linkTo(visit: Visit, path: string, flag = ''): string {
  const query = [visit.languageChosen ? `lang=${visit.language}` : '', flag].filter((part) => part !== '');
  return visit.prefix + path + (query.length === 0 ? '' : `?${query.join('&')}`);
}

/** A text in which the payment's merchant and amount can be used. */
export function sayOf(visit: Visit, payment: ShownPayment, key: PageMessage): string {
  const amount = formatAmount(payment.amount, payment.currency, visit.language);
  return say(key, visit.language, { merchant: payment.merchant, amount });
}

/** Redirects the browser with a GET. */
export function redirect(location: string): PageAnswer {
  return { status: 303, headers: [...fixedHeaders, ['location', location]], body: '' };
}

// The redirect after a form must stay on this service, because Chromium applies `form-action` to redirects, too.
const policy = [
  `default-src 'none'`,
  `style-src ${styleSource}`,
  `script-src 'self'`,
  `form-action 'self'`,
  `base-uri 'none'`,
  `frame-ancestors 'none'`,
].join('; ');

const fixedHeaders: readonly (readonly [string, string])[] = [
  ['cache-control', 'no-store'],
  ['content-security-policy', policy],
  ['x-frame-options', 'DENY'],
  ['x-content-type-options', 'nosniff'],
  // With `no-referrer` browsers would also hide the origin of the service's own forms.
  ['referrer-policy', 'same-origin'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()'],
  ['x-robots-tag', 'noindex, nofollow'],
];

/** The whole answer for a page, with the cookie `setCookie` unless that is null. */
export function render(page: Page, visit: Visit, setCookie: string | null = null): PageAnswer {
  const { language } = visit;
  const headers: (readonly [string, string])[] = [
    ...fixedHeaders,
    ['content-type', 'text/html; charset=utf-8'],
    ['content-language', language],
    ...(page.headers ?? []),
  ];
  if (setCookie !== null) headers.push(['set-cookie', setCookie]);
  if (page.reloadSeconds !== undefined) headers.push(['refresh', String(page.reloadSeconds)]);
  const title = page.error ? `${say('error', language)}: ${page.title}` : page.title;
  const document = html`<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}${page.payment !== null && ` – ${page.payment.merchant}`}</title>
${styleElement}
${(page.scripts ?? []).map((script) => html`<script type="module" src="${visit.prefix}${addressOf(script)}"></script>`)}
${page.goTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${page.goTo}">`}
</head>
<body>
${page.payment?.livemode === false && html`<header class="test"><p>${say('test_mode', language)}</p></header>`}
<main><div class="sheet stack">
${page.payment && bill(page.payment, visit)}
${page.alert ?? null}<h1>${page.title}</h1>${page.body.filter((part) => part !== null)}
</div></main>
${languageLinks(visit)}
</body>
</html>
`;
  return { status: page.status ?? 200, headers, body: document.markup };
}

function bill(payment: ShownPayment, visit: Visit): Html {
  return html`<div class="bill"><p class="merchant">${sayOf(visit, payment, 'pay_to')}</p>
<p class="amount">${formatAmount(payment.amount, payment.currency, visit.language)}</p></div>`;
}

function languageLinks(visit: Visit): Html {
  const links = languages.map((language) => {
    const name = languageNames[language];
    if (language === visit.language)
      return html`<li><span lang="${language}" aria-current="true">${name}</span></li>`;
    const href = linkTo({ ...visit, language, languageChosen: true }, visit.path);
    return html`<li><a href="${href}" hreflang="${language}" lang="${language}">${name}</a></li>`;
  });
  return html`<nav class="languages" aria-label="${say('languages', visit.language)}"><ul>${links}</ul></nav>`;
}
