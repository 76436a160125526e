// The audit log of an organization: what its members did, and what operators did for it, newest first. Operators have no names here,
// and what they gave with an action is theirs.

import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import type { OperatorRow } from '../../operator/audit/audit-trail.ts';
import {
  badge,
  code,
  emptyState,
  filters,
  pager,
  select,
  type Tone,
  table,
  time,
} from '../layout/components.ts';
import { page } from '../layout/document.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { saySettings } from '../messages/settings.ts';

const active = 'audit';
const shownMax = 50;
/** So many actions are looked at for a page that is filtered. */
const readMax = 1_000;
const operator = 'operator';

export const auditRows: readonly Row[] = [
  { method: 'GET', path: 'audit', permission: 'audit.read', handle: list },
];

const outcomes = {
  asked: ['asked', 'warn'],
  done: ['done_outcome', 'good'],
  refused: ['refused', 'plain'],
  usage: ['refused', 'plain'],
  failed: ['failed', 'bad'],
} as const satisfies Record<
  OperatorRow['outcome'],
  readonly [key: Parameters<typeof saySettings>[0], tone: Tone]
>;

async function list(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, query } = visit;
  const [who = '', action = '', before = ''] = ['who', 'action', 'before'].map(
    (name) => query.get(name) ?? '',
  );
  const isPlace = /^\d{1,15}$/.test(before);
  const actions = new Set(action === '' ? [] : [action]);
  const shown: OperatorRow[] = [];
  let read = 0;
  let last: number | null = null;
  let older: number | null = null;
  for await (const { place, row } of desk.actionsOf(visit, isPlace ? Number(before) : null)) {
    if (shown.length === shownMax || read++ === readMax) {
      older = last;
      break;
    }
    last = place;
    actions.add(row.action);
    if ((who === '' || who === authorOf(row)) && (action === '' || action === row.action)) shown.push(row);
  }
  const none = older === null ? 'audit_none' : 'audit_none_yet';
  return page(visit, {
    active,
    title: sayFrame(active, language),
    body: [
      html`<p>${saySettings('audit_intro', language)}</p>`,
      filterForm(visit, desk, actions),
      shown.length === 0 ? emptyState(saySettings(none, language)) : actionTable(visit, desk, shown),
      pager(visit, active, {
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

function actionTable(visit: Visit, desk: Desk, rows: readonly OperatorRow[]) {
  const { language } = visit;
  const say = (key: Parameters<typeof saySettings>[0]) => saySettings(key, language);
  const nameOf = (row: OperatorRow) => {
    const author = authorOf(row);
    return author === operator
      ? say(operator)
      : (desk.services.directory.members.find(author)?.email ?? say('former'));
  };
  return table(
    sayFrame(active, language),
    [
      { heading: say('at'), cell: ({ at }) => time(language, Date.parse(at)) },
      { heading: say('who'), cell: (row) => nameOf(row) },
      { heading: say('action'), cell: ({ action }) => html`<code dir="ltr">${action}</code>` },
      {
        heading: say('about'),
        cell: (row) => (authorOf(row) === operator ? (row.object ?? '–') : code(JSON.stringify(row.params))),
      },
      {
        heading: say('outcome'),
        cell: ({ outcome }) => {
          const [key, tone] = outcomes[outcome];
          return badge(say(key), tone);
        },
      },
    ],
    rows,
  );
}

function filterForm(visit: Visit, { services }: Desk, actions: ReadonlySet<string>) {
  const { language, organization, query } = visit;
  const members = services.directory.members.of(organization.id).map(({ id, email }) => [id, email] as const);
  return filters(visit, active, [
    select({
      name: 'who',
      label: saySettings('who', language),
      value: query.get('who') ?? '',
      choices: [
        ['', saySettings('anybody', language)],
        ...members,
        [operator, saySettings(operator, language)],
      ],
    }),
    select({
      name: 'action',
      label: saySettings('action', language),
      value: query.get('action') ?? '',
      choices: [
        ['', saySettings('any_action', language)],
        ...[...actions].sort().map((each) => [each, each] as const),
      ],
    }),
  ]);
}
