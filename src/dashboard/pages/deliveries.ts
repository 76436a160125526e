// The deliveries of a webhook endpoint, below it and each on a page of its own with its attempts: sent again one by one or all that
// failed, and in test mode a sample event.

import { sentEventTypes } from '../../contract/vocabulary.ts';
import { resendFailedAtMs } from '../../domain/deliveries.ts';
import { fieldIndex, scopeOf } from '../../domain/indexes.ts';
import type { AttemptResult, DeliveryRecord, WebhookEndpointRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { OperatorFailure } from '../../operator/socket/protocol.ts';
import { records } from '../../operator/use-cases/shard-records.ts';
import { attemptsOf, resend, resendFailed, sendSample } from '../../operator/use-cases/webhook-commands.ts';
import {
  badge,
  button,
  code,
  copyable,
  definitions,
  doneOf,
  emptyState,
  errorSummary,
  form,
  pager,
  section,
  select,
  submit,
  type Tone,
  table,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import { recentForms } from '../layout/recent-forms.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { mayDo } from '../people/roles.ts';
import { cursorIn } from './cursor.ts';
import { ownRecord } from './own-record.ts';

const active = 'webhooks';
const shownMax = 25;

export const deliveryRows: readonly Row[] = [
  { method: 'GET', path: 'webhooks/deliveries/{id}', permission: 'developers.read', handle: show },
  {
    method: 'POST',
    path: 'webhooks/deliveries/{id}/resend',
    permission: 'webhooks.write',
    handle: resendOne,
  },
  { method: 'POST', path: 'webhooks/{id}/resend-failed', permission: 'webhooks.write', handle: resendAll },
  {
    method: 'POST',
    path: 'webhooks/{id}/sample',
    permission: 'webhooks.write',
    testOnly: true,
    handle: sample,
  },
];

const tones = {
  pending: 'warn',
  succeeded: 'good',
  failed: 'bad',
  ended: 'plain',
} as const satisfies Record<DeliveryRecord['status'], Tone>;

/** A table of deliveries. */
export function deliveryTable(visit: Visit, deliveries: readonly DeliveryRecord[]): Html {
  const { language } = visit;
  return table(
    sayWebhooks('deliveries', language),
    [
      {
        heading: sayWebhooks('delivery', language),
        cell: ({ id, event_type: type }) =>
          html`<a href="${roomLink(visit, `webhooks/deliveries/${id}`)}" dir="ltr">${type}</a>`,
      },
      { heading: sayWebhooks('status', language), cell: ({ status }) => statusBadge(visit, status) },
      {
        heading: sayWebhooks('attempts', language),
        cell: ({ attempt_count }) => attempt_count,
        numeric: true,
      },
      { heading: sayWebhooks('created', language), cell: ({ created }) => time(language, created * 1000) },
    ],
    deliveries,
  );
}

function statusBadge({ language }: Visit, status: DeliveryRecord['status']): Html {
  return badge(sayWebhooks(status, language), tones[status]);
}

/** What the page of an endpoint shows of its deliveries, and what can be sent. */
export async function deliveriesOf(
  visit: Visit,
  desk: Desk,
  endpoint: WebhookEndpointRecord,
): Promise<Html[]> {
  const { language, query, role, mode } = visit;
  const { id, org, livemode, status } = endpoint;
  const failedOnly = query.get('failed') === '1';
  const index = fieldIndex('delivery', scopeOf(org, livemode), failedOnly ? 'failed' : 'endpoint', id);
  const before = cursorIn(query, 'before', 'delivery');
  const listed = await records<DeliveryRecord>(desk.services, id, index, { limit: shownMax + 1, before });
  const shown = listed.slice(0, shownMax);
  const path = `webhooks/${id}`;
  const kept = { failed: failedOnly ? '1' : '' };
  const maySend = status === 'enabled' && mayDo(role, 'webhooks.write');
  const filter = failedOnly
    ? html`<a href="${roomLink(visit, path)}">${sayWebhooks('show_all', language)}</a>`
    : html`<a href="${roomLink(visit, path, { failed: '1' })}">${sayWebhooks('show_failed', language)}</a>`;
  const againAtMs = resendFailedAtMs(endpoint);
  const again =
    againAtMs > desk.services.now()
      ? html`<span class="hint">${sayWebhooks('resend_failed_at', language)} ${time(language, againAtMs)}</span>`
      : form(
          visit,
          roomLink(visit, `${path}/resend-failed`),
          submit(sayWebhooks('resend_failed', language), 'quiet'),
          { className: 'inline' },
        );
  const pages = pager(visit, path, {
    newer: before === undefined ? null : kept,
    older: listed.length > shownMax ? { ...kept, before: shown.at(-1)!.id } : null,
  });
  const list =
    shown.length === 0 ? emptyState(sayWebhooks('no_deliveries', language)) : deliveryTable(visit, shown);
  const deliveries = section(sayWebhooks('deliveries', language), [
    html`<div class="actions">${filter}${maySend && again}</div>`,
    list,
    html`${pages}`,
  ]);
  return maySend && mode === 'test' ? [sampleForm(visit, id), deliveries] : [deliveries];
}

function sampleForm(visit: Visit, endpoint: string): Html {
  const { language } = visit;
  const type = select({
    name: 'type',
    label: sayWebhooks('type', language),
    value: 'payment_intent.succeeded',
    choices: sentEventTypes.map((each) => [each, each]),
  });
  const body = [type, submit(sayWebhooks('send', language), 'quiet')];
  return section(
    sayWebhooks('sample', language),
    form(visit, roomLink(visit, `webhooks/${endpoint}/sample`), body),
  );
}

async function show(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const delivery = await ownRecord<DeliveryRecord>(visit, desk, visit.id, 'delivery');
  if (delivery === null) return errorPage(visit, 'missing');
  return deliveryPage(visit, desk, delivery, null);
}

async function deliveryPage(
  visit: Visit,
  desk: Desk,
  delivery: DeliveryRecord,
  refusal: string | null,
): Promise<DashboardAnswer> {
  const { language, role } = visit;
  const { id, event, event_type: type, endpoint, status, due_at_ms: dueMs, created } = delivery;
  const say = (key: Parameters<typeof sayWebhooks>[0]) => sayWebhooks(key, language);
  const again = form(visit, roomLink(visit, `webhooks/deliveries/${id}/resend`), submit(say('resend')));
  const refused = refusal === null ? null : sayWebhooks('refused', language, { reason: refusal });
  return page(visit, {
    active,
    title: say('delivery'),
    ...(refused !== null && { status: 400 }),
    alert: refused === null ? null : errorSummary(language, { '': refused }),
    body: [
      doneOf(visit, { sent: 'done_sent' } as const, sayWebhooks),
      definitions([
        [say('event'), html`<a href="${roomLink(visit, `events/${event}`)}" dir="ltr">${type}</a>`],
        [say('status'), statusBadge(visit, status)],
        [say('next_attempt'), dueMs === null ? null : time(language, Math.max(dueMs, desk.services.now()))],
        [say('id'), copyable(visit, id)],
        [say('created'), time(language, created * 1000)],
      ]),
      mayDo(role, 'webhooks.write') ? again : null,
      section(say('attempts'), await attemptList(visit, desk, delivery)),
      html`<p>${button(say('back'), roomLink(visit, `webhooks/${endpoint}`), 'quiet')}</p>`,
    ],
  });
}

/** The attempts of a delivery, with what is not kept of them. */
async function attemptList(visit: Visit, desk: Desk, delivery: DeliveryRecord): Promise<Html[]> {
  const { language } = visit;
  const say = (key: Parameters<typeof sayWebhooks>[0]) => sayWebhooks(key, language);
  const attempts = await attemptsOf(desk.services, delivery);
  const goneCount = delivery.attempt_count - attempts.length;
  const columns = [
    { heading: say('at'), cell: ({ at_ms }: AttemptResult) => time(language, at_ms) },
    {
      heading: say('status_code'),
      cell: ({ status }: AttemptResult) => status ?? '–',
      numeric: true as const,
    },
    {
      heading: say('duration'),
      cell: ({ duration_ms }: AttemptResult) => html`<span dir="ltr">${duration_ms} ms</span>`,
      numeric: true as const,
    },
    {
      heading: say('outcome'),
      cell: ({ failure }: AttemptResult) =>
        failure === null ? badge(say('succeeded'), 'good') : html`<span dir="ltr">${failure}</span>`,
    },
    { heading: say('answer'), cell: (attempt: AttemptResult) => answerOf(visit, attempt) },
  ];
  const gone = sayWebhooks('gone_attempts', language, { count: goneCount });
  return [
    attempts.length > 0
      ? table(say('attempts'), columns, attempts)
      : emptyState(goneCount > 0 ? gone : say('no_attempts')),
    ...(attempts.length > 0 && goneCount > 0 ? [html`<p>${gone}</p>`] : []),
    ...(attempts.some(({ failure }) => failure !== null)
      ? [html`<p class="hint">${say('answers_kept')}</p>`]
      : []),
  ];
}

function answerOf({ language }: Visit, { failure, answer }: AttemptResult): Html | string {
  if (answer !== null) return answer === '' ? '–' : code(answer);
  return failure === null ? '–' : sayWebhooks('answer_not_kept', language);
}

async function resendOne(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const delivery = await ownRecord<DeliveryRecord>(visit, desk, visit.id, 'delivery');
  if (delivery === null) return errorPage(visit, 'missing');
  const { id } = delivery;
  try {
    await desk.act(visit, 'webhooks.resend', { delivery: id }, () => resend(desk.services, id));
    return redirect(roomLink(visit, `webhooks/deliveries/${id}`, { done: 'sent' }));
  } catch (error) {
    if (!(error instanceof OperatorFailure)) throw error;
    return deliveryPage(visit, desk, delivery, error.message);
  }
}

/** Says why nothing was changed about an endpoint, or sent to it. */
export function refusedPage(visit: Visit, status: number, message: string): DashboardAnswer {
  const { language, id } = visit;
  const back = button(sayWebhooks('back', language), roomLink(visit, `webhooks/${id}`), 'quiet');
  return page(visit, {
    active,
    status,
    title: sayWebhooks('endpoint', language),
    alert: errorSummary(language, { '': message }),
    body: html`<p>${back}</p>`,
  });
}

/** Begins to send all failed deliveries again, and answers at once: it goes on when the page is left. */
async function resendAll(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const endpoint = await ownRecord<WebhookEndpointRecord>(visit, desk, visit.id, 'webhook_endpoint');
  if (endpoint === null) return errorPage(visit, 'missing');
  const { id } = endpoint;
  const begun = Promise.withResolvers<void>();
  // Whether it succeeds is in the audit record, and the deliveries that it did not come to are listed as failed.
  const done = desk.act(visit, 'webhooks.resend-failed', { endpoint: id }, () =>
    resendFailed(desk.services, id, begun.resolve),
  );
  try {
    await Promise.race([begun.promise, done]);
  } catch (error) {
    if (!(error instanceof OperatorFailure)) throw error;
    return refusedPage(visit, 400, error.message);
  }
  done.catch(() => {});
  return redirect(roomLink(visit, `webhooks/${id}`, { done: 'resending' }));
}

async function sample(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const endpoint = await ownRecord<WebhookEndpointRecord>(visit, desk, visit.id, 'webhook_endpoint');
  const type = visit.form.get('type') ?? '';
  if (endpoint?.status !== 'enabled' || !sentEventTypes.some((each) => each === type)) {
    return errorPage(visit, 'missing');
  }
  const { id } = endpoint;
  const send = () => sendSample(desk.services, id, type);
  try {
    await recentForms.once(visit.member.id, visit.form, () =>
      desk.act(visit, 'webhooks.sample', { endpoint: id, type }, send),
    );
  } catch (error) {
    if (!(error instanceof OperatorFailure)) throw error;
    return refusedPage(visit, 400, error.message);
  }
  return redirect(roomLink(visit, `webhooks/${id}`, { done: 'sent' }));
}
