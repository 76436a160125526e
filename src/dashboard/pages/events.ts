// The pages for events: a list by type and day, and each event as it is sent, with its deliveries.

import { sentEventTypes } from '../../contract/vocabulary.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import { fieldIndex, scopeOf } from '../../domain/indexes.ts';
import type { DeliveryRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { records } from '../../operator/use-cases/shard-records.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { liveList, tailAnswer, tailScript } from '../layout/live-list.ts';
import { get, type ResultOf, type Row, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { deliveryTable, sampleBadge } from './deliveries.ts';

const active = 'events';
const tailPath = 'events/tail';
const shownMax = 25;
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
    ...(type !== '' && { type }),
    ...(from !== null && { 'created[gte]': String(from.fromMs / 1000) }),
    ...(to !== null && { 'created[lt]': String(to.toMs / 1000) }),
  };
}

/** Null when the shard is away, or the cursor names no event. */
async function eventsOf(request: ViewRequest, cursor: Readonly<Record<string, string>> = {}) {
  const listed = await request.api('list_events', {
    query: { limit: String(shownMax), ...filtersOf(request), ...cursor },
  });
  return listed.ok ? { events: listed.body.data as Event[], hasMore: listed.body.has_more } : null;
}

async function streamList(request: ViewRequest): Promise<DashboardAnswer> {
  const listed = await eventsOf(request);
  if (listed === null) return errorPage(request, 'trouble');
  return tailAnswer(request, 'events', eventTable(request, listed.events));
}

async function list(request: ViewRequest): Promise<DashboardAnswer> {
  const { query } = request;
  const say = sayLayout(request);
  const cursors = ['starting_after', 'ending_before'].filter((name) => query.has(name)).slice(0, 1);
  const cursor = Object.fromEntries(cursors.map((name) => [name, query.get(name)!]));
  const isNewest = cursors.length === 0;
  const listed = await eventsOf(request, cursor);
  if (listed === null) return errorPage(request, 'trouble');
  const { events, hasMore } = listed;
  const isBack = 'ending_before' in cursor;
  const kept = Object.fromEntries(['type', 'from', 'to'].map((name) => [name, query.get(name) ?? '']));
  const [first, last] = [events[0], events.at(-1)];
  const pages = ui.pager(request, active, {
    newer: first && (isBack ? hasMore : !isNewest) ? { ...kept, ending_before: first.id } : null,
    older: last && (isBack || hasMore) ? { ...kept, starting_after: last.id } : null,
  });
  const shown = eventTable(request, events);
  return page(request, {
    title: say(active),
    scripts: isNewest ? [tailScript] : [],
    body: [filterForm(request), isNewest ? liveList(request, tailPath, shown) : shown, pages],
  });
}

function eventTable(request: ViewRequest, events: readonly Event[]): Html {
  const { language } = request;
  const say = sayWebhooks(request);
  const columns: ui.Column<Event>[] = [
    [
      say('type'),
      ({ id, type, sample }) =>
        html`<a href="${viewLink(request, `events/${id}`)}" dir="ltr">${type}</a>${sample === true && html` ${sampleBadge(request)}`}`,
    ],
    [say('object'), ({ data }) => html`<code dir="ltr">${(data.object as { id: string }).id}</code>`],
    [say('created'), ({ created }) => ui.time(language, created * 1000)],
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
  const { language, organization, mode } = request;
  const say = sayWebhooks(request);
  const found = await request.api('retrieve_event', { id: request.id });
  if (!found.ok) return errorPage(request, 'missing');
  const event = found.body;
  const scope = scopeOf(organization.id, mode === 'live');
  const index = fieldIndex('delivery', scope, 'event', event.id);
  const deliveries = await records<DeliveryRecord>(request.services, organization.id, index);
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
