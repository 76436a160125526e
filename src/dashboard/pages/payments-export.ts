// Exports of what the page of payments shows, with its filters: exactly as the API has it, or for
// people, such as an accountant, in the language of whoever downloads it.

import { routeTable } from '../../contract/routes/table.ts';
import type { Language } from '../../contract/vocabulary.ts';
import { hasName, tableOf } from '../../core/tables.ts';
import { type Sheet, sheetColumns, sheetWords } from '../../domain/export-sheet.ts';
import type { PaymentSearch } from '../../domain/payment-search.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { viewLink } from '../layout/links.ts';
import { get, type Problems, type Saying } from '../layout/row.ts';
import { sayPayment } from '../messages/payments.ts';

type Request = Saying<typeof sayPayment>;

/** `searchOf` reads the filters of the page; `showPayments` shows what is wrong with them. */
export function exportRows(
  searchOf: (request: Request) => Promise<{ readonly search: PaymentSearch; readonly problems: Problems }>,
  showPayments: (request: Request) => Promise<DashboardAnswer>,
) {
  return [
    get('payments/export', 'payments.read', async (request: Request) => {
      const { search, problems } = await searchOf(request);
      if (Object.keys(problems).length > 0) return showPayments(request);
      return exportOf(request, search);
    }),
  ];
}

const exported = ['payment_intents', 'charges', 'refunds'] as const;
const formats = ['accounts', 'csv', 'ndjson'] as const;
/** The filters of the page, as its address has them. */
const filterNames = ['q', 'status', 'method', 'from', 'to'] as const;

export function exportForm(request: Request): Html {
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
function exportOf(request: Request, search: PaymentSearch): DashboardAnswer {
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
