// The pages for events: a list by type and day, and each event as it is sent, with its deliveries.

import { sentEventTypes } from '../../contract/vocabulary.ts';
import { fieldIndex } from '../../domain/indexes.ts';
import type { DeliveryRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { errorPage, unansweredPage } from '../layout/errors.ts';
import { listPage, tailAnswer } from '../layout/live-list.ts';
import { get, type ResultOf, type Row, refused, type Saying, saying } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { deliveryTable, sampleBadge } from './deliveries.ts';
import { listPart } from './list-part.ts';
import { ownRecords } from './own-record.ts';
import { periodIn } from './period.ts';

const active = 'events';
const tailPath = 'events/tail';
type Event = ResultOf<'retrieve_event'>;

type Request = Saying<typeof sayWebhooks>;

export const eventRows: readonly Row[] = saying(sayWebhooks, [
  get('events', 'developers.read', list),
  get(tailPath, 'developers.read', streamList),
  get('events/{id}', 'developers.read', show),
]);

/** The filters of the address, as parameters of the API's list. */
function filtersOf(request: Request): Record<string, string> {
  const { fromMs, toMs } = periodIn(request);
  return {
    limit: '25',
    type: request.query.get('type') ?? '',
    ...(fromMs !== null && { 'created[gte]': String(fromMs / 1000) }),
    ...(toMs !== null && { 'created[lt]': String(toMs / 1000) }),
  };
}

function eventsOf(request: Request) {
  const kept = Object.fromEntries(
    ['type', 'from', 'to'].map((name) => [name, request.query.get(name) ?? '']),
  );
  return listPart<Event>(request, 'list_events', filtersOf(request), kept);
}

async function streamList(request: Request): Promise<DashboardAnswer> {
  const { isThere, data } = await eventsOf(request);
  return isThere ? tailAnswer(request, 'events', eventTable(request, data)) : errorPage(request, 'trouble');
}

async function list(request: Request): Promise<DashboardAnswer> {
  const { isThere, data, isNewest, queries } = await eventsOf(request);
  if (!isThere) return errorPage(request, 'trouble');
  const shown = refused(request, periodIn(request).problems, 200);
  return listPage(shown, filterForm(shown), eventTable(request, data), queries, isNewest ? tailPath : null);
}

function eventTable(request: Request, events: readonly Event[]): Html {
  const { say } = request;
  const columns: ui.Column<Event>[] = [
    [
      say('type'),
      ({ id, type, sample }) =>
        html`${ui.linkedCode(request, `events/${id}`, type)}${sample === true && html` ${sampleBadge(request)}`}`,
    ],
    [say('object'), ({ data }) => html`<code dir="ltr">${(data.object as { id: string }).id}</code>`],
    [say('created'), ({ created }) => ui.time(request.language, created * 1000)],
  ];
  return ui.list(sayLayout(request)(active), columns, events, ui.emptyState(say('no_event')));
}

function filterForm(request: Request): Html {
  const any = ['', request.say('any_type')] as const;
  return ui.filters(request, active, (filter) => [
    ui.select(filter, 'type', [any, ...sentEventTypes]),
    ui.field(filter, 'from', { type: 'date' }),
    ui.field(filter, 'to', { type: 'date' }),
  ]);
}

async function show(request: Request): Promise<DashboardAnswer> {
  const { language, say } = request;
  const found = await request.api('retrieve_event', { id: request.id });
  if (!found.ok) return unansweredPage(request, found);
  const event = found.body;
  const deliveries = await ownRecords<DeliveryRecord>(request, (scope) =>
    fieldIndex('delivery', scope, 'event', event.id),
  );
  return page(request, {
    title: event.type,
    actions: event.sample ? sampleBadge(request) : null,
    body: [
      event.sample ? html`<p>${say('sample_text')}</p>` : null,
      ui.definitions([
        [say('id'), ui.copyable(request, event.id)],
        [say('created'), ui.time(language, event.created * 1000)],
        [
          say('request'),
          event.request.id && ui.linkedCode(request, `requests/${event.request.id}`, event.request.id),
        ],
        [
          say('idempotency_key'),
          event.request.idempotency_key && ui.copyable(request, event.request.idempotency_key),
        ],
      ]),
      ui.section(
        say('deliveries'),
        deliveryTable(request, deliveries, new Set(event.sample ? [event.id] : [])),
      ),
      ui.section(say('body'), ui.code(JSON.stringify(event, null, 2))),
    ],
  });
}
