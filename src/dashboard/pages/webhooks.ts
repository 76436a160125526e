// The pages for webhook endpoints: a merchant adds, changes, pauses and deletes them, and shows and
// rolls their signing secrets. Deliveries have a file of their own (deliveries.ts). Endpoints are
// changed by the API's own commands.

import type { WebhookEndpointRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { rollSecret, secretsOf } from '../../operator/use-cases/webhook-commands.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type ResultOf, type Row, type ViewRequest } from '../layout/row.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { mayDo } from '../people/roles.ts';
import { deliveriesOf, refusedPage } from './deliveries.ts';
import { endpointFields, endpointForm } from './endpoint-form.ts';
import {
  type EndpointStatus,
  endpointBadge,
  healthByEndpoint,
  hoursChart,
  isFailing,
  lastAnswerOf,
  lastFailed,
  medianOf,
  shareOf,
} from './endpoint-health.ts';
import { overlapField, overlapSecondsOf } from './overlap.ts';
import { ownRecord } from './own-record.ts';

const active = 'webhooks';
type Endpoint = ResultOf<'create_webhook_endpoint'>;

export const webhookRows: readonly Row[] = [
  get('webhooks', 'developers.read', list),
  get('webhooks/new', 'webhooks.write', (request) => creation(request, {})),
  post('webhooks/new', 'webhooks.write', create),
  get('webhooks/{id}', 'developers.read', inEndpoint(show)),
  get(
    'webhooks/{id}/edit',
    'webhooks.write',
    inEndpoint(async (request, endpoint) => editing(request, endpoint, {})),
  ),
  post('webhooks/{id}/edit', 'webhooks.write', inEndpoint(edit)),
  ...(['enable', 'disable'] as const).map(
    (change): Row =>
      post(
        `webhooks/{id}/${change}`,
        'webhooks.write',
        inEndpoint((request) => update(request, { disabled: change === 'disable' })),
      ),
  ),
  get(
    'webhooks/{id}/delete',
    'webhooks.write',
    inEndpoint(async (request, endpoint) => deletion(request, endpoint)),
  ),
  post('webhooks/{id}/delete', 'webhooks.write', inEndpoint(remove)),
  get('webhooks/{id}/secret', 'secrets.read', inEndpoint(showSecret), { stepUp: true }),
  post('webhooks/{id}/secret', 'secrets.read', inEndpoint(roll), { stepUp: true }),
];

type Handle = (request: ViewRequest, endpoint: WebhookEndpointRecord) => Promise<DashboardAnswer>;

/**
 * Handles a request about an endpoint of the request's organization and mode. Of one that was
 * deleted there is its page alone.
 */
function inEndpoint(handle: Handle): Row['handle'] {
  return async (request) => {
    const endpoint = await ownRecord<WebhookEndpointRecord>(request, request.id, 'webhook_endpoint');
    const isThere = endpoint !== null && (endpoint.status !== 'deleted' || handle === show);
    return isThere ? handle(request, endpoint) : errorPage(request, 'missing');
  };
}

const doneKeys = {
  created: 'done_created',
  changed: 'done_changed',
  deleted: 'done_deleted',
  sent: 'done_sent',
  resending: 'resending',
} as const;

async function list(request: ViewRequest): Promise<DashboardAnswer> {
  const say = sayWebhooks(request);
  const listed = await request.api('list_webhook_endpoints', { query: { limit: '100' } });
  if (!listed.ok) return errorPage(request, 'trouble');
  const endpoints = listed.body.data as Endpoint[];
  const [failed, health] = await Promise.all([failedOf(request, endpoints), healthByEndpoint(request)]);
  const columns: ui.Column<Endpoint>[] = [
    [
      say('url'),
      ({ id, url }) => html`<a href="${viewLink(request, `webhooks/${id}`)}" dir="ltr">${url}</a>`,
    ],
    [say('status'), ({ id, status }) => endpointBadge(request, status as EndpointStatus, health.get(id))],
    [say('last_answer'), ({ id }) => lastAnswerOf(request, health.get(id))],
    [say('failed_24h'), ({ id }) => shareOf(request, health.get(id))],
    [say('median'), ({ id }) => medianOf(health.get(id))],
    [
      say('events'),
      ({ enabled_events: types }) => (types.includes('*') ? say('all_events') : String(types.length)),
    ],
    [
      say('deliveries'),
      ({ id }) =>
        failed.has(id) || isFailing(health.get(id))
          ? html`<a href="${viewLink(request, `webhooks/${id}`, { failed: '1' })}">${say('some_failed')}</a>`
          : '–',
    ],
  ];
  const add = ui.button(say('create'), viewLink(request, 'webhooks/new'));
  return page(request, {
    actions: mayDo(request.role, 'webhooks.write') ? add : null,
    body: [
      ui.doneOf(request, doneKeys, say),
      html`<p>${say('intro')}</p>`,
      ui.table(say('endpoints'), columns, endpoints, ui.emptyState(say('none'))),
    ],
  });
}

/** The endpoints with deliveries that have failed for good. */
async function failedOf(request: ViewRequest, endpoints: readonly Endpoint[]): Promise<Set<string>> {
  const failed = await Promise.all(endpoints.map(({ id }) => lastFailed(request, id)));
  return new Set(endpoints.filter((_, i) => failed[i] !== undefined).map(({ id }) => id));
}

function creation(request: ViewRequest, problems: ui.Problems): DashboardAnswer {
  const say = sayWebhooks(request);
  return endpointForm(request, {
    title: say('create'),
    action: 'webhooks/new',
    values: endpointFields(request.form),
    problems,
  });
}

async function create(request: ViewRequest): Promise<DashboardAnswer> {
  const { url, events } = endpointFields(request.form);
  const made = await request.api('create_webhook_endpoint', {
    params: { url, enabled_events: events },
  });
  if (!made.ok) return creation(request, { [made.error.param ?? '']: made.error.message });
  return redirect(viewLink(request, `webhooks/${made.body.id}`, { done: 'created' }));
}

function editing(
  request: ViewRequest,
  endpoint: WebhookEndpointRecord,
  problems: ui.Problems,
): DashboardAnswer {
  const say = sayWebhooks(request);
  const typed = endpointFields(request.form);
  const values = request.form.has('url') ? typed : { url: endpoint.url, events: endpoint.enabled_events };
  return endpointForm(request, {
    title: say('edit_title'),
    action: `webhooks/${endpoint.id}/edit`,
    values,
    problems,
  });
}

async function edit(request: ViewRequest, endpoint: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const { url, events } = endpointFields(request.form);
  const params = { url, enabled_events: events };
  const changed = await request.api('update_webhook_endpoint', { id: endpoint.id, params });
  if (!changed.ok) return editing(request, endpoint, { [changed.error.param ?? '']: changed.error.message });
  return redirect(viewLink(request, `webhooks/${endpoint.id}`, { done: 'changed' }));
}

async function update(
  request: ViewRequest,
  params: { readonly disabled: boolean },
): Promise<DashboardAnswer> {
  const { id } = request;
  const changed = await request.api('update_webhook_endpoint', { id, params });
  if (changed.ok) return redirect(viewLink(request, `webhooks/${id}`, { done: 'changed' }));
  return refusedPage(request, changed.status, changed.error.message);
}

function deletion(request: ViewRequest, { id, url }: WebhookEndpointRecord): DashboardAnswer {
  const say = sayWebhooks(request);
  const action = viewLink(request, `webhooks/${id}/delete`);
  return page(request, {
    title: say('delete_title'),
    body: [
      html`<p>${say('delete_intro', { url })}</p>`,
      ui.form(request, action, ui.submit(say('delete'), 'danger')),
    ],
  });
}

async function remove(request: ViewRequest, { id }: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const removed = await request.api('delete_webhook_endpoint', { id });
  if (removed.ok) return redirect(viewLink(request, active, { done: 'deleted' }));
  return refusedPage(request, removed.status, removed.error.message);
}

async function show(request: ViewRequest, endpoint: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const { language, role } = request;
  const say = sayWebhooks(request);
  const { id, url, status, enabled_events: types, api_version, created } = endpoint;
  const at = (change: string) => viewLink(request, `webhooks/${id}/${change}`);
  const other = status === 'enabled' ? 'disable' : 'enable';
  const isThere = status !== 'deleted';
  const changes = isThere &&
    mayDo(role, 'webhooks.write') && [
      ui.button(say('edit'), at('edit'), 'quiet'),
      ui.form(request, at(other), ui.submit(say(other), 'quiet'), { className: 'inline' }),
      ui.button(say('delete'), at('delete'), 'quiet'),
    ];
  const secret =
    isThere && mayDo(role, 'secrets.read') && ui.button(say('show_secret'), at('secret'), 'quiet');
  const now = (await healthByEndpoint(request)).get(id);
  const chart = hoursChart(request, now, request.services.now());
  const names = types.includes('*')
    ? say('all_events')
    : html`${types.map((type) => html`<code dir="ltr">${type}</code> `)}`;
  return page(request, {
    title: say('endpoint'),
    body: [
      ui.doneOf(request, doneKeys, say),
      ui.definitions([
        [say('url'), html`<span dir="ltr">${url}</span>`],
        [say('status'), endpointBadge(request, status, now)],
        [say('last_answer'), isThere ? lastAnswerOf(request, now) : null],
        [say('failed_24h'), isThere ? shareOf(request, now) : null],
        [say('median'), isThere ? medianOf(now) : null],
        [say('events'), isThere ? names : null],
        [say('version'), api_version],
        [say('id'), ui.copyable(request, id)],
        [say('created'), ui.time(language, created * 1000)],
      ]),
      html`<div class="actions">${changes}${secret}</div>`,
      chart &&
        ui.section(say('attempts_by_hour'), html`${chart}<p class="hint">${say('attempts_counted')}</p>`),
      ...(await deliveriesOf(request, endpoint)),
    ],
  });
}

async function showSecret(
  request: ViewRequest,
  { id }: Pick<WebhookEndpointRecord, 'id'>,
): Promise<DashboardAnswer> {
  const { language } = request;
  const say = sayWebhooks(request);
  const { secrets } = await request.act('webhooks.show-secret', { endpoint: id }, () =>
    secretsOf(request.services, id),
  );
  const rolling = [overlapField(language, say('old_secret')), ui.submit(say('roll_secret'))];
  const items = secrets.map(({ secret, expires }): [string | Html, Html] => [
    expires === null
      ? say('active_secret')
      : html`${say('secret_until')} ${ui.time(language, Date.parse(expires))}`,
    ui.copyable(request, secret),
  ]);
  return page(request, {
    title: say('secret'),
    body: [
      ui.doneOf(request, doneKeys, say),
      html`<p>${say('secret_intro')}</p>`,
      html`<dl>${items.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`,
      html`<section class="sheet stack"><h2>${say('roll_secret')}</h2>
<p>${say('roll_intro')}</p>${ui.form(request, viewLink(request, `webhooks/${id}/secret`), rolling)}</section>`,
      html`<p>${ui.button(say('back'), viewLink(request, `webhooks/${id}`), 'quiet')}</p>`,
    ],
  });
}

async function roll(
  request: ViewRequest,
  { id }: Pick<WebhookEndpointRecord, 'id'>,
): Promise<DashboardAnswer> {
  const overlapSeconds = overlapSecondsOf(request.form);
  if (overlapSeconds === null) return showSecret(request, { id });
  const params = { endpoint: id, overlapSeconds };
  await request.once(() =>
    request.act('webhooks.roll-secret', params, () => rollSecret(request.services, id, overlapSeconds)),
  );
  return redirect(viewLink(request, `webhooks/${id}/secret`, { done: 'changed' }));
}
