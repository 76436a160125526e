// The pages of the customers, each with their payments.

import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, type ResultOf, type Row, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayShop } from '../messages/shop.ts';
import { listPage } from './list-page.ts';
import { paymentsTable } from './payment-parts.ts';
import { beforeIn, everyPayment, listPayments } from './payment-questions.ts';

export const customerRows: readonly Row[] = [
  get('customers', 'payments.read', listCustomers),
  get('customers/{id}', 'payments.read', showCustomer),
];

type Customer = ResultOf<'create_customer'>;

async function listCustomers(request: ViewRequest): Promise<DashboardAnswer> {
  const { language, query } = request;
  const say = sayShop(request);
  const email = (query.get('email') ?? '').trim();
  const { data, queries } = await listPage<Customer>(request, 'list_customers', { email });
  const empty =
    email === ''
      ? ui.emptyState(say('no_customers'), html`<p>${say('no_customers_text')}</p>`)
      : ui.emptyState(say('none_found'));
  const list = ui.list<Customer>(
    sayLayout(request)('customers'),
    [
      [
        say('customer'),
        ({ id, name, email }) =>
          html`<a href="${viewLink(request, `customers/${id}`)}"><bdi>${name ?? email ?? id}</bdi></a>`,
      ],
      [say('email'), ({ email }) => email && html`<bdi>${email}</bdi>`],
      [say('phone'), ({ phone }) => phone && html`<bdi dir="ltr">${phone}</bdi>`],
      [say('since'), ({ created }) => ui.time(language, created * 1000)],
    ],
    data,
    empty,
  );
  return page(request, {
    body: [
      ui.filters(request, 'customers', [
        ui.field({ name: 'email', label: say('email'), value: email, type: 'search', ltr: true }),
      ]),
      list,
      ui.pager(request, 'customers', queries),
    ],
  });
}

async function showCustomer(request: ViewRequest): Promise<DashboardAnswer> {
  const { id, query } = request;
  const say = sayShop(request);
  const found = await request.api('retrieve_customer', { id });
  if (!found.ok) return errorPage(request, 'missing');
  const customer = found.body as Customer | { readonly id: string; readonly deleted: true };
  const search = { ...everyPayment, customers: [id], before: beforeIn(query) };
  const payments = paymentsTable(request, await listPayments(request, search), {
    caption: say('payments'),
    limit: search.limit,
    path: `customers/${id}`,
    query: {},
    empty: say('no_payments'),
  });
  const isDeleted = 'deleted' in customer;
  return page(request, {
    title: isDeleted ? say('deleted') : (customer.name ?? customer.email ?? id),
    body: [
      ui.section(say('details'), isDeleted ? ui.copyable(request, id) : detailsOf(request, customer)),
      ui.section(say('payments'), payments),
    ],
  });
}

function detailsOf(
  request: ViewRequest,
  { id, name, email, phone, description, created, metadata }: Customer,
) {
  const say = sayShop(request);
  return ui.definitions([
    [say('customer'), ui.copyable(request, id)],
    [say('name'), name],
    [say('email'), email && html`<bdi>${email}</bdi>`],
    [say('phone'), phone && html`<bdi dir="ltr">${phone}</bdi>`],
    [say('description'), description],
    [say('since'), ui.time(request.language, created * 1000)],
    [say('metadata'), ui.metadata(metadata)],
  ]);
}
