// What was taken and paid back on a day in Morocco.

import type { RecordOf } from '../../../src/domain/record.ts';
import type { RecordHere, Turn } from './turn.ts';

type Settled = RecordOf<'charge'> | RecordOf<'refund'>;

const days = new Intl.DateTimeFormat('en-CA', { timeZone: 'Africa/Casablanca' });
const refusals = ['card_declined', 'cash_payment_refused'];

export function countInDay(turn: Turn, settled: Settled): void {
  const day = days.format(turn.asked.nowMs);
  const drafted = [...turn.changes.values()].find((each) => each.kind === 'day_total' && each.day === day);
  const known = drafted ?? turn.own('day_total').find((each) => each.day === day);
  const total: RecordHere<'day_total'> = { ...((known ?? emptyTotal(turn, day)) as RecordOf<'day_total'>) };
  if (settled.kind === 'refund') {
    if (settled.status === 'succeeded') {
      total.refunded += settled.amount;
      total.refunds += 1;
    }
  } else if (settled.status === 'succeeded') {
    total[`${settled.method}_received`] += settled.amount;
    total[`${settled.method}_succeeded`] += 1;
  } else if (refusals.includes(settled.failure_code ?? '')) total[`${settled.method}_failed`] += 1;
  else total[`${settled.method}_unpaid`] += 1;
  turn.put(total);
}

function emptyTotal(turn: Turn, day: string): RecordOf<'day_total'> {
  return {
    ...turn.fresh('day_total'),
    day,
    ...{ card_received: 0, card_succeeded: 0, card_failed: 0, card_unpaid: 0 },
    ...{ cash_received: 0, cash_succeeded: 0, cash_failed: 0, cash_unpaid: 0 },
    ...{ refunded: 0, refunds: 0 },
  };
}
