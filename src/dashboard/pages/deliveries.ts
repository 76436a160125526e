// The deliveries of a webhook endpoint, below it and each on a page of its own with its attempts:
// sent again one by one or all that failed, and in test mode a sample event.

import { sentEventTypes } from '../../contract/vocabulary.ts';
import { resendFailedAtMs } from '../../domain/deliveries.ts';
import { endpointDueIndex, fieldIndex, scopeOf } from '../../domain/indexes.ts';
import type {
  AttemptResult,
  DeliveryRecord,
  EventRecord,
  WebhookEndpointRecord,
} from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { OperatorFailure } from '../../operator/use-cases/failures.ts';
import { records } from '../../operator/use-cases/shard-records.ts';
import { attemptsOf, resend, resendFailed, sendSample } from '../../operator/use-cases/webhook-commands.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, type ViewRequest } from '../layout/row.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { mayDo } from '../people/roles.ts';
import { cursorIn, ownRecord } from './own-record.ts';

const shownMax = 25;

export const deliveryRows: readonly Row[] = [
  get('webhooks/deliveries/{id}', 'developers.read', show),
  post('webhooks/deliveries/{id}/resend', 'webhooks.write', resendOne),
  post('webhooks/{id}/resend-failed', 'webhooks.write', resendAll),
  post('webhooks/{id}/sample', 'webhooks.write', sample, { testOnly: true }),
];

const tones = {
  pending: 'warn',
  succeeded: 'good',
  failed: 'bad',
  ended: 'plain',
} as const satisfies Record<DeliveryRecord['status'], ui.Tone>;

/** A table of deliveries, or that there is none. `samples`: the events that were made up. */
export function deliveryTable(
  request: ViewRequest,
  deliveries: readonly DeliveryRecord[],
  samples: ReadonlySet<string>,
): Html {
  const say = sayWebhooks(request);
  return ui.list(
    say('deliveries'),
    [
      [
        say('delivery'),
        ({ id, event, event_type: type }) =>
          html`<a href="${viewLink(request, `webhooks/deliveries/${id}`)}" dir="ltr">${type}</a>${samples.has(event) && html` ${sampleBadge(request)}`}`,
      ],
      [say('status'), (delivery) => statusBadge(request, delivery)],
      [say('attempts'), ({ attempt_count }) => attempt_count, 'numeric'],
      [say('created'), ({ created }) => ui.time(request.language, created * 1000)],
    ],
    deliveries,
    ui.emptyState(say('no_deliveries')),
  );
}

function statusBadge({ language }: ViewRequest, { status, tries }: DeliveryRecord): Html {
  const say = sayWebhooks({ language });
  if (status === 'pending' && tries > 0) return ui.badge(say('retrying'), 'bad');
  return ui.badge(say(status), tones[status]);
}

/** What the page of an endpoint shows of its deliveries, and what can be sent. */
export async function deliveriesOf(request: ViewRequest, endpoint: WebhookEndpointRecord): Promise<Html[]> {
  const { language, query, role, mode } = request;
  const say = sayWebhooks(request);
  const { id, org, livemode, status } = endpoint;
  const failedOnly = query.get('failed') === '1';
  const index = fieldIndex('delivery', scopeOf(org, livemode), failedOnly ? 'failed' : 'endpoint', id);
  const before = cursorIn(query, 'before', 'delivery');
  const listed = await records<DeliveryRecord>(request.services, id, index, { limit: shownMax + 1, before });
  const shown = listed.slice(0, shownMax);
  const path = `webhooks/${id}`;
  const kept = { failed: failedOnly ? '1' : '' };
  const maySend = status === 'enabled' && mayDo(role, 'webhooks.write');
  const filter = failedOnly
    ? html`<a href="${viewLink(request, path)}">${say('show_all')}</a>`
    : html`<a href="${viewLink(request, path, { failed: '1' })}">${say('show_failed')}</a>`;
  const againAtMs = resendFailedAtMs(endpoint);
  const again =
    againAtMs > request.services.now()
      ? html`<span class="hint">${say('resend_failed_at')} ${ui.time(language, againAtMs)}</span>`
      : ui.form(
          request,
          viewLink(request, `${path}/resend-failed`),
          ui.submit(say('resend_failed'), 'quiet'),
          { className: 'inline' },
        );
  const pages = ui.pager(request, path, {
    newer: before === undefined ? null : kept,
    older: listed.length > shownMax ? { ...kept, before: shown.at(-1)!.id } : null,
  });
  const retried = failedOnly && before === undefined ? await retriedOf(request, id) : [];
  const samples = await samplesAmong(request, [...retried, ...shown]);
  const deliveries = ui.section(say('deliveries'), [
    html`<div class="actions">${filter}${maySend && again}</div>`,
    html`${retried.length > 0 && html`<h3>${say('being_retried')}</h3>${deliveryTable(request, retried, samples)}<h3>${say('failed')}</h3>`}`,
    deliveryTable(request, shown, samples),
    html`${pages}`,
  ]);
  return maySend && mode === 'test' ? [sampleForm(request, id), deliveries] : [deliveries];
}

/** The events of these deliveries that were made up: there are none in live mode. */
async function samplesAmong(
  request: ViewRequest,
  deliveries: readonly DeliveryRecord[],
): Promise<ReadonlySet<string>> {
  if (request.mode === 'live') return new Set();
  const ids = [...new Set(deliveries.map(({ event }) => event))];
  const events = await Promise.all(ids.map((id) => ownRecord<EventRecord>(request, id, 'event')));
  return new Set(events.flatMap((event) => (event?.sample ? [event.id] : [])));
}

/** Deliveries that wait after an attempt that failed, those that are tried last first. */
async function retriedOf({ services }: ViewRequest, endpoint: string): Promise<DeliveryRecord[]> {
  const waiting = await records<DeliveryRecord>(services, endpoint, endpointDueIndex(endpoint), {
    limit: 4 * shownMax,
  });
  return waiting.filter(({ attempt_count }) => attempt_count > 0).slice(0, shownMax);
}

function sampleForm(request: ViewRequest, endpoint: string): Html {
  const say = sayWebhooks(request);
  const type = ui.select({
    name: 'type',
    label: say('type'),
    value: 'payment_intent.succeeded',
    choices: sentEventTypes.map((each) => [each, each]),
  });
  const body = [type, ui.submit(say('send'), 'quiet')];
  return ui.section(say('sample'), ui.form(request, viewLink(request, `webhooks/${endpoint}/sample`), body));
}

/** The mark of an event that was made up. */
export function sampleBadge(request: Pick<ViewRequest, 'language'>): Html {
  return ui.badge(sayWebhooks(request)('is_sample'));
}

async function show(request: ViewRequest): Promise<DashboardAnswer> {
  const delivery = await ownRecord<DeliveryRecord>(request, request.id, 'delivery');
  if (delivery === null) return errorPage(request, 'missing');
  return deliveryPage(request, delivery, null);
}

async function deliveryPage(
  request: ViewRequest,
  delivery: DeliveryRecord,
  refusal: string | null,
): Promise<DashboardAnswer> {
  const { language, role } = request;
  const say = sayWebhooks(request);
  const { id, event, event_type: type, endpoint, due_at_ms: dueMs, created } = delivery;
  const [owner, sent] = await Promise.all([
    ownRecord<WebhookEndpointRecord>(request, endpoint, 'webhook_endpoint'),
    ownRecord<EventRecord>(request, event, 'event'),
  ]);
  const mark = sent?.sample === true && html` ${sampleBadge(request)}`;
  const isSent = owner?.status === 'enabled';
  const again = isSent
    ? ui.form(request, viewLink(request, `webhooks/deliveries/${id}/resend`), ui.submit(say('resend')))
    : html`<p class="hint">${say(owner?.status === 'disabled' ? 'not_enabled' : 'endpoint_gone')}</p>`;
  return page(request, {
    title: say('delivery'),
    problems: refusal === null ? {} : { '': say('refused', { reason: refusal }) },
    body: [
      ui.doneOf(request, { sent: 'done_sent' } as const, say),
      ui.definitions([
        [say('event'), html`<a href="${viewLink(request, `events/${event}`)}" dir="ltr">${type}</a>${mark}`],
        [say('status'), statusBadge(request, delivery)],
        [
          say('next_attempt'),
          dueMs === null || !isSent ? null : ui.time(language, Math.max(dueMs, request.services.now())),
        ],
        [say('id'), ui.copyable(request, id)],
        [say('created'), ui.time(language, created * 1000)],
      ]),
      mayDo(role, 'webhooks.write') ? again : null,
      ui.section(say('attempts'), await attemptList(request, delivery)),
      html`<p>${ui.button(say('back'), viewLink(request, `webhooks/${endpoint}`), 'quiet')}</p>`,
    ],
  });
}

/** The attempts of a delivery, with what is not kept of them. */
async function attemptList(request: ViewRequest, delivery: DeliveryRecord): Promise<Html[]> {
  const say = sayWebhooks(request);
  const attempts = await attemptsOf(request.services, delivery);
  const goneCount = delivery.attempt_count - attempts.length;
  const columns: ui.Column<AttemptResult>[] = [
    [say('at'), ({ at_ms }) => ui.time(request.language, at_ms)],
    [say('status_code'), ({ status }) => status ?? '–', 'numeric'],
    [say('duration'), ({ duration_ms }) => html`<span dir="ltr">${duration_ms} ms</span>`, 'numeric'],
    [
      say('outcome'),
      ({ failure }) =>
        failure === null ? ui.badge(say('succeeded'), 'good') : html`<span dir="ltr">${failure}</span>`,
    ],
    [say('answer'), (attempt) => answerOf(request, attempt)],
  ];
  const gone = say('gone_attempts', { count: goneCount });
  return [
    ui.table(say('attempts'), columns, attempts, ui.emptyState(goneCount > 0 ? gone : say('no_attempts'))),
    ...(attempts.length > 0 && goneCount > 0 ? [html`<p>${gone}</p>`] : []),
    ...(attempts.some(({ failure }) => failure !== null)
      ? [html`<p class="hint">${say('answers_kept')}</p>`]
      : []),
  ];
}

function answerOf({ language }: ViewRequest, { failure, answer }: AttemptResult): Html | string {
  const say = sayWebhooks({ language });
  if (answer !== null) return answer === '' ? '–' : ui.code(answer);
  return failure === null ? '–' : say('answer_not_kept');
}

async function resendOne(request: ViewRequest): Promise<DashboardAnswer> {
  const delivery = await ownRecord<DeliveryRecord>(request, request.id, 'delivery');
  if (delivery === null) return errorPage(request, 'missing');
  const { id } = delivery;
  try {
    await request.act('webhooks.resend', { delivery: id }, () => resend(request.services, id));
    return redirect(viewLink(request, `webhooks/deliveries/${id}`, { done: 'sent' }));
  } catch (error) {
    if (!(error instanceof OperatorFailure)) throw error;
    return deliveryPage(request, delivery, error.message);
  }
}

/** Says why nothing was changed about an endpoint, or sent to it. */
export function refusedPage(request: ViewRequest, status: number, message: string): DashboardAnswer {
  const say = sayWebhooks(request);
  const back = ui.button(say('back'), viewLink(request, `webhooks/${request.id}`), 'quiet');
  return page(request, {
    status,
    title: say('endpoint'),
    problems: { '': message },
    body: html`<p>${back}</p>`,
  });
}

/**
 * Begins to send all failed deliveries again, and answers at once: it goes on when the page is
 * left.
 */
async function resendAll(request: ViewRequest): Promise<DashboardAnswer> {
  const endpoint = await ownRecord<WebhookEndpointRecord>(request, request.id, 'webhook_endpoint');
  if (endpoint === null) return errorPage(request, 'missing');
  const { id } = endpoint;
  const begun = Promise.withResolvers<void>();
  // Whether it succeeds is in the audit record, and the deliveries that it did not come to are
  // listed as failed.
  const done = request.act('webhooks.resend-failed', { endpoint: id }, () =>
    resendFailed(request.services, id, begun.resolve),
  );
  try {
    await Promise.race([begun.promise, done]);
  } catch (error) {
    if (!(error instanceof OperatorFailure)) throw error;
    return refusedPage(request, 400, error.message);
  }
  done.catch(() => {});
  return redirect(viewLink(request, `webhooks/${id}`, { done: 'resending' }));
}

async function sample(request: ViewRequest): Promise<DashboardAnswer> {
  const endpoint = await ownRecord<WebhookEndpointRecord>(request, request.id, 'webhook_endpoint');
  const type = request.form.get('type') ?? '';
  if (endpoint?.status !== 'enabled' || !sentEventTypes.some((each) => each === type)) {
    return errorPage(request, 'missing');
  }
  const { id } = endpoint;
  const send = () => sendSample(request.services, id, type);
  try {
    await request.once(() => request.act('webhooks.sample', { endpoint: id, type }, send));
  } catch (error) {
    if (!(error instanceof OperatorFailure)) throw error;
    return refusedPage(request, 400, error.message);
  }
  return redirect(viewLink(request, `webhooks/${id}`, { done: 'sent' }));
}
