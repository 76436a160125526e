// The audit log of an organization: what its members did, and what operators did for it, newest first. Operators have no names here,
// and what they gave with an action is theirs.

import type { DashboardAnswer } from '../../edge/dashboard-port.ts';
import { html } from '../../edge/pages/html.ts';
import type { OperatorRow } from '../../operator/server/audit.ts';
import { badge, code, emptyState, filters, pager, select, type Tone, table, time } from '../components.ts';
import { page } from '../document.ts';
import { sayFrame } from '../messages/frame.ts';
import { saySettings } from '../messages/settings.ts';
import type { Desk, Row, Visit } from '../row.ts';
import { createConcern } from './audit-concern.ts';

const active = 'audit';
const shownMax = 50;
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
  const { rows, isWhole } = desk.newestActions();
  const concerns = createConcern(visit, desk);
  const [who, action, before] = ['who', 'action', 'before'].map((name) => query.get(name) ?? '');
  const actions = new Set<string>();
  const shown: OperatorRow[] = [];
  const seen = new Set<string>();
  let isPast = before === '';
  // The row with the outcome of an action comes before the one that asked for it.
  for (const row of rows) {
    if (seen.has(row.id)) continue;
    seen.add(row.id);
    if (!(await concerns(row))) continue;
    actions.add(row.action);
    const fits = (who === '' || who === authorOf(row)) && (action === '' || action === row.action);
    if (isPast && fits && shown.length <= shownMax) shown.push(row);
    if (row.id === before) isPast = true;
  }
  const visible = shown.slice(0, shownMax);
  const pages = pager(visit, active, {
    newer: before === '' ? null : { who: who!, action: action! },
    older: shown.length > shownMax ? { who: who!, action: action!, before: visible.at(-1)!.id } : null,
  });
  return page(visit, {
    active,
    title: sayFrame(active, language),
    body: [
      html`<p>${saySettings('audit_intro', language)}</p>`,
      filterForm(visit, desk, actions),
      visible.length === 0
        ? emptyState(saySettings('audit_none', language))
        : actionTable(visit, desk, visible),
      isWhole ? null : html`<p class="muted">${saySettings('audit_cut', language)}</p>`,
      pages,
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
