// Cash codes: what a customer pays with at an agent. A code is held by the network call that issues
// it, then by its charge. There is a bounded number of them for each slot, which organizations
// share, so one that was given up is issued again after a while. A code for which any money was
// reported names its charge for good, because networks' statements name it, too.

import { luhnCheckDigit } from '../core/card-number.ts';
import { slotOf } from '../core/slot.ts';
import type { Draft } from './draft.ts';
import { cashIndex } from './indexes.ts';
import type { ChargeRecord, StoredRecord } from './record.ts';
import type { View } from './view.ts';

const slotDigits = 4;
const randomDigits = 7;

/** When nine codes in ten are held, so many tries are in vain once in 38,000 times. */
const triesMax = 100;
/** So long an agent's report of money for a code that was given up may be late. */
const heldAfterEndMs = 30 * 24 * 3_600_000;

/**
 * A code that can be issued: the organization's slot, random digits and a Luhn check digit; 12
 * digits in all. Null when none is found, because most of the slot's are held.
 */
export function newCashNumber({ view, context }: Draft): string | null {
  const slot = String(slotOf(context.org)).padStart(slotDigits, '0');
  for (let tries = 0; tries < triesMax; tries++) {
    const random = String(context.randomBelow(10 ** randomDigits)).padStart(randomDigits, '0');
    const number = slot + random + luhnCheckDigit(slot + random);
    const holder = holderOf(view, number);
    if (holder === undefined || isFreeAgain(holder, context.nowMs)) return number;
  }
  return null;
}

/** The charge that has this cash code, or the network call that is about to issue it. */
export function holderOf(view: View, number: string): StoredRecord | undefined {
  const [newest] = view.scan(cashIndex(number), { descending: true });
  return newest;
}

function isFreeAgain(holder: StoredRecord, nowMs: number): boolean {
  if (holder.kind !== 'charge' || holder.settled_at_ms === null) return false;
  return isGivenUp(holder) && nowMs - holder.settled_at_ms >= heldAfterEndMs;
}

/** The charge failed, and no money was reported for it: another one may have its code. */
export function isGivenUp({ status, receipts }: ChargeRecord): boolean {
  return status === 'failed' && receipts.length === 0;
}
