// The room for request logs: a list that is searched and stays up to date, and each request with its answer, what it changed, and
// the events that it caused.

import { type IdKind, kindOfId } from '../../contract/id-prefixes.ts';
import { listLimitMax } from '../../contract/limits.ts';
import { moroccoDayBounds } from '../../core/morocco-day.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import type { Gap, LoggedRequest } from '../../request-logs/logged-request.ts';
import { isPlace, type LogFilter, type LogPage, statusRangeOf } from '../../request-logs/search.ts';
import { tailScript } from '../layout/assets.ts';
import {
  badge,
  code,
  copyable,
  definitions,
  emptyState,
  field,
  filters,
  pager,
  section,
  select,
  type Tone,
  table,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { roomLink } from '../layout/links.ts';
import { liveList, tailAnswer } from '../layout/live-list.ts';
import type { Desk, ResultOf, Room, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayRequests } from '../messages/requests.ts';

const active = 'requests';
const tailPath = 'requests/tail';
const shownMax = 50;

export const requestRows: readonly Row[] = [
  { method: 'GET', path: active, permission: 'developers.read', handle: showList },
  { method: 'GET', path: tailPath, permission: 'developers.read', handle: streamList },
  { method: 'GET', path: 'requests/{id}', permission: 'developers.read', handle: showRequest },
];

const filterNames = ['q', 'status', 'path', 'from', 'to'] as const;
const filterValue = ({ query }: Visit, name: (typeof filterNames)[number]) => (query.get(name) ?? '').trim();
const isFiltered = (visit: Visit) => filterNames.some((name) => filterValue(visit, name) !== '');

async function showList(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, query } = visit;
  const text = filterValue(visit, 'q');
  if (kindOfId(text) === 'request') return redirect(roomLink(visit, `requests/${encodeURIComponent(text)}`));
  const found = await search(visit, desk);
  const list = listOf(visit, found);
  const kept = Object.fromEntries(filterNames.map((name) => [name, filterValue(visit, name)]));
  const isNewest = !query.has('before');
  return page(visit, {
    active,
    title: sayFrame(active, language),
    scripts: isNewest ? [tailScript] : [],
    body: [
      filterForm(visit),
      isNewest ? liveList(visit, tailPath, list) : list,
      pager(visit, active, {
        newer: isNewest ? null : kept,
        older: found?.older ? { ...kept, before: found.older } : null,
      }),
    ],
  });
}

async function streamList(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  return tailAnswer(visit, 'requests', listOf(visit, await search(visit, desk)));
}

function search(visit: Visit, { services }: Desk): Promise<LogPage | null> {
  const { organization, mode, query } = visit;
  const before = query.get('before') ?? '';
  return services.requestLogs('search', {
    scope: { org: organization.id, mode },
    filter: filterOf(visit),
    limit: shownMax,
    before: isPlace(before) ? before : null,
  });
}

/** The filters of the address. The text of the search is an object's id, or an idempotency key. */
function filterOf(visit: Visit): LogFilter {
  const text = filterValue(visit, 'q');
  const path = filterValue(visit, 'path');
  return {
    since: moroccoDayBounds(filterValue(visit, 'from'))?.fromMs,
    until: moroccoDayBounds(filterValue(visit, 'to'))?.toMs,
    status: statusRangeOf(filterValue(visit, 'status')) ?? undefined,
    path: path === '' ? undefined : path,
    object: kindOfId(text) === undefined ? undefined : text,
    idempotencyKey: text === '' || kindOfId(text) !== undefined ? undefined : text,
  };
}

function filterForm(visit: Visit): Html {
  const { language } = visit;
  const day = (name: 'from' | 'to') =>
    field({ name, label: sayRequests(name, language), type: 'date', value: filterValue(visit, name) });
  return filters(visit, active, [
    field({
      name: 'q',
      label: sayRequests('search', language),
      type: 'search',
      value: filterValue(visit, 'q'),
      ltr: true,
    }),
    select({
      name: 'status',
      label: sayRequests('status', language),
      value: filterValue(visit, 'status'),
      choices: [
        ['', sayRequests('any_status', language)],
        ['2xx', sayRequests('succeeded', language)],
        ['4xx', sayRequests('refused', language)],
        ['5xx', sayRequests('failed', language)],
        ...shownStatuses.map((status) => [status, status] as const),
      ],
    }),
    field({
      name: 'path',
      label: sayRequests('path', language),
      value: filterValue(visit, 'path'),
      ltr: true,
    }),
    day('from'),
    day('to'),
  ]);
}

const shownStatuses = ['400', '401', '402', '403', '404', '409', '429', '500', '503'];

function listOf(visit: Visit, found: LogPage | null): Html {
  const { language } = visit;
  if (found === null) return emptyState(sayRequests('unavailable', language));
  if (found.found.length > 0) return table(sayFrame(active, language), columnsOf(visit), found.found);
  if (found.older !== null) return emptyState(sayRequests('none_found_yet', language));
  if (isFiltered(visit)) return emptyState(sayRequests('none_found', language));
  return emptyState(sayRequests('none', language), html`<p>${sayRequests('none_text', language)}</p>`);
}

function columnsOf(visit: Visit) {
  const { language } = visit;
  const column = (heading: string, cell: (entry: LoggedRequest) => Html | string | null) => ({
    heading,
    cell: (entry: LoggedRequest | Gap) => ('missing' in entry ? null : cell(entry)),
  });
  return [
    {
      heading: sayRequests('request', language),
      cell: (entry: LoggedRequest | Gap) =>
        'missing' in entry
          ? sayRequests('missing_entries', language, { count: entry.missing })
          : html`<a href="${roomLink(visit, `requests/${entry.request}`)}" dir="ltr">${entry.method} ${entry.path}</a>`,
    },
    column(sayRequests('status', language), ({ status, code: reason }) => {
      const shown = badge(String(status), toneOf(status));
      return reason === null ? shown : html`${shown} <code dir="ltr">${reason}</code>`;
    }),
    column(sayRequests('idempotency_key', language), ({ idempotency_key, replayed }) => {
      if (idempotency_key === null) return null;
      const note = replayed && html` ${badge(sayRequests('replayed', language))}`;
      return html`<code dir="ltr">${idempotency_key}</code>${note || null}`;
    }),
    {
      heading: sayRequests('time', language),
      cell: (entry: LoggedRequest | Gap) => exactTime(entry.time),
    },
  ];
}

function toneOf(status: number): Tone {
  if (status < 400) return 'good';
  return status < 500 ? 'warn' : 'bad';
}

const timeFormat = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Africa/Casablanca',
  dateStyle: 'short',
  timeStyle: 'medium',
});

/** A time in Morocco with its seconds, in digits, as logs are read. */
function exactTime(iso: string): Html {
  return html`<time datetime="${iso}" dir="ltr">${timeFormat.format(new Date(iso))}</time>`;
}

async function showRequest(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, organization, mode, id } = visit;
  const scope = { org: organization.id, mode };
  const entry = await desk.services.requestLogs('find', { scope, request: id });
  if (entry === null) return missingPage(visit);
  const { method, path, query, request_body, request_cut, answer_body, answer_cut, masked } = entry;
  const events = await eventsOf(visit, desk, entry);
  return page(visit, {
    active,
    title: `${method} ${path}`,
    body: [
      masked ? html`<div class="notice"><p>${sayRequests('masked', language)}</p></div>` : null,
      definitions(factsOf(visit, desk, entry)),
      events.length > 0 ? section(sayRequests('events', language), eventList(visit, events)) : null,
      section(
        sayRequests('request', language),
        [query === '' ? null : code(`?${query}`), ...bodyOf(visit, request_body, request_cut)].filter(
          (part) => part !== null,
        ),
      ),
      section(sayRequests('answer', language), bodyOf(visit, answer_body, answer_cut)),
    ],
  });
}

function missingPage(visit: Visit): DashboardAnswer {
  const { language, id } = visit;
  const body = html`<p>${sayRequests('not_kept_text', language)}</p>`;
  return page(visit, {
    active,
    status: 404,
    title: id,
    body: emptyState(sayRequests('not_kept', language), body),
  });
}

function factsOf(
  visit: Visit,
  { services }: Desk,
  entry: LoggedRequest,
): readonly (readonly [string, Html | string | null])[] {
  const { language } = visit;
  const { status, code: reason, idempotency_key: key, original_request: original, object } = entry;
  const found = (text: string) =>
    html`<a href="${roomLink(visit, active, { q: text })}" dir="ltr">${text}</a>`;
  return [
    [sayRequests('request', language), copyable(visit, entry.request)],
    [sayRequests('time', language), exactTime(entry.time)],
    [sayRequests('status', language), badge(String(status), toneOf(status))],
    [sayRequests('code', language), reason && html`<code dir="ltr">${reason}</code>`],
    [sayRequests('duration', language), sayRequests('milliseconds', language, { count: entry.duration_ms })],
    [sayRequests('object', language), object && objectLink(visit, object)],
    [sayRequests('idempotency_key', language), key && found(key)],
    [
      sayRequests('replay_of', language),
      original && html`<a href="${roomLink(visit, `requests/${original}`)}" dir="ltr">${original}</a>`,
    ],
    [sayRequests('api_version', language), entry.api_version],
    [sayRequests('key', language), entry.key && html`<code dir="ltr">${entry.key}</code>`],
    [
      sayRequests('member', language),
      entry.member && (services.directory.members.find(entry.member)?.name ?? entry.member),
    ],
    [sayRequests('address', language), entry.address && html`<code dir="ltr">${entry.address}</code>`],
  ];
}

/** The rooms that have a page for each object of a kind. */
const roomsOfKinds: Partial<Record<IdKind, Room>> = {
  payment_intent: 'payments',
  customer: 'customers',
  checkout_session: 'checkout',
  review: 'reviews',
  webhook_endpoint: 'webhooks',
  event: 'events',
};

/** Leads to the object where the member may see it, and otherwise to the requests about it. */
function objectLink(visit: Visit, object: string): Html {
  const room = roomsOfKinds[kindOfId(object) ?? 'request'];
  const isOpen = room !== undefined && visit.rooms.includes(room);
  const href = isOpen ? roomLink(visit, `${room}/${object}`) : roomLink(visit, active, { q: object });
  return html`<a href="${href}" dir="ltr">${object}</a>`;
}

type Event = ResultOf<'retrieve_event'>;
/** An event happens before its request is answered; its time has whole seconds. */
const eventSpanSeconds = 60;
const eventPagesMax = 5;

/** The events that name the request, of the time in which it was answered. */
async function eventsOf(visit: Visit, desk: Desk, entry: LoggedRequest): Promise<Event[]> {
  if (!visit.rooms.includes('events') || entry.method === 'GET') return [];
  const answered = Math.floor(Date.parse(entry.time) / 1000);
  const began = answered - Math.ceil(entry.duration_ms / 1000) - 1;
  const created = {
    'created[gte]': String(began),
    'created[lte]': String(Math.min(answered + 1, began + eventSpanSeconds)),
  };
  const found: Event[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < eventPagesMax; pages++) {
    const query = {
      limit: String(listLimitMax),
      ...created,
      ...(after !== undefined && { starting_after: after }),
    };
    const listed = await desk.api(visit, 'list_events', { query });
    if (!listed.ok) break;
    const events = listed.body.data as Event[];
    found.push(...events.filter(({ request }) => request.id === entry.request));
    after = events.at(-1)?.id;
    if (!listed.body.has_more) break;
  }
  return found;
}

function eventList(visit: Visit, events: readonly Event[]): Html {
  const items = events.map(
    ({ id, type }) => html`<li><a href="${roomLink(visit, `events/${id}`)}" dir="ltr">${type}</a></li>`,
  );
  return html`<ul>${items}</ul>`;
}

/** A body with a field on each line, as far as it is whole. */
function bodyOf({ language }: Visit, body: string, isCut: boolean): Html[] {
  if (body === '') return [html`<p>${sayRequests('no_body', language)}</p>`];
  const note = html`<p>${sayRequests('body_cut', language)}</p>`;
  return [code(indented(body)), ...(isCut ? [note] : [])];
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
