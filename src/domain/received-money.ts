// Money that arrives for a charge, by the report of a network or of a test helper. The right amount in time pays the charge,
// once. Anything else opens a review and credits nothing. Reports can arrive more than once, so a charge remembers each. A
// network's reference names one payment, so it counts for one charge only.

import type { ParamsOf } from '../contract/routes/table.ts';
import { failOverdue, holderOf, succeedCharge } from './charges.ts';
import { answered, type Outcome, refused } from './decision.ts';
import type { Draft } from './draft.ts';
import { missing } from './find.ts';
import { receiptIndex, scopeOf } from './indexes.ts';
import { presentCharge } from './present.ts';
import type { ChargeRecord } from './record.ts';
import { openReview } from './reviews.ts';

/** Money that a network reports, with the network's own reference for it. */
export interface ReportedMoney {
  readonly reference: string;
  /** Centimes. */
  readonly amount: number;
  /** Who took the cash. */
  readonly agent: string | null;
}

/** An agent took cash for a code, as a test helper says. */
export function payCash(draft: Draft, params: ParamsOf<'pay_cash'>): Outcome {
  const number = params.number.replace(/[ -]/g, '');
  const { org, livemode } = draft.context;
  const holder = holderOf(draft, number);
  if (holder?.kind !== 'charge' || holder.org !== org || holder.livemode !== livemode) {
    return refused(missing(params.number, holder?.org === org ? holder.livemode : null, 'number'));
  }
  const [charge] = takeMoney(draft, holder, { amount: params.amount, agent: 'test agent' }, false);
  return answered(presentCharge(charge));
}

/** A network reports money for a charge. A report that arrives again changes nothing, and has the same answer. */
export function receiveMoney(draft: Draft, money: ReportedMoney, id: string): Outcome {
  const { reference, amount } = money;
  const before = draft.get('charge', id);
  if (before === undefined) return refused(missing(id, null));
  const known = before.receipts.find((each) => each.reference === reference && each.amount === amount);
  if (known !== undefined) return { body: JSON.stringify({ credited: known.credited }) };
  const [charge, credited] = takeMoney(draft, before, money, isOfAnother(draft, before, reference));
  draft.put<ChargeRecord>({ ...charge, receipts: [...charge.receipts, { reference, amount, credited }] });
  return { body: JSON.stringify({ credited }) };
}

/** Whether the network has reported money for another charge under this reference. */
function isOfAnother(draft: Draft, { id, org, livemode }: ChargeRecord, reference: string): boolean {
  const charges = draft.view.scan(receiptIndex(scopeOf(org, livemode), reference), { descending: false });
  for (const charge of charges) if (charge.id !== id) return true;
  return false;
}

/** The right amount in time pays the charge, once; anything else, or money that `isCounted` already, opens a review. */
function takeMoney(
  draft: Draft,
  before: ChargeRecord,
  { amount, agent }: Pick<ReportedMoney, 'amount' | 'agent'>,
  isCounted: boolean,
): readonly [charge: ChargeRecord, credited: boolean] {
  const charge = failOverdue(draft, before);
  const isOpen = charge.status === 'pending';
  const isRight = amount === charge.amount;
  if (isOpen && isRight && !isCounted) return [succeedCharge(draft, { ...charge, cash_agent: agent }), true];
  openReview(draft, charge, isOpen && !isRight ? 'amount_mismatch' : 'late_payment', amount);
  return [charge, false];
}
