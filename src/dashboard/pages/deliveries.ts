// The deliveries of a webhook endpoint, below it and each on a page of its own with its attempts:
// sent again one by one or all that failed, and in test mode a sample event.

import { sentEventTypes } from '../../contract/vocabulary.ts';
import { wallMsOf } from '../../core/clock.ts';
import { resendFailedAtMs } from '../../domain/deliveries.ts';
import { endpointDueIndex, fieldIndex, scopeOf } from '../../domain/indexes.ts';
import type { AttemptResult, DeliveryRecord, WebhookEndpointRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { nowOf, records } from '../../operator/use-cases/shard-records.ts';
import { attemptsOf, resend, resendFailed, sendSample } from '../../operator/use-cases/webhook-commands.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, refused, type Saying, saying } from '../layout/row.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { mayDo } from '../people/roles.ts';
import { about, cursorIn, ownRecord, refusalOf } from './own-record.ts';

const shownMax = 25;

export const deliveryRows: readonly Row[] = saying(sayWebhooks, [
  get('webhooks/deliveries/{id}', 'developers.read', about(deliveryIn, show)),
  post('webhooks/deliveries/{id}/resend', 'webhooks.write', about(deliveryIn, resendOne)),
  post('webhooks/{id}/resend-failed', 'webhooks.write', about(endpointIn, resendAll)),
  post('webhooks/{id}/sample', 'webhooks.write', about(endpointIn, sample), { testOnly: true }),
]);

type Request = Saying<typeof sayWebhooks>;

function deliveryIn(request: Request): Promise<DeliveryRecord | null> {
  return ownRecord(request, request.id, 'delivery');
}

/** The endpoint that the address names, be it deleted. */
export function endpointIn(request: Request): Promise<WebhookEndpointRecord | null> {
  return ownRecord(request, request.id, 'webhook_endpoint');
}

const tones = {
  pending: 'warn',
  succeeded: 'good',
  failed: 'bad',
  ended: 'plain',
} as const satisfies Record<DeliveryRecord['status'], ui.Tone>;

/** A table of deliveries, or that there is none. `samples`: the events that were made up. */
export function deliveryTable(
  request: Request,
  deliveries: readonly DeliveryRecord[],
  samples: ReadonlySet<string>,
): Html {
  const { say } = request;
  return ui.list(
    say('deliveries'),
    [
      [
        say('delivery'),
        ({ id, event, event_type: type }) =>
          html`${ui.linkedCode(request, `webhooks/deliveries/${id}`, type)}${samples.has(event) && html` ${sampleBadge(request)}`}`,
      ],
      [say('status'), (delivery) => statusBadge(request, delivery)],
      [say('attempts'), ({ attempt_count }) => attempt_count, 'numeric'],
      [say('created'), ({ created }) => ui.time(request.language, created * 1000)],
    ],
    deliveries,
    ui.emptyState(say('no_deliveries')),
  );
}

function statusBadge({ say }: Request, { status, tries }: DeliveryRecord): Html {
  if (status === 'pending' && tries > 0) return ui.badge(say('retrying'), 'bad');
  return ui.badge(say(status), tones[status]);
}

/** What the page of an endpoint shows of its deliveries, and what can be sent. */
export async function deliveriesOf(request: Request, endpoint: WebhookEndpointRecord): Promise<Html[]> {
  const { language, query, role, mode, say } = request;
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
  const now = await nowOf(request.services, id);
  const again =
    againAtMs > now.serviceMs
      ? html`<span class="hint">${say('resend_failed_at')} ${ui.time(language, wallMsOf(againAtMs, now))}</span>`
      : ui.form(request, `${path}/resend-failed`, ui.submit(say('resend_failed'), 'quiet'), {
          className: 'inline',
        });
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
  request: Request,
  deliveries: readonly DeliveryRecord[],
): Promise<ReadonlySet<string>> {
  if (request.mode === 'live') return new Set();
  const ids = [...new Set(deliveries.map(({ event }) => event))];
  const events = await Promise.all(ids.map((id) => ownRecord(request, id, 'event')));
  return new Set(events.flatMap((event) => (event?.sample ? [event.id] : [])));
}

/** Deliveries that wait after an attempt that failed, those that are tried last first. */
async function retriedOf({ services }: Request, endpoint: string): Promise<DeliveryRecord[]> {
  const waiting = await records<DeliveryRecord>(services, endpoint, endpointDueIndex(endpoint), {
    limit: 4 * shownMax,
  });
  return waiting.filter(({ attempt_count }) => attempt_count > 0).slice(0, shownMax);
}

function sampleForm(request: Request, endpoint: string): Html {
  const { say } = request;
  const type = ui.select(request, 'type', sentEventTypes, { value: 'payment_intent.succeeded' });
  const body = [type, ui.submit(say('send'), 'quiet')];
  return ui.section(say('sample'), ui.form(request, `webhooks/${endpoint}/sample`, body));
}

/** The mark of an event that was made up. */
export function sampleBadge({ say }: Request): Html {
  return ui.badge(say('is_sample'));
}

async function show(request: Request, delivery: DeliveryRecord): Promise<DashboardAnswer> {
  const { language, role, say } = request;
  const { id, event, event_type: type, endpoint, due_at_ms: dueMs, created } = delivery;
  const [owner, sent] = await Promise.all([
    ownRecord(request, endpoint, 'webhook_endpoint'),
    ownRecord(request, event, 'event'),
  ]);
  const mark = sent?.sample === true && html` ${sampleBadge(request)}`;
  const isSent = owner?.status === 'enabled';
  const again = isSent
    ? ui.form(request, `webhooks/deliveries/${id}/resend`, ui.submit(say('resend')))
    : html`<p class="hint">${say(owner?.status === 'disabled' ? 'not_enabled' : 'endpoint_gone')}</p>`;
  return page(request, {
    title: say('delivery'),
    body: [
      ui.doneOf(request, { sent: 'done_sent' }),
      ui.definitions([
        [say('event'), html`${ui.linkedCode(request, `events/${event}`, type)}${mark}`],
        [say('status'), statusBadge(request, delivery)],
        [
          say('next_attempt'),
          dueMs === null || !isSent
            ? null
            : ui.time(language, wallMsOf(dueMs, await nowOf(request.services, id))),
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
async function attemptList(request: Request, delivery: DeliveryRecord): Promise<Html[]> {
  const { say } = request;
  const attempts = await attemptsOf(request.services, delivery);
  const goneCount = delivery.attempt_count - attempts.length;
  const columns: ui.Column<AttemptResult>[] = [
    [say('at'), ({ at_ms }) => ui.time(request.language, at_ms)],
    [say('status_code'), ({ status }) => status ?? '–', 'numeric'],
    [say('duration'), ({ duration_ms }) => html`<span dir="ltr">${duration_ms} ms</span>`, 'numeric'],
    [say('outcome'), ({ failure }) => failure ?? ui.badge(say('succeeded'), 'good')],
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

function answerOf({ say }: Request, { failure, answer }: AttemptResult): Html | string {
  if (answer !== null) return answer === '' ? '–' : ui.code(answer);
  return failure === null ? '–' : say('answer_not_kept');
}

async function resendOne(request: Request, delivery: DeliveryRecord): Promise<DashboardAnswer> {
  const { id } = delivery;
  const reason = await refusalOf(
    request.act('webhooks.resend', { delivery: id }, () => resend(request.services, id)),
  );
  if (reason === null) return redirect(viewLink(request, `webhooks/deliveries/${id}`, { done: 'sent' }));
  return show(refused(request, { '': request.say('refused', { reason }) }), delivery);
}

/** Says why nothing was changed about an endpoint, or sent to it. */
export function refusedPage(request: Request, message: string, status = 400): DashboardAnswer {
  const { id, say } = request;
  const back = ui.button(say('back'), viewLink(request, `webhooks/${id}`), 'quiet');
  const body = html`<p>${back}</p>`;
  return page(refused(request, { '': message }, status), { title: say('endpoint'), body });
}

/** Begins to send all failed deliveries again. It goes on when the page is left. */
async function resendAll(request: Request, { id }: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const begun = Promise.withResolvers<void>();
  // Whether it succeeds is in the audit record, and the deliveries that it did not come to are
  // listed as failed.
  const done = request.act('webhooks.resend-failed', { endpoint: id }, () =>
    resendFailed(request.services, id, begun.resolve),
  );
  const refusal = await refusalOf(Promise.race([begun.promise, done]));
  if (refusal !== null) return refusedPage(request, refusal);
  done.catch(() => {});
  return redirect(viewLink(request, `webhooks/${id}`, { done: 'resending' }));
}

async function sample(request: Request, { id, status }: WebhookEndpointRecord): Promise<DashboardAnswer> {
  const type = sentEventTypes.find((each) => each === request.form.get('type'));
  if (status !== 'enabled' || type === undefined) return errorPage(request, 'missing');
  const send = () => sendSample(request.services, id, type);
  const refusal = await refusalOf(
    request.once(() => request.act('webhooks.sample', { endpoint: id, type }, send)),
  );
  if (refusal !== null) return refusedPage(request, refusal);
  return redirect(viewLink(request, `webhooks/${id}`, { done: 'sent' }));
}
