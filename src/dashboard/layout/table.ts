// The table of the dashboard's routes below an organization and a mode. Each view brings its rows.

import type { Role } from '../../directory/members.ts';
import { auditRows } from '../pages/audit.ts';
import { cashRows } from '../pages/cash.ts';
import { checkoutRows } from '../pages/checkout.ts';
import { customerRows } from '../pages/customers.ts';
import { deliveryRows } from '../pages/deliveries.ts';
import { eventRows } from '../pages/events.ts';
import { homeRows } from '../pages/home.ts';
import { keyRows } from '../pages/keys.ts';
import { limitRows } from '../pages/limits.ts';
import { memberRows } from '../pages/members.ts';
import { paymentRows } from '../pages/payment.ts';
import { paymentsRows } from '../pages/payments.ts';
import { requestRows } from '../pages/requests.ts';
import { reviewRows } from '../pages/reviews.ts';
import { settingsRows } from '../pages/settings.ts';
import { webhookRows } from '../pages/webhooks.ts';
import { mayDo } from '../people/roles.ts';
import { type Row, type View, views } from './row.ts';

export const dashboardRows: readonly Row[] = [
  ...homeRows,
  ...paymentsRows,
  ...paymentRows,
  ...cashRows,
  ...customerRows,
  ...checkoutRows,
  ...reviewRows,
  ...keyRows,
  ...webhookRows,
  ...deliveryRows,
  ...eventRows,
  ...requestRows,
  ...limitRows,
  ...settingsRows,
  ...memberRows,
  ...auditRows,
];

interface RowMatch {
  readonly row: Row;
  readonly id: string;
}

/** The row for a path, and the id in it. `otherMethod`: the path has no such method. */
export function matchRow(method: 'GET' | 'POST', path: string): RowMatch | 'missing' | 'otherMethod' {
  const segments = path.split('/');
  let found: RowMatch | 'missing' | 'otherMethod' = 'missing';
  for (const row of dashboardRows) {
    const id = idIn(row.path.split('/'), segments);
    if (id === null) continue;
    if (row.method !== method) {
      if (found === 'missing') found = 'otherMethod';
      continue;
    }
    // A row that spells the path out comes before one with an id.
    if (id === '') return { row, id };
    found = { row, id };
  }
  return found;
}

/** The `{id}` of a path; '' when the pattern has none, null when the path does not fit. */
function idIn(pattern: readonly string[], segments: readonly string[]): string | null {
  if (pattern.length !== segments.length) return null;
  let id = '';
  for (const [i, part] of pattern.entries()) {
    const segment = segments[i]!;
    if (part === '{id}' && /^[\w-]{1,100}$/.test(segment)) id = segment;
    else if (part !== segment) return null;
  }
  return id;
}

/** The views that a role may open. */
export function viewsOf(role: Role): View[] {
  return views.filter((view) =>
    dashboardRows.some(
      ({ method, path, permission }) => method === 'GET' && path === view && mayDo(role, permission),
    ),
  );
}

/** The page from which a form at `path` was sent: the nearest one above it. */
export function pageOfForm(path: string): string {
  const segments = path.split('/');
  while (segments.length > 1) {
    const match = matchRow('GET', segments.join('/'));
    if (typeof match === 'object') return segments.join('/');
    segments.pop();
  }
  return segments[0]!;
}
