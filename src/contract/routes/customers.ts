// The routes of customers.

import { Type } from 'typebox';
import * as p from './parameters.ts';
import * as r from './resources.ts';
import { command, list, params, query, type Route } from './route.ts';

const optional = Type.Optional;

const customerFields = {
  email: optional(p.email),
  name: optional(p.shortText),
  phone: optional(p.shortText),
  description: optional(p.longText),
};
const customerChanges = {
  email: optional(p.clearable(p.email)),
  name: optional(p.clearable(p.shortText)),
  phone: optional(p.clearable(p.shortText)),
  description: optional(p.clearable(p.longText)),
};

export const customerRoutes = [
  {
    ...command,
    operation: 'create_customer',
    path: '/v1/customers',
    idempotency: 'optional',
    params: params({ ...customerFields, metadata: optional(p.metadata) }),
    result: r.Customer,
    refusals: [],
    summary: 'Create a customer',
    description:
      "Creates a customer. Name it when you create payment intents or checkout sessions, to find one person's payments together. All of its fields are optional.",
  },
  {
    ...command,
    operation: 'update_customer',
    path: '/v1/customers/{id}',
    idempotency: 'optional',
    params: params({ ...customerChanges, metadata: optional(p.metadataChanges) }),
    result: r.Customer,
    refusals: ['resource_missing'],
    summary: 'Update a customer',
    description: 'Changes what is sent of a customer and leaves the rest. An empty text removes a field.',
  },
  {
    ...list,
    operation: 'list_customers',
    path: '/v1/customers',
    params: params({ ...p.page, email: optional(p.email) }),
    result: r.listOf(r.Customer),
    summary: 'List customers',
    description:
      'Answers a page of your customers, newest first, or the ones with exactly one e-mail address.',
  },
  {
    ...query,
    operation: 'retrieve_customer',
    path: '/v1/customers/{id}',
    result: Type.Union([r.Customer, r.deletedOf('customer')]),
    summary: 'Retrieve a customer',
    description: 'Answers the customer as it is now. Of a deleted customer only `id` and `deleted` are left.',
  },
  {
    ...command,
    method: 'DELETE',
    operation: 'delete_customer',
    path: '/v1/customers/{id}',
    idempotency: 'ignored',
    result: r.deletedOf('customer'),
    refusals: ['resource_missing'],
    summary: 'Delete a customer',
    description:
      'Deletes a customer with all that was stored about the person. Payments stay, and so does the identifier that they name.',
  },
] as const satisfies readonly Route[];
