// The pages of the reviews: money that does not add up, what was expected and what arrived, and how
// it was closed.

import { formatAmount } from '../../core/money.ts';
import { fieldIndex } from '../../domain/indexes.ts';
import type { ReviewRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { OperatorFailure } from '../../operator/use-cases/failures.ts';
import { command } from '../../operator/use-cases/shard-records.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { listPage } from './list-page.ts';
import { ownRecords } from './own-record.ts';
import { paymentLink } from './payment-parts.ts';

export const reviewRows: readonly Row[] = [
  get('reviews', 'payments.read', listReviews),
  get('reviews/{id}', 'payments.read', showReview),
  post('reviews/{id}/close', 'reviews.write', closeReview),
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
export function openReviews(request: ViewRequest): Promise<ReviewRecord[]> {
  return ownRecords<ReviewRecord>(request, (scope) => fieldIndex('review', scope, 'open', 'true'));
}

async function listReviews(request: ViewRequest): Promise<DashboardAnswer> {
  const say = sayShop(request);
  const all = request.query.get('show') === 'all';
  const none = { newer: null, older: null };
  const { data, queries } = all
    ? await listPage<Review>(request, 'list_reviews')
    : { data: await openReviews(request), queries: none };
  const shown = { newer: withAll(queries.newer), older: withAll(queries.older) };
  const empty = ui.emptyState(say('no_open_reviews'), html`<p>${say('no_open_reviews_text')}</p>`);
  return page(request, {
    body: [
      ui.filters(request, 'reviews', [
        ui.select({
          name: 'show',
          label: say('show'),
          value: all ? 'all' : '',
          choices: [
            ['', say('open_reviews')],
            ['all', say('all_reviews')],
          ],
        }),
      ]),
      reviewsTable(request, data, empty),
      ui.pager(request, 'reviews', shown),
    ],
  });
}

function withAll(query: Readonly<Record<string, string>> | null): Readonly<Record<string, string>> | null {
  return query && { ...query, show: 'all' };
}

function reviewsTable(request: ViewRequest, reviews: readonly Review[], empty: Html): Html {
  const { language } = request;
  const say = sayShop(request);
  return ui.list<Review>(
    sayLayout(request)('reviews'),
    [
      [
        say('review'),
        ({ id, reason }) => html`<a href="${viewLink(request, `reviews/${id}`)}">${say(reason)}</a>`,
      ],
      [say('expected'), ({ amount_expected }) => ui.amount(language, amount_expected), 'numeric'],
      [say('received'), ({ amount_received }) => ui.amount(language, amount_received), 'numeric'],
      [say('status'), (review) => reviewBadge(request, review)],
      [say('created'), ({ created }) => ui.time(language, created * 1000)],
    ],
    reviews,
    empty,
  );
}

function reviewBadge({ language }: ViewRequest, { open, closed_reason: closed }: Review): Html {
  const say = sayShop({ language });
  return open ? ui.badge(say('open'), 'warn') : ui.badge(say(closed ?? 'closed'));
}

async function showReview(request: ViewRequest, problem = '', status = 200): Promise<DashboardAnswer> {
  const { language, id } = request;
  const say = sayShop(request);
  const found = await request.api('retrieve_review', { id });
  if (!found.ok) return errorPage(request, 'missing');
  const review = found.body as Review;
  const { reason, amount_expected: expected, amount_received: received } = review;
  return page(request, {
    title: say(reason),
    status,
    problems: problem === '' ? {} : { '': problem },
    actions: reviewBadge(request, review),
    body: [
      ui.doneOf(request, { close: 'close_done' } as const, say),
      ui.section(
        say('details'),
        html`<p>${say(`${reason}_text`)}</p>${ui.definitions([
          [say('expected'), ui.amount(language, expected)],
          [say('received'), ui.amount(language, received)],
          [say('difference'), differenceText(request, received - expected)],
          [say('payment'), paymentLink(request, review.payment_intent)],
          [say('attempt'), ui.copyable(request, review.charge)],
          [say('created'), ui.time(language, review.created * 1000)],
        ])}`,
      ),
      closePart(request, review),
    ],
  });
}

function differenceText({ language }: ViewRequest, centimes: number): string {
  const say = sayShop({ language });
  if (centimes === 0) return say('no_difference');
  const difference = formatAmount(Math.abs(centimes), 'mad', language);
  return say(centimes > 0 ? 'too_much' : 'too_little', { amount: difference });
}

const closedReasons = ['approved', 'refunded'] as const;

function closePart(request: ViewRequest, { id, open }: Review): Html | null {
  const say = sayShop(request);
  if (!open || !mayDo(request.role, 'reviews.write')) return null;
  const buttons = closedReasons.map((as) =>
    ui.finalSubmit(request, say(`close_${as}`), 'quiet', { name: 'as', value: as }),
  );
  return ui.section(
    say('close'),
    ui.form(
      request,
      viewLink(request, `reviews/${id}/close`),
      html`<p>${say('close_text')}</p><div class="actions">${buttons}</div>`,
    ),
  );
}

async function closeReview(request: ViewRequest): Promise<DashboardAnswer> {
  const { id, form: sent, mode } = request;
  const say = sayShop(request);
  const as = closedReasons.find((each) => each === sent.get('as'));
  const found = await request.api('retrieve_review', { id });
  if (!found.ok || as === undefined) return errorPage(request, 'missing');
  try {
    await request.act('review.close', { review: id, as, mode }, () =>
      command(request.services, id, 'close_review', { as }),
    );
  } catch (error) {
    if (!(error instanceof OperatorFailure && error.kind === 'refused')) throw error;
    // A double click has closed it in the same way.
    const now = await request.api('retrieve_review', { id });
    if (!now.ok || now.body.closed_reason !== as) return showReview(request, say('already_closed'), 409);
  }
  return redirect(viewLink(request, `reviews/${id}`, { done: 'close' }));
}
