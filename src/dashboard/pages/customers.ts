// The pages of the customers, each with their payments.

import { firstSeen } from '../../core/shown-text.ts';
import { everyPayment } from '../../domain/payment-search.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { errorPage, unansweredPage } from '../layout/errors.ts';
import { listPage } from '../layout/live-list.ts';
import { get, type ResultOf, type Row, type Saying, saying } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayShop } from '../messages/shop.ts';
import { listPart } from './list-part.ts';
import { paymentsTable } from './payment-parts.ts';
import { beforeIn, listPayments } from './payment-questions.ts';

export const customerRows: readonly Row[] = saying(sayShop, [
  get('customers', 'payments.read', listCustomers),
  get('customers/{id}', 'payments.read', showCustomer),
]);

type Request = Saying<typeof sayShop>;

type Customer = ResultOf<'create_customer'>;

async function listCustomers(request: Request): Promise<DashboardAnswer> {
  const { language, query, say } = request;
  const email = (query.get('email') ?? '').trim();
  const { isThere, data, queries } = await listPart<Customer>(request, 'list_customers', { email });
  if (!isThere) return errorPage(request, 'trouble');
  const empty =
    email === ''
      ? ui.emptyState(say('no_customers'), html`<p>${say('no_customers_text')}</p>`)
      : ui.emptyState(say('none_found'));
  const list = ui.list<Customer>(
    sayLayout(request)('customers'),
    [
      [
        say('customer'),
        ({ id, name, email }) => ui.linked(request, `customers/${id}`, firstSeen(name, email, id)),
      ],
      [say('email'), ({ email }) => email],
      [say('phone'), ({ phone }) => phone && html`<bdi dir="ltr">${phone}</bdi>`],
      [say('since'), ({ created }) => ui.time(language, created * 1000)],
    ],
    data,
    empty,
  );
  const filters = ui.filters(request, 'customers', (filter) => [
    ui.field(filter, 'email', { type: 'search', ltr: true }),
  ]);
  return listPage(request, filters, list, queries, null);
}

async function showCustomer(request: Request): Promise<DashboardAnswer> {
  const { id, query, say } = request;
  const found = await request.api('retrieve_customer', { id });
  if (!found.ok) return unansweredPage(request, found);
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
    title: isDeleted ? say('deleted') : firstSeen(customer.name, customer.email, id),
    body: [
      ui.section(say('details'), isDeleted ? ui.copyable(request, id) : detailsOf(request, customer)),
      ui.section(say('payments'), payments),
    ],
  });
}

function detailsOf(request: Request, { id, name, email, phone, description, created, metadata }: Customer) {
  const { say } = request;
  return ui.definitions([
    [say('customer'), ui.copyable(request, id)],
    [say('name'), name],
    [say('email'), email],
    [say('phone'), phone && html`<bdi dir="ltr">${phone}</bdi>`],
    [say('description'), description],
    [say('since'), ui.time(request.language, created * 1000)],
    [say('metadata'), ui.metadata(metadata)],
  ]);
}
