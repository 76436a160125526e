// The room for events: a list by type and day, and each event as it is sent, with its deliveries.

import { sentEventTypes } from '../../contract/vocabulary.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import { fieldIndex, scopeOf } from '../../domain/indexes.ts';
import type { DeliveryRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { records } from '../../operator/use-cases/shard-records.ts';
import { tailScript } from '../layout/assets.ts';
import {
  code,
  copyable,
  definitions,
  emptyState,
  field,
  filters,
  pager,
  section,
  select,
  table,
  time,
} from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import { liveList, tailAnswer } from '../layout/live-list.ts';
import type { Desk, ResultOf, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayWebhooks } from '../messages/webhooks.ts';
import { deliveryTable } from './deliveries.ts';

const active = 'events';
const tailPath = 'events/tail';
const shownMax = 25;
type Event = ResultOf<'retrieve_event'>;

export const eventRows: readonly Row[] = [
  { method: 'GET', path: 'events', permission: 'developers.read', handle: list },
  { method: 'GET', path: tailPath, permission: 'developers.read', handle: streamList },
  { method: 'GET', path: 'events/{id}', permission: 'developers.read', handle: show },
];

/** The filters of the address, as parameters of the API's list. */
function filtersOf({ query }: Visit): Record<string, string> {
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
async function eventsOf(visit: Visit, desk: Desk, cursor: Readonly<Record<string, string>> = {}) {
  const listed = await desk.api(visit, 'list_events', {
    query: { limit: String(shownMax), ...filtersOf(visit), ...cursor },
  });
  return listed.ok ? { events: listed.body.data as Event[], hasMore: listed.body.has_more } : null;
}

async function streamList(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const listed = await eventsOf(visit, desk);
  if (listed === null) return errorPage(visit, 'trouble');
  return tailAnswer(visit, 'events', eventTable(visit, listed.events));
}

async function list(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, query } = visit;
  const cursors = ['starting_after', 'ending_before'].filter((name) => query.has(name)).slice(0, 1);
  const cursor = Object.fromEntries(cursors.map((name) => [name, query.get(name)!]));
  const isNewest = cursors.length === 0;
  const listed = await eventsOf(visit, desk, cursor);
  if (listed === null) return errorPage(visit, 'trouble');
  const { events, hasMore } = listed;
  const isBack = 'ending_before' in cursor;
  const kept = Object.fromEntries(['type', 'from', 'to'].map((name) => [name, query.get(name) ?? '']));
  const [first, last] = [events[0], events.at(-1)];
  const pages = pager(visit, active, {
    newer: first && (isBack ? hasMore : !isNewest) ? { ...kept, ending_before: first.id } : null,
    older: last && (isBack || hasMore) ? { ...kept, starting_after: last.id } : null,
  });
  const shown = eventTable(visit, events);
  return page(visit, {
    active,
    title: sayFrame(active, language),
    scripts: isNewest ? [tailScript] : [],
    body: [filterForm(visit), isNewest ? liveList(visit, tailPath, shown) : shown, pages],
  });
}

function eventTable(visit: Visit, events: readonly Event[]): Html {
  const { language } = visit;
  if (events.length === 0) return emptyState(sayWebhooks('no_event', language));
  const columns = [
    {
      heading: sayWebhooks('type', language),
      cell: ({ id, type }: Event) => html`<a href="${roomLink(visit, `events/${id}`)}" dir="ltr">${type}</a>`,
    },
    {
      heading: sayWebhooks('object', language),
      cell: ({ data }: Event) => html`<code dir="ltr">${(data.object as { id: string }).id}</code>`,
    },
    {
      heading: sayWebhooks('created', language),
      cell: ({ created }: Event) => time(language, created * 1000),
    },
  ];
  return table(sayFrame(active, language), columns, events);
}

function filterForm(visit: Visit) {
  const { language, query } = visit;
  const any = ['', sayWebhooks('any_type', language)] as const;
  const day = (name: 'from' | 'to') =>
    field({ name, label: sayWebhooks(name, language), type: 'date', value: query.get(name) ?? '' });
  return filters(visit, active, [
    select({
      name: 'type',
      label: sayWebhooks('type', language),
      value: query.get('type') ?? '',
      choices: [any, ...sentEventTypes.map((type) => [type, type] as const)],
    }),
    day('from'),
    day('to'),
  ]);
}

async function show(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, organization, mode } = visit;
  const found = await desk.api(visit, 'retrieve_event', { id: visit.id });
  if (!found.ok) return errorPage(visit, 'missing');
  const event = found.body;
  const scope = scopeOf(organization.id, mode === 'live');
  const index = fieldIndex('delivery', scope, 'event', event.id);
  const deliveries = await records<DeliveryRecord>(desk.services, organization.id, index);
  return page(visit, {
    active,
    title: event.type,
    body: [
      definitions([
        [sayWebhooks('id', language), copyable(visit, event.id)],
        [sayWebhooks('created', language), time(language, event.created * 1000)],
        [
          sayWebhooks('request', language),
          event.request.id &&
            html`<a href="${roomLink(visit, `requests/${event.request.id}`)}" dir="ltr">${event.request.id}</a>`,
        ],
        [
          sayWebhooks('idempotency_key', language),
          event.request.idempotency_key && copyable(visit, event.request.idempotency_key),
        ],
      ]),
      section(
        sayWebhooks('deliveries', language),
        deliveries.length === 0
          ? emptyState(sayWebhooks('no_deliveries', language))
          : deliveryTable(visit, deliveries),
      ),
      section(sayWebhooks('body', language), code(JSON.stringify(event, null, 2))),
    ],
  });
}
