// Money that arrives for a charge, by the report of a network or of a test helper. The right amount
// in time pays the charge, once. Anything else opens a review and credits nothing. So does money
// that is found in a network's statement later. Reports can arrive more than once, so a charge
// remembers each, up to a limit. A network's reference names one payment, so it counts for one
// charge only.

import { refuse } from '../contract/errors/table.ts';
import { receiptsPerChargeMax } from '../contract/limits.ts';
import type { ParamsOf } from '../contract/routes/table.ts';
import type { DeclineCode } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import { holderOf } from './cash-codes.ts';
import { declined, dropAuthorization, failCharge, failOverdue, succeedCharge } from './charges.ts';
import { answered, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { missing } from './find.ts';
import { receiptIndex, scopeOf } from './indexes.ts';
import { callAbout } from './network-call.ts';
import { presentCharge } from './present.ts';
import type { CardDetails, ChargeRecord } from './record.ts';
import { openReview } from './reviews.ts';

/** Money that a network reports, with the network's own reference for it. */
export interface ReportedMoney {
  readonly reference: string;
  /** Hundredths of the currency. */
  readonly amount: number;
  readonly currency: string;
  /** Who took the cash. */
  readonly agent: string | null;
  /** The card that paid, as far as the network tells. */
  readonly card: CardDetails | null;
  /** The network holds the money, and has to be asked whether it has taken it. */
  readonly isHeld: boolean;
}

/** A card that was declined on the network's page. */
export interface ReportedDecline {
  readonly decline_code: DeclineCode;
  /** The customer may try another card there. */
  readonly mayTryAgain: boolean;
}

/** An agent took cash for a code, as a test helper says. */
export function payCash(draft: Draft, params: ParamsOf<'pay_cash'>): Outcome {
  const number = params.number.replace(/[ -]/g, '');
  const { org, livemode } = draft.context;
  const holder = holderOf(draft.view, number);
  if (holder?.kind !== 'charge' || holder.org !== org || holder.livemode !== livemode) {
    // A code that is being issued has a holder in the same mode.
    const isElsewhere = holder?.org === org && holder.livemode !== livemode;
    return refused(missing('number', params.number, isElsewhere ? holder.livemode : null, 'number'));
  }
  const money = { amount: params.amount, currency: holder.currency, agent: 'test agent', card: null };
  const [charge] = takeMoney(draft, holder, money, false);
  return answered(presentCharge(charge));
}

/**
 * A network reports money for a charge. A report that arrives again changes nothing, and has the
 * same answer.
 */
export function receiveMoney(draft: Draft, money: ReportedMoney, id: string): Outcome {
  const { reference, amount, currency } = money;
  const before = draft.get('charge', id);
  if (before === undefined) return refused(missing('charge', id, null));
  // A network that is asked may not tell the currency, so what is in a review is known without it.
  const known = before.receipts.find(
    (each) =>
      each.reference === reference &&
      each.amount === amount &&
      (!each.credited || currency === before.currency),
  );
  if (known !== undefined) return became(known.credited ? 'repeated' : 'review', !known.credited);
  const isCounted = isOfAnother(draft, before, reference);
  if (before.receipts.length >= receiptsPerChargeMax && !pays(before, money, isCounted))
    return became('too_many');
  const [charge, credited] = takeMoney(draft, before, money, isCounted);
  draft.put<ChargeRecord>({ ...charge, receipts: [...charge.receipts, { reference, amount, credited }] });
  if (credited && money.isHeld) callAbout(draft, charge, 'capture_charge');
  return became(credited ? 'credited' : 'review');
}

/**
 * A network reports that a card was declined on its page. While the customer may try another one
 * there, the charge only remembers why, and fails for this reason when it ends unpaid.
 */
export function receiveDecline(
  draft: Draft,
  { decline_code, mayTryAgain }: ReportedDecline,
  id: string,
): Outcome {
  const charge = draft.get('charge', id);
  if (charge === undefined) return refused(missing('charge', id, null));
  if (charge.status !== 'pending') return became('declined', true);
  if (!mayTryAgain) {
    dropAuthorization(draft, charge);
    failCharge(draft, charge, declined(decline_code, draft.context.language));
  } else if (charge.decline_code !== decline_code) {
    draft.put<ChargeRecord>({ ...charge, decline_code });
  }
  return became('declined', charge.decline_code !== null);
}

/**
 * `again`: the like was reported of the charge before. Customers can send what a network has signed
 * as often as they like.
 */
function became(
  received: 'credited' | 'repeated' | 'review' | 'too_many' | 'declined',
  again = false,
): Outcome {
  return { body: JSON.stringify(again ? { received, again } : { received }) };
}

/** Money of a charge that has ended, which a network's statement has and no payment. */
export interface StatementMoney {
  /** The statement's reference for it. */
  readonly reference: string;
  /** Centimes. */
  readonly amount: number;
}

export interface StatementMoneyReview {
  /** The id of the review that was opened. */
  readonly review: string | null;
  /** The money was reported or found before. */
  readonly known: boolean;
}

/**
 * Opens a review of money that a network's statement has and no payment. The charge remembers it
 * like a report, so neither the same statement nor a late report opens another one. When it can
 * remember no more, there is no review.
 */
export function reviewStatementMoney(draft: Draft, money: StatementMoney, charge: ChargeRecord): Outcome {
  const { reference, amount } = money;
  // The network may still report the money of a pending charge, which then pays it.
  if (charge.status === 'pending')
    return refused(refuse('charge_unexpected_state', { values: { status: charge.status } }));
  const isKnown = isReceived(charge, money);
  const answer = (answered: StatementMoneyReview) => ({ body: JSON.stringify(answered) });
  if (isKnown || charge.receipts.length >= receiptsPerChargeMax)
    return answer({ review: null, known: isKnown });
  const paid = charge.status === 'succeeded';
  const reason = paid && amount !== charge.amount ? 'amount_mismatch' : 'late_payment';
  // A statement is in the currency of the charges.
  const review = openReview(draft, charge, reason, { ...charge, amount });
  draft.put<ChargeRecord>({
    ...charge,
    receipts: [...charge.receipts, { reference, amount, credited: false }],
  });
  return answer({ review: review.id, known: false });
}

/**
 * Opens a review of money that was credited, and of which the network has taken only a part, or
 * nothing. The network's statement names the part by the reference of the whole. When it was read
 * before, there is a review already.
 */
export function reviewPartTaken(draft: Draft, charge: ChargeRecord, amount: number): void {
  const credited = charge.receipts.find((receipt) => receipt.credited);
  const { reference } = defined(credited, 'what the network was to take was credited');
  if (isReceived(charge, { reference, amount })) return;
  openReview(draft, charge, 'amount_mismatch', { ...charge, amount });
  draft.put<ChargeRecord>({
    ...charge,
    receipts: [...charge.receipts, { reference, amount, credited: false }],
  });
}

function isReceived({ receipts }: ChargeRecord, { reference, amount }: StatementMoney): boolean {
  return receipts.some((each) => each.reference === reference && each.amount === amount);
}

/**
 * Whether the network has reported other money under this reference: of another charge, or another
 * amount or currency.
 */
function isOfAnother(draft: Draft, { org, livemode, receipts }: ChargeRecord, reference: string): boolean {
  if (receipts.some((receipt) => receipt.reference === reference)) return true;
  const [other] = draft.view.scan(receiptIndex(scopeOf(org, livemode), reference), { descending: false });
  return other !== undefined;
}

/**
 * The right amount in time pays the charge, once; anything else, or money that `isCounted` already,
 * opens a review.
 */
function takeMoney(
  draft: Draft,
  before: ChargeRecord,
  money: Omit<ReportedMoney, 'reference' | 'isHeld'>,
  isCounted: boolean,
): readonly [charge: ChargeRecord, credited: boolean] {
  const { agent, card } = money;
  const charge = failOverdue(draft, before);
  if (pays(charge, money, isCounted)) {
    dropAuthorization(draft, charge);
    return [succeedCharge(draft, { ...charge, cash_agent: agent, card: card ?? charge.card }), true];
  }
  const isMismatch =
    money.currency !== charge.currency || (charge.status === 'pending' && !isAsked(charge, money));
  openReview(draft, charge, isMismatch ? 'amount_mismatch' : 'late_payment', money);
  return [charge, false];
}

type Money = Pick<ReportedMoney, 'amount' | 'currency'>;

function pays(charge: ChargeRecord, money: Money, isCounted: boolean): boolean {
  return charge.status === 'pending' && isAsked(charge, money) && !isCounted;
}

/** Whether it is as much as the charge asks for. */
function isAsked(charge: ChargeRecord, { amount, currency }: Money): boolean {
  return amount === charge.amount && currency === charge.currency;
}
