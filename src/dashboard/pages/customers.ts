// The room with the customers, each with their payments.

import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import {
  copyable,
  definitions,
  emptyState,
  field,
  filters,
  pager,
  section,
  table,
  time,
} from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, ResultOf, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayShop } from '../messages/shop.ts';
import { listPage } from './list-page.ts';
import { paymentsTable } from './payment-parts.ts';
import { beforeIn, everyPayment, listPayments } from './payment-questions.ts';

export const customerRows: readonly Row[] = [
  { method: 'GET', path: 'customers', permission: 'payments.read', handle: listCustomers },
  { method: 'GET', path: 'customers/{id}', permission: 'payments.read', handle: showCustomer },
];

type Customer = ResultOf<'create_customer'>;

async function listCustomers(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, query } = visit;
  const email = (query.get('email') ?? '').trim();
  const { data, queries } = await listPage<Customer>(visit, desk, 'list_customers', { email });
  const list = table<Customer>(
    sayFrame('customers', language),
    [
      {
        heading: sayShop('customer', language),
        cell: ({ id, name, email }) =>
          html`<a href="${roomLink(visit, `customers/${id}`)}"><bdi>${name ?? email ?? id}</bdi></a>`,
      },
      { heading: sayShop('email', language), cell: ({ email }) => email && html`<bdi>${email}</bdi>` },
      {
        heading: sayShop('phone', language),
        cell: ({ phone }) => phone && html`<bdi dir="ltr">${phone}</bdi>`,
      },
      { heading: sayShop('since', language), cell: ({ created }) => time(language, created * 1000) },
    ],
    data,
  );
  const empty =
    email === ''
      ? emptyState(sayShop('no_customers', language), html`<p>${sayShop('no_customers_text', language)}</p>`)
      : emptyState(sayShop('none_found', language));
  return page(visit, {
    active: 'customers',
    title: sayFrame('customers', language),
    body: [
      filters(visit, 'customers', [
        field({ name: 'email', label: sayShop('email', language), value: email, type: 'search', ltr: true }),
      ]),
      data.length === 0 ? empty : list,
      pager(visit, 'customers', queries),
    ],
  });
}

async function showCustomer(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, id, query } = visit;
  const found = await desk.api(visit, 'retrieve_customer', { id });
  if (!found.ok) return errorPage(visit, 'missing');
  const customer = found.body as Customer | { readonly id: string; readonly deleted: true };
  const search = { ...everyPayment, customers: [id], before: beforeIn(query) };
  const payments = paymentsTable(visit, await listPayments(visit, desk, search), {
    caption: sayShop('payments', language),
    limit: search.limit,
    path: `customers/${id}`,
    query: {},
    empty: sayShop('no_payments', language),
  });
  const isDeleted = 'deleted' in customer;
  return page(visit, {
    active: 'customers',
    title: isDeleted ? sayShop('deleted', language) : (customer.name ?? customer.email ?? id),
    body: [
      section(sayShop('details', language), isDeleted ? copyable(visit, id) : detailsOf(visit, customer)),
      section(sayShop('payments', language), payments),
    ],
  });
}

function detailsOf(visit: Visit, { id, name, email, phone, description, created, metadata }: Customer) {
  const { language } = visit;
  const entries = Object.entries(metadata);
  return definitions([
    [sayShop('customer', language), copyable(visit, id)],
    [sayShop('name', language), name],
    [sayShop('email', language), email && html`<bdi>${email}</bdi>`],
    [sayShop('phone', language), phone && html`<bdi dir="ltr">${phone}</bdi>`],
    [sayShop('description', language), description],
    [sayShop('since', language), time(language, created * 1000)],
    [
      sayShop('metadata', language),
      entries.length === 0
        ? null
        : html`${entries.map(([key, value]) => html`<div dir="auto"><code>${key}</code> = ${value}</div>`)}`,
    ],
  ]);
}
