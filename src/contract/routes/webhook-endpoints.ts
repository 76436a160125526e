// The routes of webhook endpoints.

import { Type } from 'typebox';
import * as p from './parameters.ts';
import * as r from './resources.ts';
import { command, list, params, query, type Route } from './route.ts';

const optional = Type.Optional;

export const webhookEndpointRoutes = [
  {
    ...command,
    operation: 'create_webhook_endpoint',
    path: '/v1/webhook_endpoints',
    idempotency: 'optional',
    params: params({
      url: p.webhookAddress,
      enabled_events: p.enabledEvents,
      metadata: optional(p.metadata),
      api_version: optional(p.shortText),
    }),
    result: r.WebhookEndpoint,
    refusals: [
      'url_not_allowed',
      'webhook_endpoint_limit_reached',
      'webhook_endpoints_busy',
      'api_version_invalid',
    ],
    summary: 'Create a webhook endpoint',
    description:
      'Registers an address on your server that receives events from now on. Keep the `secret` of the answer, which is shown only here: with it you verify that deliveries come from this service. At most 16 endpoints in each mode.',
  },
  {
    ...command,
    operation: 'update_webhook_endpoint',
    path: '/v1/webhook_endpoints/{id}',
    idempotency: 'optional',
    params: params({
      url: optional(p.webhookAddress),
      enabled_events: optional(p.enabledEvents),
      metadata: optional(p.metadataChanges),
      disabled: optional(Type.Boolean()),
    }),
    result: r.WebhookEndpoint,
    refusals: ['resource_missing', 'url_not_allowed', 'webhook_endpoints_busy'],
    summary: 'Update a webhook endpoint',
    description:
      'Changes what is sent of an endpoint and leaves the rest. `disabled` pauses its deliveries, which wait until it is enabled again; events that happen meanwhile are not delivered to it.',
  },
  {
    ...list,
    operation: 'list_webhook_endpoints',
    path: '/v1/webhook_endpoints',
    result: r.listOf(r.WebhookEndpoint),
    summary: 'List webhook endpoints',
    description: 'Answers a page of your webhook endpoints, newest first.',
  },
  {
    ...query,
    operation: 'retrieve_webhook_endpoint',
    path: '/v1/webhook_endpoints/{id}',
    result: r.WebhookEndpoint,
    summary: 'Retrieve a webhook endpoint',
    description: 'Answers the endpoint as it is now. Its `secret` is `null` here.',
  },
  {
    ...command,
    method: 'DELETE',
    operation: 'delete_webhook_endpoint',
    path: '/v1/webhook_endpoints/{id}',
    idempotency: 'ignored',
    result: r.deletedOf('webhook_endpoint'),
    refusals: ['resource_missing', 'webhook_endpoints_busy'],
    summary: 'Delete a webhook endpoint',
    description:
      'Removes the endpoint for good. Deliveries to it that wait are ended; all of them stay listed.',
  },
] as const satisfies readonly Route[];
