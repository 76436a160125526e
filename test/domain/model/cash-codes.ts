// Cash codes: which of them the service may issue.

import { luhnCheckDigit } from '../../../src/core/card-number.ts';
import { slotOf } from '../../../src/core/slot.ts';
import type { RecordOf } from '../../../src/domain/record.ts';
import type { Turn } from './turn.ts';

const heldMs = 30 * 24 * 3_600_000;

/** The code that the service has drawn, if it may be issued: the organization's, and free. */
export function cashCodeCheck(turn: Turn): string {
  const number = turn.chanceOf('network_call')?.cash_number ?? '';
  const slot = String(slotOf(turn.asked.org)).padStart(4, '0');
  if (!/^\d{12}$/.test(number) || !number.startsWith(slot)) return `a code of slot ${slot}`;
  if (luhnCheckDigit(number.slice(0, -1)) !== number.slice(-1)) return 'a code with a check digit';
  const calls = [...turn.everybodys('network_call')].some((each) => each.cash_number === number);
  const holders = [...turn.everybodys('charge')].filter((each) => each.cash_number === number);
  const isFree = !calls && holders.every((each) => isGivenUp(each) && isOld(turn, each));
  return isFree ? number : 'a code that is free';
}

/** Nobody has paid with its code in time, and no money was reported for it. */
function isGivenUp({ status, receipts }: RecordOf<'charge'>): boolean {
  return status === 'failed' && receipts.length === 0;
}

function isOld({ asked }: Turn, { settled_at_ms }: RecordOf<'charge'>): boolean {
  return settled_at_ms !== null && asked.nowMs - settled_at_ms >= heldMs;
}
