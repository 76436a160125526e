// The room for webhook endpoints: a merchant adds, changes, pauses and deletes them, and shows and rolls their signing secrets.
// Deliveries have a file of their own (deliveries.ts). Endpoints are changed by the API's own commands.

import { fieldIndex, scopeOf } from '../../domain/indexes.ts';
import type { WebhookEndpointRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { records } from '../../operator/use-cases/shard-records.ts';
import { rollSecret, secretsOf } from '../../operator/use-cases/webhook-commands.ts';
import {
  badge,
  button,
  copyable,
  definitions,
  doneOf,
  emptyState,
  form,
  type Problems,
  submit,
  table,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import { recentForms } from '../layout/recent-forms.ts';
import type { Desk, ResultOf, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { mayDo } from '../people/roles.ts';
import { deliveriesOf, refusedPage } from './deliveries.ts';
import { endpointFields, endpointForm } from './endpoint-form.ts';
import { overlapField, overlapSecondsOf } from './overlap.ts';
import { ownRecord } from './own-record.ts';

const active = 'webhooks';
type Endpoint = ResultOf<'create_webhook_endpoint'>;

export const webhookRows: readonly Row[] = [
  { method: 'GET', path: 'webhooks', permission: 'developers.read', handle: list },
  {
    method: 'GET',
    path: 'webhooks/new',
    permission: 'webhooks.write',
    handle: async (visit) => creation(visit, {}),
  },
  { method: 'POST', path: 'webhooks/new', permission: 'webhooks.write', handle: create },
  { method: 'GET', path: 'webhooks/{id}', permission: 'developers.read', handle: inEndpoint(show) },
  {
    method: 'GET',
    path: 'webhooks/{id}/edit',
    permission: 'webhooks.write',
    handle: inEndpoint(async (visit, _, endpoint) => editing(visit, endpoint, {})),
  },
  { method: 'POST', path: 'webhooks/{id}/edit', permission: 'webhooks.write', handle: inEndpoint(edit) },
  ...(['enable', 'disable'] as const).map(
    (change): Row => ({
      method: 'POST',
      path: `webhooks/{id}/${change}`,
      permission: 'webhooks.write',
      handle: inEndpoint((visit, desk) => update(visit, desk, { disabled: change === 'disable' })),
    }),
  ),
  {
    method: 'GET',
    path: 'webhooks/{id}/delete',
    permission: 'webhooks.write',
    handle: inEndpoint(async (visit, _, endpoint) => deletion(visit, endpoint)),
  },
  { method: 'POST', path: 'webhooks/{id}/delete', permission: 'webhooks.write', handle: inEndpoint(remove) },
  {
    method: 'GET',
    path: 'webhooks/{id}/secret',
    permission: 'secrets.read',
    stepUp: true,
    handle: inEndpoint(showSecret),
  },
  {
    method: 'POST',
    path: 'webhooks/{id}/secret',
    permission: 'secrets.read',
    stepUp: true,
    handle: inEndpoint(roll),
  },
];

type Handle = (visit: Visit, desk: Desk, endpoint: WebhookEndpointRecord) => Promise<DashboardAnswer>;

/** Handles a visit to an endpoint of the visit's organization and mode. Of one that was deleted there is its page alone. */
function inEndpoint(handle: Handle): Row['handle'] {
  return async (visit, desk) => {
    const endpoint = await ownRecord<WebhookEndpointRecord>(visit, desk, visit.id, 'webhook_endpoint');
    const isThere = endpoint !== null && (endpoint.status !== 'deleted' || handle === show);
    return isThere ? handle(visit, desk, endpoint) : errorPage(visit, 'missing');
  };
}

const doneKeys = {
  created: 'done_created',
  changed: 'done_changed',
  deleted: 'done_deleted',
  sent: 'done_sent',
  resending: 'resending',
} as const;

export function endpointBadge({ language }: Visit, status: WebhookEndpointRecord['status']) {
  return badge(sayWebhooks(status, language), status === 'enabled' ? 'good' : 'plain');
}

async function list(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, role } = visit;
  const listed = await desk.api(visit, 'list_webhook_endpoints', { query: { limit: '100' } });
  if (!listed.ok) return errorPage(visit, 'trouble');
  const endpoints = listed.body.data as Endpoint[];
  const failing = await failingOf(visit, desk, endpoints);
  const columns = [
    {
      heading: sayWebhooks('url', language),
      cell: ({ id, url }: Endpoint) =>
        html`<a href="${roomLink(visit, `webhooks/${id}`)}" dir="ltr">${url}</a>`,
    },
    {
      heading: sayWebhooks('status', language),
      cell: ({ status }: Endpoint) => endpointBadge(visit, status as WebhookEndpointRecord['status']),
    },
    {
      heading: sayWebhooks('events', language),
      cell: ({ enabled_events: types }: Endpoint) =>
        types.includes('*') ? sayWebhooks('all_events', language) : String(types.length),
    },
    {
      heading: sayWebhooks('deliveries', language),
      cell: ({ id }: Endpoint) =>
        failing.has(id)
          ? html`<a href="${roomLink(visit, `webhooks/${id}`, { failed: '1' })}">${sayWebhooks('some_failed', language)}</a>`
          : '–',
    },
  ];
  const add = button(sayWebhooks('create', language), roomLink(visit, 'webhooks/new'));
  return page(visit, {
    active,
    title: sayFrame(active, language),
    actions: mayDo(role, 'webhooks.write') ? add : null,
    body: [
      doneOf(visit, doneKeys, sayWebhooks),
      html`<p>${sayWebhooks('intro', language)}</p>`,
      endpoints.length === 0
        ? emptyState(sayWebhooks('none', language))
        : table(sayWebhooks('endpoints', language), columns, endpoints),
    ],
  });
}

/** The endpoints with deliveries that have failed for good. */
async function failingOf(
  { organization, mode }: Visit,
  { services }: Desk,
  endpoints: readonly Endpoint[],
): Promise<Set<string>> {
  const scope = scopeOf(organization.id, mode === 'live');
  const failed = await Promise.all(
    endpoints.map(async ({ id }) => {
      const index = fieldIndex('delivery', scope, 'failed', id);
      return (await records(services, id, index, { limit: 1 })).length > 0;
    }),
  );
  return new Set(endpoints.filter((_, i) => failed[i]).map(({ id }) => id));
}

function creation(visit: Visit, problems: Problems): DashboardAnswer {
  return endpointForm(visit, {
    active,
    title: sayWebhooks('create', visit.language),
    action: 'webhooks/new',
    values: endpointFields(visit.form),
    problems,
  });
}

async function create(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { url, events } = endpointFields(visit.form);
  const made = await desk.api(visit, 'create_webhook_endpoint', { params: { url, enabled_events: events } });
  if (!made.ok) return creation(visit, { [made.error.param ?? '']: made.error.message });
  return redirect(roomLink(visit, `webhooks/${made.body.id}`, { done: 'created' }));
}

function editing(visit: Visit, endpoint: WebhookEndpointRecord, problems: Problems): DashboardAnswer {
  const typed = endpointFields(visit.form);
  const values = visit.form.has('url') ? typed : { url: endpoint.url, events: endpoint.enabled_events };
  return endpointForm(visit, {
    active,
    title: sayWebhooks('edit_title', visit.language),
    action: `webhooks/${endpoint.id}/edit`,
    values,
    problems,
  });
}

async function edit(visit: Visit, desk: Desk, endpoint: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const { url, events } = endpointFields(visit.form);
  const params = { url, enabled_events: events };
  const changed = await desk.api(visit, 'update_webhook_endpoint', { id: endpoint.id, params });
  if (!changed.ok) return editing(visit, endpoint, { [changed.error.param ?? '']: changed.error.message });
  return redirect(roomLink(visit, `webhooks/${endpoint.id}`, { done: 'changed' }));
}

async function update(
  visit: Visit,
  desk: Desk,
  params: { readonly disabled: boolean },
): Promise<DashboardAnswer> {
  const { id } = visit;
  const changed = await desk.api(visit, 'update_webhook_endpoint', { id, params });
  if (changed.ok) return redirect(roomLink(visit, `webhooks/${id}`, { done: 'changed' }));
  return refusedPage(visit, changed.status, changed.error.message);
}

function deletion(visit: Visit, { id, url }: WebhookEndpointRecord): DashboardAnswer {
  const { language } = visit;
  const action = roomLink(visit, `webhooks/${id}/delete`);
  return page(visit, {
    active,
    title: sayWebhooks('delete_title', language),
    body: [
      html`<p>${sayWebhooks('delete_intro', language, { url })}</p>`,
      form(visit, action, submit(sayWebhooks('delete', language), 'danger')),
    ],
  });
}

async function remove(visit: Visit, desk: Desk, { id }: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const removed = await desk.api(visit, 'delete_webhook_endpoint', { id });
  if (removed.ok) return redirect(roomLink(visit, active, { done: 'deleted' }));
  return refusedPage(visit, removed.status, removed.error.message);
}

async function show(visit: Visit, desk: Desk, endpoint: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const { language, role } = visit;
  const { id, url, status, enabled_events: types, api_version, created } = endpoint;
  const say = (key: Parameters<typeof sayWebhooks>[0]) => sayWebhooks(key, language);
  const at = (change: string) => roomLink(visit, `webhooks/${id}/${change}`);
  const other = status === 'enabled' ? 'disable' : 'enable';
  const isThere = status !== 'deleted';
  const changes = isThere &&
    mayDo(role, 'webhooks.write') && [
      button(say('edit'), at('edit'), 'quiet'),
      form(visit, at(other), submit(say(other), 'quiet'), { className: 'inline' }),
      button(say('delete'), at('delete'), 'quiet'),
    ];
  const secret = isThere && mayDo(role, 'secrets.read') && button(say('show_secret'), at('secret'), 'quiet');
  const names = types.includes('*')
    ? say('all_events')
    : html`${types.map((type) => html`<code dir="ltr">${type}</code> `)}`;
  return page(visit, {
    active,
    title: say('endpoint'),
    body: [
      doneOf(visit, doneKeys, sayWebhooks),
      definitions([
        [say('url'), html`<span dir="ltr">${url}</span>`],
        [say('status'), endpointBadge(visit, status)],
        [say('events'), isThere ? names : null],
        [say('version'), api_version],
        [say('id'), copyable(visit, id)],
        [say('created'), time(language, created * 1000)],
      ]),
      html`<div class="actions">${changes}${secret}</div>`,
      ...(await deliveriesOf(visit, desk, endpoint)),
    ],
  });
}

async function showSecret(
  visit: Visit,
  desk: Desk,
  { id }: Pick<WebhookEndpointRecord, 'id'>,
): Promise<DashboardAnswer> {
  const { language } = visit;
  const { secrets } = await desk.act(visit, 'webhooks.show-secret', { endpoint: id }, () =>
    secretsOf(desk.services, id),
  );
  const rolling = [
    overlapField(language, sayWebhooks('old_secret', language)),
    submit(sayWebhooks('roll_secret', language)),
  ];
  const items = secrets.map(({ secret, expires }): [string | Html, Html] => [
    expires === null
      ? sayWebhooks('in_force', language)
      : html`${sayWebhooks('secret_until', language)} ${time(language, Date.parse(expires))}`,
    copyable(visit, secret),
  ]);
  return page(visit, {
    active,
    title: sayWebhooks('secret', language),
    body: [
      doneOf(visit, doneKeys, sayWebhooks),
      html`<p>${sayWebhooks('secret_intro', language)}</p>`,
      html`<dl>${items.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`,
      html`<section class="sheet stack"><h2>${sayWebhooks('roll_secret', language)}</h2>
<p>${sayWebhooks('roll_intro', language)}</p>${form(visit, roomLink(visit, `webhooks/${id}/secret`), rolling)}</section>`,
      html`<p>${button(sayWebhooks('back', language), roomLink(visit, `webhooks/${id}`), 'quiet')}</p>`,
    ],
  });
}

async function roll(
  visit: Visit,
  desk: Desk,
  { id }: Pick<WebhookEndpointRecord, 'id'>,
): Promise<DashboardAnswer> {
  const overlapSeconds = overlapSecondsOf(visit.form);
  if (overlapSeconds === null) return showSecret(visit, desk, { id });
  const params = { endpoint: id, overlapSeconds };
  await recentForms.once(visit.member.id, visit.form, () =>
    desk.act(visit, 'webhooks.roll-secret', params, () => rollSecret(desk.services, id, overlapSeconds)),
  );
  return redirect(roomLink(visit, `webhooks/${id}/secret`, { done: 'changed' }));
}
