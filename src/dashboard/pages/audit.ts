// The audit log of an organization: what its members did, and what operators did for it, newest first. Operators have no names here,
// and what they gave with an action is theirs.

import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import type { OperatorRow } from '../../operator/audit/audit-trail.ts';
import * as ui from '../layout/components.ts';
import { page } from '../layout/document.ts';
import { get, type Row, type ViewContext, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { saySettings } from '../messages/settings.ts';

const active = 'audit';
const shownMax = 50;
/** So many actions are looked at for a page that is filtered. */
const readMax = 1_000;
const operator = 'operator';

export const auditRows: readonly Row[] = [get('audit', 'audit.read', list)];

const outcomes = {
  asked: ['asked', 'warn'],
  done: ['done_outcome', 'good'],
  refused: ['refused', 'plain'],
  usage: ['refused', 'plain'],
  failed: ['failed', 'bad'],
} as const satisfies Record<
  OperatorRow['outcome'],
  readonly [key: Parameters<ReturnType<typeof saySettings>>[0], tone: ui.Tone]
>;

async function list(request: ViewRequest, context: ViewContext): Promise<DashboardAnswer> {
  const { query } = request;
  const say = saySettings(request);
  const [who = '', action = '', before = ''] = ['who', 'action', 'before'].map(
    (name) => query.get(name) ?? '',
  );
  const isPlace = /^\d{1,15}$/.test(before);
  const actions = new Set(action === '' ? [] : [action]);
  const shown: OperatorRow[] = [];
  let read = 0;
  let last: number | null = null;
  let older: number | null = null;
  for await (const { place, row } of context.actionsOf(request, isPlace ? Number(before) : null)) {
    if (shown.length === shownMax || read++ === readMax) {
      older = last;
      break;
    }
    last = place;
    actions.add(row.action);
    if ((who === '' || who === authorOf(row)) && (action === '' || action === row.action)) shown.push(row);
  }
  const none = older === null ? 'audit_none' : 'audit_none_yet';
  return page(request, {
    body: [
      html`<p>${say('audit_intro')}</p>`,
      filterForm(request, context, actions),
      actionTable(request, context, shown, ui.emptyState(say(none))),
      ui.pager(request, active, {
        newer: isPlace ? { who, action } : null,
        older: older === null ? null : { who, action, before: String(older) },
      }),
    ],
  });
}

/** The member's id, or `operator`. */
function authorOf({ by }: OperatorRow): string {
  return by !== null && 'member' in by ? by.member : operator;
}

function actionTable(request: ViewRequest, context: ViewContext, rows: readonly OperatorRow[], empty: Html) {
  const { language } = request;
  const say = saySettings(request);
  const nameOf = (row: OperatorRow) => {
    const author = authorOf(row);
    return author === operator
      ? say(operator)
      : (context.services.directory.members.find(author)?.email ?? say('former'));
  };
  return ui.list(
    sayLayout(request)(active),
    [
      [say('at'), ({ at }) => ui.time(language, Date.parse(at))],
      [say('who'), (row) => nameOf(row)],
      [say('action'), ({ action }) => html`<code dir="ltr">${action}</code>`],
      [
        say('about'),
        (row) => (authorOf(row) === operator ? (row.object ?? '–') : ui.code(JSON.stringify(row.params))),
      ],
      [
        say('outcome'),
        ({ outcome }) => {
          const [key, tone] = outcomes[outcome];
          return ui.badge(say(key), tone);
        },
      ],
    ],
    rows,
    empty,
  );
}

function filterForm(request: ViewRequest, { services }: ViewContext, actions: ReadonlySet<string>) {
  const { organization, query } = request;
  const say = saySettings(request);
  const members = services.directory.members.of(organization.id).map(({ id, email }) => [id, email] as const);
  return ui.filters(request, active, [
    ui.select({
      name: 'who',
      label: say('who'),
      value: query.get('who') ?? '',
      choices: [['', say('anybody')], ...members, [operator, say(operator)]],
    }),
    ui.select({
      name: 'action',
      label: say('action'),
      value: query.get('action') ?? '',
      choices: [['', say('any_action')], ...[...actions].sort().map((each) => [each, each] as const)],
    }),
  ]);
}
