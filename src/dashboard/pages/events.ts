// The pages for events: a list by type and day, and each event as it is sent, with its deliveries.

import { sentEventTypes } from '../../contract/vocabulary.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import { fieldIndex } from '../../domain/indexes.ts';
import type { DeliveryRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { liveList, tailAnswer, tailScript } from '../layout/live-list.ts';
import { get, type ResultOf, type Row, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { deliveryTable, sampleBadge } from './deliveries.ts';
import { listPage } from './list-page.ts';
import { ownRecords } from './own-record.ts';

const active = 'events';
const tailPath = 'events/tail';
type Event = ResultOf<'retrieve_event'>;

export const eventRows: readonly Row[] = [
  get('events', 'developers.read', list),
  get(tailPath, 'developers.read', streamList),
  get('events/{id}', 'developers.read', show),
];

/** The filters of the address, as parameters of the API's list. */
function filtersOf({ query }: ViewRequest): Record<string, string> {
  const type = query.get('type') ?? '';
  const from = moroccoDayBounds(query.get('from') ?? '');
  const to = moroccoDayBounds(query.get('to') ?? '');
  return {
    limit: '25',
    type,
    ...(from !== null && { 'created[gte]': String(from.fromMs / 1000) }),
    ...(to !== null && { 'created[lt]': String(to.toMs / 1000) }),
  };
}

function eventsOf(request: ViewRequest) {
  const kept = Object.fromEntries(
    ['type', 'from', 'to'].map((name) => [name, request.query.get(name) ?? '']),
  );
  return listPage<Event>(request, 'list_events', filtersOf(request), kept);
}

async function streamList(request: ViewRequest): Promise<DashboardAnswer> {
  const { isThere, data } = await eventsOf(request);
  return isThere ? tailAnswer(request, 'events', eventTable(request, data)) : errorPage(request, 'trouble');
}

async function list(request: ViewRequest): Promise<DashboardAnswer> {
  const { isThere, data, isNewest, queries } = await eventsOf(request);
  if (!isThere) return errorPage(request, 'trouble');
  const shown = eventTable(request, data);
  return page(request, {
    title: sayLayout(request)(active),
    scripts: isNewest ? [tailScript] : [],
    body: [
      filterForm(request),
      isNewest ? liveList(request, tailPath, shown) : shown,
      ui.pager(request, active, queries),
    ],
  });
}

function eventTable(request: ViewRequest, events: readonly Event[]): Html {
  const say = sayWebhooks(request);
  const columns: ui.Column<Event>[] = [
    [
      say('type'),
      ({ id, type, sample }) =>
        html`<a href="${viewLink(request, `events/${id}`)}" dir="ltr">${type}</a>${sample === true && html` ${sampleBadge(request)}`}`,
    ],
    [say('object'), ({ data }) => html`<code dir="ltr">${(data.object as { id: string }).id}</code>`],
    [say('created'), ({ created }) => ui.time(request.language, created * 1000)],
  ];
  return ui.list(sayLayout(request)(active), columns, events, ui.emptyState(say('no_event')));
}

function filterForm(request: ViewRequest) {
  const { query } = request;
  const say = sayWebhooks(request);
  const any = ['', say('any_type')] as const;
  const day = (name: 'from' | 'to') =>
    ui.field({ name, label: say(name), type: 'date', value: query.get(name) ?? '' });
  return ui.filters(request, active, [
    ui.select({
      name: 'type',
      label: say('type'),
      value: query.get('type') ?? '',
      choices: [any, ...sentEventTypes.map((type) => [type, type] as const)],
    }),
    day('from'),
    day('to'),
  ]);
}

async function show(request: ViewRequest): Promise<DashboardAnswer> {
  const { language } = request;
  const say = sayWebhooks(request);
  const found = await request.api('retrieve_event', { id: request.id });
  if (!found.ok) return errorPage(request, 'missing');
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
          event.request.id &&
            html`<a href="${viewLink(request, `requests/${event.request.id}`)}" dir="ltr">${event.request.id}</a>`,
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
