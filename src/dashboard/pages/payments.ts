// The pages of the payments: the list with its filters and its search, and the exports.

import { kindOfId } from '../../contract/id-prefixes.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import type { PaymentSearch } from '../../domain/payment-search.ts';
import { paymentStates } from '../../domain/payment-state.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import type { Html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { tooManyPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, type Row, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayPayment } from '../messages/payments.ts';
import { paymentsTable } from './payment-parts.ts';
import { askStory, beforeIn, customersWith, everyPayment, findPayments } from './payment-questions.ts';
import { exportForm, exportRows } from './payments-export.ts';

export const paymentsRows: readonly Row[] = [
  get('payments', 'payments.read', showPayments),
  ...exportRows(searchOf, showPayments),
];

async function showPayments(request: ViewRequest): Promise<DashboardAnswer> {
  const { query } = request;
  const say = sayPayment(request);
  const text = textIn(query);
  const direct = text === '' ? null : await placeOf(request, text);
  if (direct !== null) return redirect(viewLink(request, direct));
  const { search, problems } = await searchOf(request);
  const found = await findPayments(request, search, true);
  if ('waitSeconds' in found) return tooManyPage(request, found);
  const kept = Object.fromEntries([...query].filter(([name]) => name !== 'before'));
  const isFiltered = Object.keys(kept).length > 0;
  const title = sayLayout(request)('payments');
  return page(request, {
    title,
    status: 200,
    problems,
    body: [
      filterForm(request, problems),
      paymentsTable(request, found, {
        caption: title,
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
async function placeOf(request: ViewRequest, text: string): Promise<string | null> {
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
  const digits = text
    .replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(/[\s-]/g, '');
  return /^\d{12}$/.test(digits) ? digits : null;
}

function textIn(query: URLSearchParams): string {
  return (query.get('q') ?? '').trim();
}

async function searchOf(request: ViewRequest): Promise<{ search: PaymentSearch; problems: ui.Problems }> {
  const { query } = request;
  const text = textIn(query);
  const say = sayPayment(request);
  const problems: Record<string, string> = {};
  const day = (name: string) => {
    const value = query.get(name) ?? '';
    const bounds = moroccoDayBounds(value);
    if (value !== '' && bounds === null) problems[name] = say('date_invalid');
    return bounds;
  };
  const [from, to] = [day('from'), day('to')];
  const method = query.get('method');
  const isEmail = text.includes('@') && !text.includes('=');
  const search: PaymentSearch = {
    ...everyPayment,
    state: paymentStates.find((state) => state === query.get('status')) ?? null,
    method: method === 'card' || method === 'cash' ? method : null,
    customers: isEmail ? await customersWith(request, text) : null,
    fromSeconds: from && from.fromMs / 1000,
    toSeconds: to && to.toMs / 1000,
    text: isEmail || text === '' ? null : text,
    before: beforeIn(query),
  };
  return { search, problems };
}

function filterForm(request: ViewRequest, problems: ui.Problems): Html {
  const say = sayPayment(request);
  const given = (name: string) => ({ name, value: request.query.get(name) ?? '', problems });
  const any = ['', say('any')] as const;
  return ui.filters(request, 'payments', [
    ui.field({
      ...given('q'),
      label: say('search'),
      hint: say('search_hint'),
      type: 'search',
    }),
    ui.select({
      ...given('status'),
      label: say('status'),
      choices: [any, ...paymentStates.map((state) => [state, say(state)] as const)],
    }),
    ui.select({
      ...given('method'),
      label: say('method'),
      choices: [any, ['card', say('card')], ['cash', say('cash')]],
    }),
    ui.field({ ...given('from'), label: say('from'), type: 'date' }),
    ui.field({ ...given('to'), label: say('to'), type: 'date' }),
  ]);
}
