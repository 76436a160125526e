// The room with the payments: the list with its filters and its search, and the exports.

import { kindOfId } from '../../contract/id-prefixes.ts';
import { routeTable } from '../../contract/routes/table.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import type { PaymentSearch } from '../../domain/payment-search.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { errorSummary, field, filters, type Problems, select, submit } from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { tooManyPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayPayment } from '../messages/payments.ts';
import { paymentStatuses, paymentsTable } from './payment-parts.ts';
import { askStory, beforeIn, customersWith, everyPayment, findPayments } from './payment-questions.ts';

export const paymentsRows: readonly Row[] = [
  { method: 'GET', path: 'payments', permission: 'payments.read', handle: showPayments },
  { method: 'GET', path: 'payments/export', permission: 'payments.read', handle: exportPayments },
];

async function showPayments(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, query } = visit;
  const text = (query.get('q') ?? '').trim();
  const direct = text === '' ? null : await placeOf(visit, desk, text);
  if (direct !== null) return redirect(roomLink(visit, direct));
  const { search, problems } = await searchOf(visit, desk, text);
  const found = await findPayments(visit, desk, search, true);
  if ('waitSeconds' in found) return tooManyPage(visit, found);
  const kept = Object.fromEntries([...query].filter(([name]) => name !== 'before'));
  const isFiltered = Object.keys(kept).length > 0;
  const title = sayFrame('payments', language);
  return page(visit, {
    active: 'payments',
    title,
    alert: errorSummary(language, problems),
    body: [
      filterForm(visit, problems),
      paymentsTable(visit, found, {
        caption: title,
        limit: search.limit,
        path: 'payments',
        query: kept,
        empty: sayPayment(isFiltered ? 'none_found' : 'no_payments', language),
      }),
      exportForm(visit),
    ],
  });
}

/** The page of the one thing that a search names; null when the text is for the list. */
async function placeOf(visit: Visit, desk: Desk, text: string): Promise<string | null> {
  const kind = kindOfId(text);
  if (kind === 'customer' && /^\w+$/.test(text)) return `customers/${text}`;
  const number = cashNumberIn(text);
  const isOfPayment =
    kind === 'payment_intent' ||
    kind === 'charge' ||
    kind === 'checkout_session' ||
    kind === 'refund' ||
    kind === 'review';
  if (number === null && !isOfPayment) return null;
  const story = await askStory(visit, desk, number ?? text);
  return story && `payments/${story.intent.id}`;
}

/** The digits of a cash code, as people type it; null when the text is none. */
export function cashNumberIn(text: string): string | null {
  const digits = text
    .replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(/[\s-]/g, '');
  return /^\d{12}$/.test(digits) ? digits : null;
}

async function searchOf(
  visit: Visit,
  desk: Desk,
  text: string,
): Promise<{ search: PaymentSearch; problems: Problems }> {
  const { query, language } = visit;
  const problems: Record<string, string> = {};
  const day = (name: string) => {
    const value = query.get(name) ?? '';
    const bounds = moroccoDayBounds(value);
    if (value !== '' && bounds === null) problems[name] = sayPayment('date_invalid', language);
    return bounds;
  };
  const [from, to] = [day('from'), day('to')];
  const method = query.get('method');
  const isEmail = text.includes('@') && !text.includes('=');
  const search: PaymentSearch = {
    ...everyPayment,
    status: paymentStatuses.find((status) => status === query.get('status')) ?? null,
    method: method === 'card' || method === 'cash' ? method : null,
    customers: isEmail ? await customersWith(visit, desk, text) : null,
    fromSeconds: from && from.fromMs / 1000,
    toSeconds: to && to.toMs / 1000,
    text: isEmail || text === '' ? null : text,
    before: beforeIn(query),
  };
  return { search, problems };
}

function filterForm(visit: Visit, problems: Problems): Html {
  const { language, query } = visit;
  const given = (name: string) => ({ name, value: query.get(name) ?? '', problems });
  const any = ['', sayPayment('any', language)] as const;
  return filters(visit, 'payments', [
    field({
      ...given('q'),
      label: sayPayment('search', language),
      hint: sayPayment('search_hint', language),
      type: 'search',
    }),
    select({
      ...given('status'),
      label: sayPayment('status', language),
      choices: [any, ...paymentStatuses.map((status) => [status, sayPayment(status, language)] as const)],
    }),
    select({
      ...given('method'),
      label: sayPayment('method', language),
      choices: [any, ['card', sayPayment('card', language)], ['cash', sayPayment('cash', language)]],
    }),
    field({ ...given('from'), label: sayPayment('from', language), type: 'date' }),
    field({ ...given('to'), label: sayPayment('to', language), type: 'date' }),
  ]);
}

const exported = ['payment_intents', 'charges', 'refunds'] as const;
const formats = ['csv', 'ndjson'] as const;

function exportForm(visit: Visit): Html {
  const { language } = visit;
  const days = (['from', 'to'] as const).map((name) =>
    field({ name: `export_${name}`, label: sayPayment(name, language), type: 'date' }),
  );
  return html`<details class="sheet"><summary>${sayPayment('export', language)}</summary>
<form method="get" action="${roomLink(visit, 'payments/export')}" class="filters">${select({
    name: 'what',
    label: sayPayment('export_what', language),
    choices: exported.map((name) => [name, sayPayment(`export_${name}`, language)] as const),
  })}${select({
    name: 'format',
    label: sayPayment('format', language),
    choices: formats.map((format) => [format, format.toUpperCase()] as const),
  })}${days}${submit(sayPayment('download', language), 'quiet')}</form></details>`;
}

/** The edge streams the export of the API. */
async function exportPayments(visit: Visit): Promise<DashboardAnswer> {
  const { query, organization, mode, member } = visit;
  const what = exported.find((name) => name === query.get('what')) ?? exported[0];
  const format = formats.find((name) => name === query.get('format')) ?? formats[0];
  const from = moroccoDayBounds(query.get('export_from') ?? '');
  const to = moroccoDayBounds(query.get('export_to') ?? '');
  const parameters = new URLSearchParams({
    format,
    ...(from && { 'created[gte]': String(from.fromMs / 1000) }),
    ...(to && { 'created[lt]': String(to.toMs / 1000) }),
  });
  return {
    kind: 'export',
    route: routeTable.findIndex(({ operation }) => operation === `export_${what}`),
    org: organization.id,
    livemode: mode === 'live',
    member: member.id,
    query: parameters.toString(),
  };
}
