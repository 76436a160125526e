// The pages for request logs: a list that is searched and stays up to date, and each request with
// its answer, what it changed, and the events that it caused.

import { setTimeout as wait } from 'node:timers/promises';
import { kindOfId } from '../../contract/id-prefixes.ts';
import { listLimitMax } from '../../contract/limits.ts';
import type { LoggedRequest } from '../../contract/routes/logged-request.ts';
import { timeOfId } from '../../core/ids.ts';
import { lazily } from '../../core/lazily.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import type { OperatorServices } from '../../operator/use-cases/services.ts';
import { isPlaceInAll } from '../../request-logs/all-nodes.ts';
import type { Gap } from '../../request-logs/logged-request.ts';
import type { FoundPage, FoundRequest } from '../../request-logs/query.ts';
import { type LogFilter, statusRangeOf } from '../../request-logs/search.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { pageOfObject, viewLink } from '../layout/links.ts';
import { listPage, tailAnswer } from '../layout/live-list.ts';
import {
  get,
  type Problems,
  type ResultOf,
  type Row,
  refused,
  type Saying,
  saying,
  viewOf,
} from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayRequests } from '../messages/requests.ts';
import { periodIn } from './period.ts';

const active = 'requests';
const tailPath = 'requests/tail';
const shownMax = 50;

type Request = Saying<typeof sayRequests>;

export const requestRows: readonly Row[] = saying(sayRequests, [
  get(active, 'developers.read', showList),
  get(tailPath, 'developers.read', streamList),
  get('requests/{id}', 'developers.read', showRequest),
]);

const filterNames = ['q', 'status', 'path', 'from', 'to'] as const;
const filterValue = ({ query }: Request, name: (typeof filterNames)[number]) =>
  (query.get(name) ?? '').trim();
const isFiltered = (request: Request) => filterNames.some((name) => filterValue(request, name) !== '');

async function showList(request: Request): Promise<DashboardAnswer> {
  const text = filterValue(request, 'q');
  if (kindOfId(text) === 'request')
    return redirect(viewLink(request, `requests/${encodeURIComponent(text)}`));
  const found = await search(request);
  const kept = Object.fromEntries(filterNames.map((name) => [name, filterValue(request, name)]));
  const isNewest = !request.query.has('before');
  const queries = {
    newer: isNewest ? null : kept,
    older: found?.older ? { ...kept, before: found.older } : null,
  };
  const shown = refused(request, problemsOf(request), 200);
  return listPage(shown, filterForm(shown), listOf(request, found), queries, isNewest ? tailPath : null);
}

async function streamList(request: Request): Promise<DashboardAnswer> {
  return tailAnswer(request, 'requests', listOf(request, await search(request)));
}

function search(request: Request): Promise<FoundPage | null> {
  const { organization, mode, query, services } = request;
  const before = query.get('before') ?? '';
  return services.requestLogs('search', {
    scope: { org: organization.id, mode },
    filter: filterOf(request),
    limit: shownMax,
    before: isPlaceInAll(before) ? before : null,
  });
}

/** The filters of the address. The text of the search is an object's id, or an idempotency key. */
function filterOf(request: Request): LogFilter {
  const text = filterValue(request, 'q');
  const path = filterValue(request, 'path');
  const { fromMs, toMs } = periodIn(request);
  return {
    since: fromMs ?? undefined,
    until: toMs ?? undefined,
    status: statusRangeOf(filterValue(request, 'status')) ?? undefined,
    path: path === '' ? undefined : path,
    object: kindOfId(text) === undefined ? undefined : text,
    idempotencyKey: text === '' || kindOfId(text) !== undefined ? undefined : text,
  };
}

/** What is wrong with the filters. Each one that makes no sense is left out. */
function problemsOf(request: Request): Problems {
  const status = filterValue(request, 'status');
  const isStatus = status === '' || statusRangeOf(status) !== null;
  return { ...(!isStatus && { status: request.say('choice_invalid') }), ...periodIn(request).problems };
}

function filterForm(request: Request): Html {
  const { say } = request;
  const outcomes = [
    ['', say('any_status')],
    ['2xx', say('succeeded')],
    ['4xx', say('refused')],
    ['5xx', say('failed')],
  ] as const;
  return ui.filters(request, active, (filter) => [
    ui.field(filter, 'search', { name: 'q', type: 'search', ltr: true }),
    ui.select(filter, 'status', [...outcomes, ...shownStatuses]),
    ui.field(filter, 'path', { ltr: true }),
    ui.field(filter, 'from', { type: 'date' }),
    ui.field(filter, 'to', { type: 'date' }),
  ]);
}

const shownStatuses = ['400', '401', '402', '403', '404', '409', '429', '500', '503'];

function listOf(request: Request, found: FoundPage | null): Html {
  const { say } = request;
  if (found === null) return ui.emptyState(say('unavailable'));
  const none = html`<p>${say('none_text')}</p>`;
  const empty = isFiltered(request) ? ui.emptyState(say('none_found')) : ui.emptyState(say('none'), none);
  const emptyYet = found.older === null ? empty : ui.emptyState(say('none_found_yet'));
  return html`${missingOf(request, found)}
${ui.list(sayLayout(request)(active), columnsOf(request), found.found, emptyYet)}`;
}

/** Says whose requests are missing; null: nobody's are. */
function missingOf({ say }: Request, { unanswered }: Pick<FoundPage, 'unanswered'>): Html | null {
  if (unanswered.length === 0) return null;
  return html`<div class="notice warn"><p>${say('unanswered', { nodes: unanswered.join(', ') })}</p></div>`;
}

function columnsOf(request: Request): ui.Column<LoggedRequest | Gap>[] {
  const { say } = request;
  type Cell = (entry: LoggedRequest) => Html | string | null;
  const ofRequest = (cell: Cell) => (entry: LoggedRequest | Gap) => ('missing' in entry ? null : cell(entry));
  return [
    [
      say('request'),
      (entry) =>
        'missing' in entry
          ? say('missing_entries', { count: entry.missing })
          : ui.linkedCode(request, `requests/${entry.request}`, `${entry.method} ${entry.path}`),
    ],
    [
      say('status'),
      ofRequest(({ status, code: reason }) => {
        const shown = ui.badge(String(status), toneOf(status));
        return reason === null ? shown : html`${shown} <code dir="ltr">${reason}</code>`;
      }),
    ],
    [
      say('idempotency_key'),
      ofRequest(
        ({ idempotency_key: key, replayed }) =>
          key && html`<code dir="ltr">${key}</code>${replayed && html` ${ui.badge(say('replayed'))}`}`,
      ),
    ],
    [
      say('duration'),
      ofRequest(({ duration_ms }) => html`${say('milliseconds', { count: duration_ms })}`),
      'numeric',
    ],
    [say('time'), ({ time }) => exactTime(time)],
  ];
}

function toneOf(status: number): ui.Tone {
  if (status < 400) return 'good';
  return status < 500 ? 'warn' : 'bad';
}

const timeFormat = lazily(
  () =>
    new Intl.DateTimeFormat('sv-SE', {
      timeZone: 'Africa/Casablanca',
      dateStyle: 'short',
      timeStyle: 'medium',
    }),
);

/** A time in Morocco with its seconds, in digits, as logs are read. */
function exactTime(iso: string): Html {
  return html`<time datetime="${iso}" dir="ltr">${timeFormat().format(new Date(iso))}</time>`;
}

async function showRequest(request: Request): Promise<DashboardAnswer> {
  const { say } = request;
  const found = await findWritten(request);
  const entry = found?.entry ?? null;
  if (entry === null) {
    const body = [
      found && missingOf(request, found),
      ui.emptyState(say('not_kept'), html`<p>${say('not_kept_text')}</p>`),
    ];
    return page(request, { status: 404, title: request.id, body });
  }
  const { method, path, query, request_body, request_cut, answer_body, answer_cut, masked } = entry;
  const events = await eventsOf(request, entry);
  return page(request, {
    title: `${method} ${path}`,
    body: [
      masked ? html`<div class="notice"><p>${say('masked')}</p></div>` : null,
      ui.definitions(factsOf(request, entry)),
      events.length > 0 ? ui.section(say('events'), eventList(request, events)) : null,
      ui.section(say('request'), [
        ...(query === '' ? [] : [ui.code(`?${query}`)]),
        ...bodyOf(request, request_body, request_cut),
      ]),
      ui.section(say('answer'), bodyOf(request, answer_body, answer_cut)),
    ],
  });
}

/** An entry is written within this time after its request, unless the disk is slow. */
const writtenMs = 2_000;
const pollMs = 100;

/** Finds a request; one that was just made may wait in the buffer of its edge for half a second. */
async function findWritten({ organization, mode, id, services }: Request): Promise<FoundRequest | null> {
  const scope = { org: organization.id, mode };
  for (;;) {
    const found = await services.requestLogs('find', { scope, request: id });
    if (found?.entry || !isRecent(id, services)) return found;
    await wait(pollMs);
  }
}

function isRecent(request: string, { now }: Pick<OperatorServices, 'now'>): boolean {
  const ageMs = now() - timeOfId(request);
  return ageMs >= 0 && ageMs < writtenMs;
}

function factsOf(
  request: Request,
  entry: LoggedRequest,
): readonly (readonly [string, Html | string | null])[] {
  const { say } = request;
  const { status, code: reason, idempotency_key: key, original_request: original, object } = entry;
  return [
    [say('request'), ui.copyable(request, entry.request)],
    [say('time'), exactTime(entry.time)],
    [say('status'), ui.badge(String(status), toneOf(status))],
    [say('code'), reason && html`<code dir="ltr">${reason}</code>`],
    [say('duration'), say('milliseconds', { count: entry.duration_ms })],
    [say('object'), object && objectLink(request, object)],
    [say('idempotency_key'), key && ui.linkedCode(request, active, key, { q: key })],
    [say('replay_of'), original && ui.linkedCode(request, `requests/${original}`, original)],
    [say('api_version'), entry.api_version],
    [say('key'), entry.key && html`<code dir="ltr">${entry.key}</code>`],
    [
      say('member'),
      entry.member && (request.services.directory.members.find(entry.member)?.name ?? entry.member),
    ],
    [say('address'), entry.address && html`<code dir="ltr">${entry.address}</code>`],
  ];
}

/** Leads to the object where the member may see it, and otherwise to the requests about it. */
function objectLink(request: Request, object: string): Html {
  const path = pageOfObject(object);
  const isOpen = path !== null && request.views.includes(viewOf(path));
  if (isOpen) return ui.linkedCode(request, path, object);
  return ui.linkedCode(request, active, object, { q: object });
}

type Event = ResultOf<'retrieve_event'>;
/** An event happens before its request is answered; its time has whole seconds. */
const eventSpanSeconds = 60;
const eventPagesMax = 5;

/** The events that name the request, of the time in which it was answered. */
async function eventsOf(request: Request, entry: LoggedRequest): Promise<Event[]> {
  if (!request.views.includes('events') || entry.method === 'GET') return [];
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
    const listed = await request.api('list_events', { query });
    if (!listed.ok) break;
    const events = listed.body.data as Event[];
    found.push(...events.filter((event) => event.request.id === entry.request));
    after = events.at(-1)?.id;
    if (!listed.body.has_more) break;
  }
  return found;
}

function eventList(request: Request, events: readonly Event[]): Html {
  const items = events.map(({ id, type }) => html`<li>${ui.linkedCode(request, `events/${id}`, type)}</li>`);
  return html`<ul>${items}</ul>`;
}

/** A body with a field on each line, as far as it is whole. */
function bodyOf({ say }: Request, body: string, isCut: boolean): Html[] {
  if (body === '') return [html`<p>${say('no_body')}</p>`];
  const note = html`<p>${say('body_cut')}</p>`;
  return [ui.code(indented(body)), ...(isCut ? [note] : [])];
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
