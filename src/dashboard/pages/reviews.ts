// The room with the reviews: money that does not add up, what was expected and what arrived, and how it was settled.

import { formatAmount } from '../../core/money.ts';
import { fieldIndex, scopeOf } from '../../domain/indexes.ts';
import type { ReviewRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { OperatorFailure } from '../../operator/socket/protocol.ts';
import { command, records } from '../../operator/use-cases/shard-records.ts';
import {
  amount,
  badge,
  copyable,
  definitions,
  doneOf,
  emptyState,
  errorSummary,
  filters,
  finalSubmit,
  form,
  pager,
  section,
  select,
  table,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { listPage } from './list-page.ts';
import { paymentLink } from './payment-parts.ts';

export const reviewRows: readonly Row[] = [
  { method: 'GET', path: 'reviews', permission: 'payments.read', handle: listReviews },
  {
    method: 'GET',
    path: 'reviews/{id}',
    permission: 'payments.read',
    handle: (visit, desk) => showReview(visit, desk),
  },
  { method: 'POST', path: 'reviews/{id}/settle', permission: 'reviews.write', handle: settleReview },
];

type Review = Pick<
  ReviewRecord,
  | 'id'
  | 'created'
  | 'payment_intent'
  | 'charge'
  | 'open'
  | 'reason'
  | 'amount_expected'
  | 'amount_received'
  | 'closed_reason'
>;

/** The open reviews of an organization in one mode, newest first. */
export function openReviews({ organization, mode }: Visit, { services }: Desk): Promise<ReviewRecord[]> {
  const index = fieldIndex('review', scopeOf(organization.id, mode === 'live'), 'open', 'true');
  return records<ReviewRecord>(services, organization.id, index);
}

async function listReviews(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { language, query } = visit;
  const all = query.get('show') === 'all';
  const none = { newer: null, older: null };
  const { data, queries } = all
    ? await listPage<Review>(visit, desk, 'list_reviews')
    : { data: await openReviews(visit, desk), queries: none };
  const shown = { newer: withAll(queries.newer), older: withAll(queries.older) };
  const empty = emptyState(
    sayShop('no_open_reviews', language),
    html`<p>${sayShop('no_open_reviews_text', language)}</p>`,
  );
  return page(visit, {
    active: 'reviews',
    title: sayFrame('reviews', language),
    body: [
      filters(visit, 'reviews', [
        select({
          name: 'show',
          label: sayShop('show', language),
          value: all ? 'all' : '',
          choices: [
            ['', sayShop('open_reviews', language)],
            ['all', sayShop('all_reviews', language)],
          ],
        }),
      ]),
      data.length === 0 ? empty : reviewsTable(visit, data),
      pager(visit, 'reviews', shown),
    ],
  });
}

function withAll(query: Readonly<Record<string, string>> | null): Readonly<Record<string, string>> | null {
  return query && { ...query, show: 'all' };
}

function reviewsTable(visit: Visit, reviews: readonly Review[]): Html {
  const { language } = visit;
  return table<Review>(
    sayFrame('reviews', language),
    [
      {
        heading: sayShop('review', language),
        cell: ({ id, reason }) =>
          html`<a href="${roomLink(visit, `reviews/${id}`)}">${sayShop(reason, language)}</a>`,
      },
      {
        heading: sayShop('expected', language),
        cell: ({ amount_expected }) => amount(language, amount_expected),
        numeric: true,
      },
      {
        heading: sayShop('received', language),
        cell: ({ amount_received }) => amount(language, amount_received),
        numeric: true,
      },
      { heading: sayShop('status', language), cell: (review) => reviewBadge(visit, review) },
      { heading: sayShop('created', language), cell: ({ created }) => time(language, created * 1000) },
    ],
    reviews,
  );
}

function reviewBadge({ language }: Visit, { open, closed_reason: closed }: Review): Html {
  return open ? badge(sayShop('open', language), 'warn') : badge(sayShop(closed ?? 'settled', language));
}

async function showReview(visit: Visit, desk: Desk, problem = '', status = 200): Promise<DashboardAnswer> {
  const { language, id } = visit;
  const found = await desk.api(visit, 'retrieve_review', { id });
  if (!found.ok) return errorPage(visit, 'missing');
  const review = found.body as Review;
  const { reason, amount_expected: expected, amount_received: received } = review;
  return page(visit, {
    active: 'reviews',
    title: sayShop(reason, language),
    status,
    alert: errorSummary(language, problem === '' ? {} : { '': problem }),
    actions: reviewBadge(visit, review),
    body: [
      doneOf(visit, { settle: 'settle_done' } as const, sayShop),
      section(
        sayShop('details', language),
        html`<p>${sayShop(`${reason}_text`, language)}</p>${definitions([
          [sayShop('expected', language), amount(language, expected)],
          [sayShop('received', language), amount(language, received)],
          [sayShop('difference', language), differenceText(visit, received - expected)],
          [sayShop('payment', language), paymentLink(visit, review.payment_intent)],
          [sayShop('attempt', language), copyable(visit, review.charge)],
          [sayShop('created', language), time(language, review.created * 1000)],
        ])}`,
      ),
      settlePart(visit, review),
    ],
  });
}

function differenceText({ language }: Visit, centimes: number): string {
  if (centimes === 0) return sayShop('no_difference', language);
  const difference = formatAmount(Math.abs(centimes), 'mad', language);
  return sayShop(centimes > 0 ? 'too_much' : 'too_little', language, { amount: difference });
}

const outcomes = ['approved', 'refunded'] as const;

function settlePart(visit: Visit, { id, open }: Review): Html | null {
  const { language, role } = visit;
  if (!open || !mayDo(role, 'reviews.write')) return null;
  const buttons = outcomes.map((as) =>
    finalSubmit(visit, sayShop(`settle_${as}`, language), 'quiet', { name: 'as', value: as }),
  );
  return section(
    sayShop('settle', language),
    form(
      visit,
      roomLink(visit, `reviews/${id}/settle`),
      html`<p>${sayShop('settle_text', language)}</p><div class="actions">${buttons}</div>`,
    ),
  );
}

async function settleReview(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { id, form: sent, language, mode } = visit;
  const as = outcomes.find((each) => each === sent.get('as'));
  const found = await desk.api(visit, 'retrieve_review', { id });
  if (!found.ok || as === undefined) return errorPage(visit, 'missing');
  try {
    await desk.act(visit, 'review.close', { review: id, as, mode }, () =>
      command(desk.services, id, 'close_review', { as }),
    );
  } catch (error) {
    if (!(error instanceof OperatorFailure && error.kind === 'refused')) throw error;
    // A double click has settled it in the same way.
    const now = await desk.api(visit, 'retrieve_review', { id });
    if (!now.ok || now.body.closed_reason !== as)
      return showReview(visit, desk, sayShop('already_settled', language), 409);
  }
  return redirect(roomLink(visit, `reviews/${id}`, { done: 'settle' }));
}
