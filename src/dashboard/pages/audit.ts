// The audit log of an organization: what its members did, and what operators did for it, newest
// first. Operators have no names here, and what they gave with an action is theirs.

import { kindOfId, memberPrefix } from '../../contract/id-prefixes.ts';
import { formatAmount } from '../../core/money.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import type { OperatorRow, PlacedRow } from '../../operator/audit/audit-row.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { tooManyPage } from '../layout/errors.ts';
import { pageOfObject } from '../layout/links.ts';
import { get, type Row, type Saying, saying } from '../layout/row.ts';
import { auditMessages, sayAudit } from '../messages/audit.ts';
import { sayLayout } from '../messages/layout.ts';
import { saySettings } from '../messages/settings.ts';

const active = 'audit';
const shownMax = 50;
/** So many actions are looked at for a page that is filtered. */
const readMax = 1_000;
const operator = 'operator';

export const auditRows: readonly Row[] = saying(saySettings, [get('audit', 'audit.read', list)]);

type Request = Saying<typeof saySettings>;

const outcomes = {
  asked: ['asked', 'warn'],
  done: ['done_outcome', 'good'],
  refused: ['refused', 'plain'],
  usage: ['refused', 'plain'],
  failed: ['failed', 'bad'],
} as const satisfies Record<OperatorRow['outcome'], readonly [key: string, tone: ui.Tone]>;

async function list(request: Request): Promise<DashboardAnswer> {
  const [who = '', action = '', before = ''] = ['who', 'action', 'before'].map(
    (name) => request.query.get(name) ?? '',
  );
  const isPlace = /^\d{1,15}$/.test(before);
  const find = () => actionsFor(request.actionsOf(isPlace ? Number(before) : null), who, action);
  const found = await request.search(false, find);
  if ('waitSeconds' in found) return tooManyPage(request, found);
  const { shown, actions, older } = found;
  const none = older === null ? 'audit_none' : 'audit_none_yet';
  return page(request, {
    body: [
      html`<p>${request.say('audit_intro')}</p>`,
      filterForm(request, actions),
      actionTable(request, shown, ui.emptyState(request.say(none))),
      ui.pager(request, active, {
        newer: isPlace ? { who, action } : null,
        older: older === null ? null : { who, action, before: String(older) },
      }),
    ],
  });
}

interface FoundActions {
  readonly shown: readonly OperatorRow[];
  /** The names of the actions that were looked at. */
  readonly actions: ReadonlySet<string>;
  /** The place before which there may be more; null: there are none. */
  readonly older: number | null;
}

async function actionsFor(
  placed: AsyncIterable<PlacedRow>,
  who: string,
  action: string,
): Promise<FoundActions> {
  const actions = new Set(action === '' ? [] : [action]);
  const shown: OperatorRow[] = [];
  let read = 0;
  let last: number | null = null;
  for await (const { place, row } of placed) {
    if (shown.length === shownMax || read++ === readMax) return { shown, actions, older: last };
    last = place;
    actions.add(row.action);
    if ((who === '' || who === authorOf(row)) && (action === '' || action === row.action)) shown.push(row);
  }
  return { shown, actions, older: null };
}

/** The member's id, or `operator`. */
function authorOf({ by }: OperatorRow): string {
  return by !== null && 'member' in by ? by.member : operator;
}

function actionTable(request: Request, rows: readonly OperatorRow[], empty: Html) {
  const { say } = request;
  return ui.list(
    sayLayout(request)(active),
    [
      [
        say('action'),
        (row) =>
          html`${sentenceOf(request, row)}<br><code class="muted" dir="ltr">${row.action}</code>${detailsOf(request, row)}`,
      ],
      [
        say('outcome'),
        ({ outcome }) => {
          const [key, tone] = outcomes[outcome];
          return ui.badge(say(key), tone);
        },
      ],
      [say('at'), ({ at }) => ui.time(request.language, Date.parse(at))],
    ],
    rows,
    empty,
  );
}

/** What was done, by whom and to what, as a sentence with a link to it. */
function sentenceOf(request: Request, row: OperatorRow): Html {
  const { language, services } = request;
  const say = sayAudit(request);
  const { action, object, outcome } = row;
  const author = authorOf(row);
  const settings = saySettings(request);
  const nameOf = (id: string) => services.directory.members.find(id)?.name ?? settings('former');
  const who = author === operator ? settings(operator) : nameOf(author);
  // What an operator gave with an action is the operator's.
  const given = (author === operator ? {} : (row.params ?? {})) as Readonly<Record<string, unknown>>;
  const named = ['id', 'member', 'endpoint', 'delivery', 'key', 'review', 'email', 'network'].map(
    (name) => given[name],
  );
  const about = [...named, object].find((value) => typeof value === 'string') as string | undefined;
  const amount = typeof given.amount === 'number' ? formatAmount(given.amount, 'mad', language) : '';
  const key = action in auditMessages ? (action as keyof typeof auditMessages) : 'other';
  // No name has this character, so the link takes its place.
  const gap = '\u0000';
  const said = say(key, { who, action, amount, object: gap });
  const isDone = outcome === 'done' || outcome === 'asked';
  const sentence = isDone ? said : say('not_done', { sentence: said });
  const [before = '', after] = sentence.split(gap);
  if (after === undefined) return html`${before}`;
  const text = about?.startsWith(memberPrefix) ? nameOf(about) : (about ?? '–');
  const path = about === undefined ? null : placeOf(about, action);
  const mode = given.mode === 'live' || given.mode === 'test' ? given.mode : request.mode;
  const shown = path === null ? html`<bdi>${text}</bdi>` : ui.linked({ ...request, mode }, path, text);
  return html`${before}${shown}${after}`;
}

/** The page of what an action was about; null when there is none. */
function placeOf(id: string, action: string): string | null {
  if (id.startsWith(memberPrefix)) return `members/${id}`;
  if (action.startsWith('key.')) return 'keys';
  const kind = kindOfId(id);
  return kind === 'refund' || kind === 'charge' ? `payments?q=${id}` : pageOfObject(id);
}

/** What a member gave with an action. */
function detailsOf(request: Request, row: OperatorRow): Html | null {
  if (authorOf(row) === operator) return null;
  return html` <details><summary>${request.say('details')}</summary>${ui.code(JSON.stringify(row.params))}</details>`;
}

function filterForm(request: Request, actions: ReadonlySet<string>) {
  const { organization, say, services } = request;
  const members = services.directory.members.of(organization.id).map(({ id, email }) => [id, email] as const);
  return ui.filters(request, active, (filter) => [
    ui.select(filter, 'who', [['', say('anybody')], ...members, [operator, say(operator)]]),
    ui.select(filter, 'action', [['', say('any_action')], ...[...actions].sort()]),
  ]);
}
