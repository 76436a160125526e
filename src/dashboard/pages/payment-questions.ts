// What the pages about money ask the shard and the API.

import type { FoundPayment, FoundPayments, PaymentSearch } from '../../domain/payment-search.ts';
import { isStatus } from '../../domain/payment-state.ts';
import type { PaymentStory } from '../../domain/payment-story.ts';
import { OperatorFailure } from '../../operator/use-cases/failures.ts';
import type { ApiAnswer } from '../../operator/use-cases/services.ts';
import { ask } from '../../operator/use-cases/shard-records.ts';
import { isAway } from '../layout/errors.ts';
import type { ViewRequest } from '../layout/row.ts';
import { cursorIn } from './own-record.ts';
import type { TooMany } from './searches.ts';

/** Where an older page of payments begins. */
export function beforeIn(query: URLSearchParams): string | null {
  return cursorIn(query, 'before', 'payment_intent') ?? null;
}

/** Each question reads a hundred payments. */
const questionsMax = 100;

/**
 * A page of the payments that filters with an index find. `stoppedAt` is where an older page
 * begins; null when there are no older ones.
 */
export function listPayments(
  request: ViewRequest,
  filters: Omit<PaymentSearch, 'text' | 'method'>,
): Promise<FoundPayments> {
  return askForPage(request, { ...filters, text: null, method: null }, null);
}

/** The same for any search. Those without an index take turns; a counted one may be refused. */
export async function findPayments(
  request: ViewRequest,
  search: PaymentSearch,
  isCounted: boolean,
): Promise<FoundPayments | TooMany> {
  const hasIndex = search.text === null && search.method === null;
  if (hasIndex && (search.state === null || isStatus(search.state))) return listPayments(request, search);
  return request.search(isCounted, (gone) => askForPage(request, search, gone));
}

async function askForPage(
  { organization, mode, services }: ViewRequest,
  search: PaymentSearch,
  gone: AbortSignal | null,
): Promise<FoundPayments> {
  const payments: FoundPayment[] = [];
  let before = search.before;
  for (let asked = 0; asked < questionsMax && payments.length < search.limit; asked++) {
    if (gone?.aborted) break;
    const found = await ask(services, {
      kind: 'search_payments',
      org: organization.id,
      livemode: mode === 'live',
      search: { ...search, before, limit: search.limit - payments.length },
    });
    payments.push(...found.payments);
    before = found.stoppedAt;
    if (before === null) break;
  }
  return { payments, stoppedAt: before };
}

/** The payment of an id or a cash code; null when the organization has none in this mode. */
export function askStory(
  { organization, mode, services }: ViewRequest,
  reference: string,
  refundsBefore?: string,
): Promise<PaymentStory | null> {
  return ask(services, {
    kind: 'payment_story',
    org: organization.id,
    livemode: mode === 'live',
    reference,
    refundsBefore,
  });
}

/** The answer to a command that was refused. */
export type Refused = Extract<ApiAnswer, { readonly ok: false }>;

/** Of one e-mail address: each question of a search reads the lists of all of them. */
export const customersMax = 100;

/** The ids of the customers with an e-mail address, the newest first. */
export async function customersWith(
  request: ViewRequest,
  email: string,
): Promise<{ readonly ids: string[]; readonly hasMore: boolean }> {
  const listed = await request.api('list_customers', { query: { email, limit: String(customersMax) } });
  if (!listed.ok) {
    // None would look as if nobody had the address. Nobody has what is no address.
    if (isAway(listed)) throw new OperatorFailure('failed', listed.error.message);
    return { ids: [], hasMore: false };
  }
  const { data, has_more: hasMore } = listed.body;
  return { ids: data.map(({ id }) => id), hasMore };
}
