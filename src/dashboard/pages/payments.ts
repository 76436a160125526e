// The pages of the payments: the list with its filters and its search, and exports of what it
// shows: exactly as the API has it, or for people, such as an accountant, in their language.

import { kindOfId } from '../../contract/id-prefixes.ts';
import { descriptionCharactersMax } from '../../contract/limits.ts';
import { routeTable } from '../../contract/routes/table.ts';
import { type Language, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { asciiDigits } from '../../core/card-number.ts';
import { hasName, tableOf } from '../../core/tables.ts';
import { type Sheet, sheetColumns, sheetWords } from '../../domain/export-sheet.ts';
import { everyPayment, type PaymentSearch } from '../../domain/payment-search.ts';
import { paymentStates } from '../../domain/payment-state.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { tooManyPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, type Problems, type Row, refused, type Saying, saying } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayPayment } from '../messages/payments.ts';
import { paymentsTable } from './payment-parts.ts';
import { askStory, beforeIn, customersMax, customersWith, findPayments } from './payment-questions.ts';
import { periodIn } from './period.ts';

type Request = Saying<typeof sayPayment>;

export const paymentsRows: readonly Row[] = saying(sayPayment, [
  get('payments', 'payments.read', showPayments),
  get('payments/export', 'payments.read', exportPayments),
]);

async function showPayments(request: Request): Promise<DashboardAnswer> {
  const { query, say } = request;
  const text = textIn(query);
  const direct = text === '' || isLong(text) ? null : await placeOf(request, text);
  if (direct !== null) return redirect(viewLink(request, direct));
  const { search, problems } = await searchOf(request);
  const found = await findPayments(request, search, true);
  if ('waitSeconds' in found) return tooManyPage(request, found);
  const kept = Object.fromEntries([...query].filter(([name]) => name !== 'before'));
  const isFiltered = Object.keys(kept).length > 0;
  // A filter that makes no sense is told, and left out.
  const shown = refused(request, problems, 200);
  return page(shown, {
    body: [
      filterForm(shown),
      paymentsTable(request, found, {
        caption: sayLayout(request)('payments'),
        limit: search.limit,
        path: 'payments',
        query: kept,
        empty: say(isFiltered ? 'none_found' : 'no_payments'),
      }),
      exportForm(request),
    ],
  });
}

/** The page of the one thing that a search names; null when the text is for the list. */
async function placeOf(request: Request, text: string): Promise<string | null> {
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
  const story = await askStory(request, number ?? text);
  return story && `payments/${story.intent.id}`;
}

/** The digits of a cash code, as people type it; null when the text is none. */
export function cashNumberIn(text: string): string | null {
  const digits = asciiDigits(text).replace(/[\s-]/g, '');
  return /^\d{12}$/.test(digits) ? digits : null;
}

/** No text that a payment has is longer. */
function isLong(text: string): boolean {
  return text.length > descriptionCharactersMax;
}

function textIn(query: URLSearchParams): string {
  return (query.get('q') ?? '').trim();
}

async function searchOf(request: Request): Promise<{ search: PaymentSearch; problems: Problems }> {
  const { query, say } = request;
  const text = textIn(query);
  const { fromMs, toMs, problems: problemsOfPeriod } = periodIn(request);
  const problems: Record<string, string> = { ...problemsOfPeriod };
  const choice = <Choice extends string>(name: string, choices: readonly Choice[]): Choice | null => {
    const value = query.get(name) ?? '';
    const chosen = choices.find((one) => one === value) ?? null;
    if (value !== '' && chosen === null) problems[name] = say('choice_invalid');
    return chosen;
  };
  if (isLong(text)) problems.q = say('search_long', { max: descriptionCharactersMax });
  const isText = text !== '' && !isLong(text);
  const isEmail = isText && text.includes('@') && !text.includes('=');
  const customers = isEmail ? await customersWith(request, text) : null;
  if (customers?.hasMore) problems.q = say('customers_many', { max: customersMax });
  const search: PaymentSearch = {
    ...everyPayment,
    state: choice('status', paymentStates),
    method: choice('method', paymentMethodTypes),
    customers: customers?.ids ?? null,
    fromSeconds: fromMs && fromMs / 1000,
    toSeconds: toMs && toMs / 1000,
    text: isText && !isEmail ? text : null,
    before: beforeIn(query),
  };
  return { search, problems };
}

function filterForm(request: Request): Html {
  const { say } = request;
  const any = ['', say('any')] as const;
  const states = paymentStates.map((state) => [state, say(state)] as const);
  return ui.filters(request, 'payments', (filter) => [
    ui.field(filter, 'search', { name: 'q', hint: say('search_hint'), type: 'search' }),
    ui.select(filter, 'status', [any, ...states]),
    ui.select(filter, 'method', [any, ['card', say('card')], ['cash', say('cash')]]),
    ui.field(filter, 'from', { type: 'date' }),
    ui.field(filter, 'to', { type: 'date' }),
  ]);
}

const exported = ['payment_intents', 'charges', 'refunds'] as const;
const formats = ['accounts', 'csv', 'ndjson'] as const;
/** The filters of the page, as its address has them. */
const filterNames = ['q', 'status', 'method', 'from', 'to'] as const;

function exportForm(request: Request): Html {
  const { query, say } = request;
  const kept = filterNames.flatMap((name) => {
    const value = query.get(name) ?? '';
    return value === '' ? [] : [ui.hidden(name, value)];
  });
  const exports = exported.map((name) => [name, say(`export_${name}`)] as const);
  const forms = formats.map((format) => [format, say(`format_${format}`)] as const);
  const what = ui.select(request, 'export_what', exports, { name: 'what' });
  const format = ui.select(request, 'format', forms, { hint: say('format_hint') });
  return html`<details class="sheet"><summary>${say('export')}</summary>
<p class="muted">${say(kept.length === 0 ? 'export_all' : 'export_filtered')}</p>
<form method="get" action="${viewLink(request, 'payments/export')}" class="filters">${kept}${what}${format}${ui.submit(say('download'), 'quiet')}</form></details>`;
}

/** The edge streams it. The period is of what is exported, other filters of its payment. */
async function exportPayments(request: Request): Promise<DashboardAnswer> {
  const { search, problems } = await searchOf(request);
  if (Object.keys(problems).length > 0) return showPayments(request);
  const { query, organization, mode, member, language } = request;
  const what = exported.find((name) => name === query.get('what')) ?? exported[0];
  const format = formats.find((name) => name === query.get('format')) ?? formats[0];
  const { fromSeconds, toSeconds } = search;
  const parameters = new URLSearchParams({
    format: format === 'ndjson' ? 'ndjson' : 'csv',
    ...(fromSeconds !== null && { 'created[gte]': String(fromSeconds) }),
    ...(toSeconds !== null && { 'created[lt]': String(toSeconds) }),
  });
  const { state, method, customers, text } = search;
  const isFiltered = state !== null || method !== null || customers !== null || text !== null;
  // It reads as many records as a search. The stream asks again whether it may go on.
  const admitted = isFiltered && !request.isRepeated && (await request.search(true, async () => null));
  if (admitted) return tooManyPage(request, admitted);
  return {
    kind: 'export',
    route: routeTable.findIndex(({ operation }) => operation === `export_${what}`),
    org: organization.id,
    livemode: mode === 'live',
    member: member.id,
    query: parameters.toString(),
    ...(isFiltered && { search }),
    ...(format === 'accounts' && { sheet: sheetIn(language) }),
  };
}

function sheetIn(language: Language): Sheet {
  const say = sayPayment({ language });
  const headings = { amount: 'amount_dirhams', refund_id: 'refund_heading' } as const;
  return {
    separator: language === 'en' ? ',' : ';',
    words: tableOf(sheetWords, (word) => say(word === 'card_declined' ? 'generic_decline' : word)),
    headings: tableOf(sheetColumns, (column) => say(hasName(headings, column) ? headings[column] : column)),
  };
}
