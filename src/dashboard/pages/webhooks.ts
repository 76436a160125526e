// The pages for webhook endpoints: a merchant adds, changes, pauses and deletes them, and shows and
// rolls their signing secrets. Deliveries have a file of their own (deliveries.ts). Endpoints are
// changed by the API's own commands.

import { eventTypes } from '../../contract/vocabulary.ts';
import type { WebhookEndpointRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import { rollSecret, secretsOf } from '../../operator/use-cases/webhook-commands.ts';
import * as ui from '../layout/components.ts';
import { formPage, page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import {
  get,
  type Problems,
  post,
  type ResultOf,
  type Row,
  refused,
  type Saying,
  saying,
} from '../layout/row.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { mayDo } from '../people/roles.ts';
import { deliveriesOf, endpointIn, refusedPage } from './deliveries.ts';
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
import { about } from './own-record.ts';

const active = 'webhooks';
type Endpoint = ResultOf<'create_webhook_endpoint'>;

type Request = Saying<typeof sayWebhooks>;

export const webhookRows: readonly Row[] = saying(sayWebhooks, [
  get('webhooks', 'developers.read', list),
  get('webhooks/new', 'webhooks.write', creation),
  post('webhooks/new', 'webhooks.write', create),
  get('webhooks/{id}', 'developers.read', about(endpointIn, show)),
  get('webhooks/{id}/edit', 'webhooks.write', about(liveEndpointIn, editing)),
  post('webhooks/{id}/edit', 'webhooks.write', about(liveEndpointIn, edit)),
  post('webhooks/{id}/enable', 'webhooks.write', about(liveEndpointIn, updater(false))),
  post('webhooks/{id}/disable', 'webhooks.write', about(liveEndpointIn, updater(true))),
  get('webhooks/{id}/delete', 'webhooks.write', about(liveEndpointIn, deletion)),
  post('webhooks/{id}/delete', 'webhooks.write', about(endpointIn, remove)),
  get('webhooks/{id}/secret', 'secrets.read', about(liveEndpointIn, showSecret), { stepUp: true }),
  post('webhooks/{id}/secret', 'secrets.read', about(liveEndpointIn, roll), { stepUp: true }),
]);

/** The endpoint that the address names. Of a deleted one there is its page alone. */
async function liveEndpointIn(request: Request): Promise<WebhookEndpointRecord | null> {
  const endpoint = await endpointIn(request);
  return endpoint?.status === 'deleted' ? null : endpoint;
}

const doneKeys = {
  created: 'done_created',
  changed: 'done_changed',
  deleted: 'done_deleted',
  sent: 'done_sent',
  resending: 'resending',
} as const;

async function list(request: Request): Promise<DashboardAnswer> {
  const { say } = request;
  const listed = await request.api('list_webhook_endpoints', { query: { limit: '100' } });
  if (!listed.ok) return errorPage(request, 'trouble');
  const endpoints = listed.body.data as Endpoint[];
  const [failed, health] = await Promise.all([failedOf(request, endpoints), healthByEndpoint(request)]);
  const columns: ui.Column<Endpoint>[] = [
    [say('url'), ({ id, url }) => ui.linkedCode(request, `webhooks/${id}`, url)],
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
      ui.doneOf(request, doneKeys),
      html`<p>${say('intro')}</p>`,
      ui.table(say('endpoints'), columns, endpoints, ui.emptyState(say('none'))),
    ],
  });
}

/** The endpoints with deliveries that have failed for good. */
async function failedOf(request: Request, endpoints: readonly Endpoint[]): Promise<Set<string>> {
  const failed = await Promise.all(endpoints.map(({ id }) => lastFailed(request, id)));
  return new Set(endpoints.filter((_, i) => failed[i] !== undefined).map(({ id }) => id));
}

function creation(request: Request): DashboardAnswer {
  return endpointForm(request, request.say('create'), 'webhooks/new', null);
}

async function create(request: Request): Promise<DashboardAnswer> {
  const params = endpointParams(request.form);
  const problems = problemsOf(request, params);
  if (Object.keys(problems).length > 0) return creation(refused(request, problems));
  const made = await request.api('create_webhook_endpoint', { params });
  if (made.ok) return redirect(viewLink(request, `webhooks/${made.body.id}`, { done: 'created' }));
  return creation(refused(request, { [made.error.param ?? '']: made.error.message }));
}

function editing(request: Request, endpoint: WebhookEndpointRecord): DashboardAnswer {
  return endpointForm(request, request.say('edit_title'), `webhooks/${endpoint.id}/edit`, endpoint);
}

async function edit(request: Request, endpoint: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const params = endpointParams(request.form);
  const problems = problemsOf(request, params);
  if (Object.keys(problems).length > 0) return editing(refused(request, problems), endpoint);
  const changed = await request.api('update_webhook_endpoint', { id: endpoint.id, params });
  if (changed.ok) return redirect(viewLink(request, `webhooks/${endpoint.id}`, { done: 'changed' }));
  return editing(refused(request, { [changed.error.param ?? '']: changed.error.message }), endpoint);
}

function updater(disabled: boolean): (request: Request) => Promise<DashboardAnswer> {
  return async (request) => {
    const { id } = request;
    const changed = await request.api('update_webhook_endpoint', { id, params: { disabled } });
    if (changed.ok) return redirect(viewLink(request, `webhooks/${id}`, { done: 'changed' }));
    return refusedPage(request, changed.error.message, changed.status);
  };
}

function deletion(request: Request, { id, url }: WebhookEndpointRecord): DashboardAnswer {
  const { say } = request;
  return page(request, {
    title: say('delete_title'),
    body: [
      html`<p>${say('delete_intro', { url })}</p>`,
      ui.form(request, `webhooks/${id}/delete`, ui.submit(say('delete'), 'danger')),
    ],
  });
}

async function remove(request: Request, { id, status }: WebhookEndpointRecord): Promise<DashboardAnswer> {
  // The second click of a double click finds nothing left to delete.
  const removed = status === 'deleted' ? null : await request.api('delete_webhook_endpoint', { id });
  const isGone = removed === null || removed.ok || removed.error.code === 'resource_missing';
  if (isGone) return redirect(viewLink(request, active, { done: 'deleted' }));
  return refusedPage(request, removed.error.message, removed.status);
}

async function show(request: Request, endpoint: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const { language, role, say } = request;
  const { id, url, status, enabled_events: types, api_version, created } = endpoint;
  const at = (change: string) => viewLink(request, `webhooks/${id}/${change}`);
  const other = status === 'enabled' ? 'disable' : 'enable';
  const isThere = status !== 'deleted';
  const changes = isThere &&
    mayDo(role, 'webhooks.write') && [
      ui.button(say('edit'), at('edit'), 'quiet'),
      ui.form(request, `webhooks/${id}/${other}`, ui.submit(say(other), 'quiet'), { className: 'inline' }),
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
      ui.doneOf(request, doneKeys),
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

async function showSecret(request: Request): Promise<DashboardAnswer> {
  const { id, language, say } = request;
  const { secrets } = await request.act('webhooks.show-secret', { endpoint: id }, () =>
    secretsOf(request.services, id),
  );
  const rolling = [overlapField(request, 'old_secret'), ui.submit(say('roll_secret'))];
  const untilOf = (expires: string | null) =>
    expires === null
      ? say('active_secret')
      : html`${say('secret_until')} ${ui.time(language, Date.parse(expires))}`;
  const shown = secrets.map(
    ({ secret, expires }) => [untilOf(expires), ui.copyable(request, secret)] as const,
  );
  return page(request, {
    title: say('secret'),
    body: [
      ui.doneOf(request, doneKeys),
      html`<p>${say('secret_intro')}</p>`,
      ui.definitions(shown),
      ui.section(say('roll_secret'), [
        html`<p>${say('roll_intro')}</p>`,
        ui.form(request, `webhooks/${id}/secret`, rolling),
      ]),
      html`<p>${ui.button(say('back'), viewLink(request, `webhooks/${id}`), 'quiet')}</p>`,
    ],
  });
}

async function roll(request: Request): Promise<DashboardAnswer> {
  const { id } = request;
  const overlapSeconds = overlapSecondsOf(request.form);
  if (overlapSeconds === null) return showSecret(request);
  const params = { endpoint: id, overlapSeconds };
  await request.once(() =>
    request.act('webhooks.roll-secret', params, () => rollSecret(request.services, id, overlapSeconds)),
  );
  return redirect(viewLink(request, `webhooks/${id}/secret`, { done: 'changed' }));
}

type EndpointParams = Pick<WebhookEndpointRecord, 'url'> & { readonly enabled_events: readonly string[] };

/** What was typed. All events make the others superfluous. */
function endpointParams(form: URLSearchParams): EndpointParams {
  const events = form.getAll('enabled_events');
  return { url: (form.get('url') ?? '').trim(), enabled_events: events.includes('*') ? ['*'] : events };
}

/** What is missing. All else is left to the API. */
function problemsOf({ say }: Request, { url, enabled_events: events }: EndpointParams): Problems {
  return {
    ...(url === '' && { url: say('url_missing') }),
    ...(events.length === 0 && { enabled_events: say('events_missing') }),
  };
}

/** `path`: where the form is sent. `endpoint`: as it is now; null for a new one. */
function endpointForm(
  request: Request,
  title: string,
  path: string,
  endpoint: Pick<WebhookEndpointRecord, 'url' | 'enabled_events'> | null,
): DashboardAnswer {
  const { form: sent, say } = request;
  const chosen = sent.has('url') ? endpointParams(sent).enabled_events : (endpoint?.enabled_events ?? []);
  const types = [['*', say('all_events')] as const, ...eventTypes.map((type) => [type, type] as const)];
  const boxes = types.map(([value, label]) =>
    ui.checkbox(
      'enabled_events',
      label,
      chosen.some((each) => each === value),
      value,
    ),
  );
  const body = [
    ui.field(request, 'url', {
      value: endpoint?.url ?? '',
      hint: say('url_hint'),
      type: 'url',
      required: true,
      ltr: true,
    }),
    ui.checkboxes(request, 'enabled_events', 'events', boxes, html` tabindex="-1"`),
    ui.submit(say('save')),
  ];
  return formPage(request, title, path, body);
}
