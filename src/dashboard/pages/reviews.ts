// The pages of the reviews: money that does not add up, what was expected and what arrived, and how
// it was closed.

import { closedReasons } from '../../contract/vocabulary.ts';
import { formatAmount } from '../../core/money.ts';
import { fieldIndex } from '../../domain/indexes.ts';
import type { ReviewRecord } from '../../domain/record.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { isRefusal } from '../../operator/use-cases/failures.ts';
import { command } from '../../operator/use-cases/shard-records.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage, unansweredPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { listPage } from '../layout/live-list.ts';
import { get, post, type Row, refused, type Saying, saying, type ViewRequest } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayShop } from '../messages/shop.ts';
import { mayDo } from '../people/roles.ts';
import { listPart } from './list-part.ts';
import { ownRecords } from './own-record.ts';
import { paymentLink } from './payment-parts.ts';

export const reviewRows: readonly Row[] = saying(sayShop, [
  get('reviews', 'payments.read', listReviews),
  get('reviews/{id}', 'payments.read', showReview),
  post('reviews/{id}/close', 'reviews.write', closeReview),
]);

type Request = Saying<typeof sayShop>;

/** A review as the shard and the API have it. */
type Review = Omit<ReviewRecord, 'kind' | 'org' | 'livemode'>;

/** The open reviews of an organization in one mode, newest first. */
export function openReviews(request: ViewRequest): Promise<ReviewRecord[]> {
  return ownRecords<ReviewRecord>(request, (scope) => fieldIndex('review', scope, 'open', 'true'));
}

async function listReviews(request: Request): Promise<DashboardAnswer> {
  const { say } = request;
  const all = request.query.get('show') === 'all';
  const none = { newer: null, older: null };
  const { isThere, data, queries } = all
    ? await listPart<Review>(request, 'list_reviews', {}, { show: 'all' })
    : { isThere: true, data: await openReviews(request), queries: none };
  if (!isThere) return errorPage(request, 'trouble');
  const empty = ui.emptyState(say('no_open_reviews'), html`<p>${say('no_open_reviews_text')}</p>`);
  const choices = [
    ['', say('open_reviews')],
    ['all', say('all_reviews')],
  ] as const;
  const filters = ui.filters(request, 'reviews', (filter) => [ui.select(filter, 'show', choices)]);
  return listPage(request, filters, reviewsTable(request, data, empty), queries, null);
}

function reviewsTable(request: Request, reviews: readonly Review[], empty: Html): Html {
  const { language, say } = request;
  return ui.list<Review>(
    sayLayout(request)('reviews'),
    [
      [
        say('review'),
        ({ id, reason }) => html`<a href="${viewLink(request, `reviews/${id}`)}">${say(reason)}</a>`,
      ],
      [say('expected'), ({ amount_expected }) => ui.amount(language, amount_expected), 'numeric'],
      [say('received'), (review) => receivedPart(request, review), 'numeric'],
      [say('status'), (review) => reviewBadge(request, review)],
      [say('created'), ({ created }) => ui.time(language, created * 1000)],
    ],
    reviews,
    empty,
  );
}

function reviewBadge({ say }: Request, { open, closed_reason: closed }: Review): Html {
  return open ? ui.badge(say('open'), 'warn') : ui.badge(say(closed ?? 'closed'));
}

async function showReview(request: Request): Promise<DashboardAnswer> {
  const { language, id, say } = request;
  const found = await request.api('retrieve_review', { id });
  if (!found.ok) return unansweredPage(request, found);
  const review = found.body as Review;
  const { reason, amount_expected: expected } = review;
  return page(request, {
    title: say(reason),
    actions: reviewBadge(request, review),
    body: [
      ui.doneOf(request, { close: 'close_done' }),
      ui.section(
        say('details'),
        html`<p>${say(`${reason}_text`)}</p>${ui.definitions([
          [say('expected'), ui.amount(language, expected)],
          [say('received'), receivedPart(request, review)],
          [say('difference'), differenceText(request, review)],
          [say('payment'), paymentLink(request, review.payment_intent)],
          [say('attempt'), ui.copyable(request, review.charge)],
          [say('created'), ui.time(language, review.created * 1000)],
        ])}`,
      ),
      closePart(request, review),
    ],
  });
}

function receivedPart({ language }: Request, { amount_received, currency_received }: Review): Html {
  return ui.amount(language, amount_received, currency_received);
}

function differenceText({ language, say }: Request, review: Review): string {
  if (review.currency_received !== 'mad') return say('another_currency');
  const centimes = review.amount_received - review.amount_expected;
  if (centimes === 0) return say('no_difference');
  const difference = formatAmount(Math.abs(centimes), 'mad', language);
  return say(centimes > 0 ? 'too_much' : 'too_little', { amount: difference });
}

function closePart(request: Request, { id, open }: Review): Html | null {
  const { role, say } = request;
  if (!open || !mayDo(role, 'reviews.write')) return null;
  const buttons = closedReasons.map((as) =>
    ui.finalSubmit(request, say(`close_${as}`), 'quiet', { name: 'as', value: as }),
  );
  const body = html`<p>${say('close_text')}</p><div class="actions">${buttons}</div>`;
  return ui.section(say('close'), ui.form(request, `reviews/${id}/close`, body));
}

async function closeReview(request: Request): Promise<DashboardAnswer> {
  const { id, form: sent, mode, say } = request;
  const as = closedReasons.find((each) => each === sent.get('as'));
  const found = await request.api('retrieve_review', { id });
  if (!found.ok) return unansweredPage(request, found);
  if (as === undefined) return errorPage(request, 'missing');
  try {
    await request.act('review.close', { review: id, as, mode }, () =>
      command(request.services, id, 'close_review', { as }),
    );
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // A double click has closed it in the same way.
    const now = await request.api('retrieve_review', { id });
    if (!now.ok || now.body.closed_reason !== as)
      return showReview(refused(request, { '': say('already_closed') }, 409));
  }
  return redirect(viewLink(request, `reviews/${id}`, { done: 'close' }));
}
