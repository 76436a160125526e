// Why CMI refused a card: its `ProcReturnCode` is the answer of the card's bank (ISO 8583, field
// 39), or 99 for an error of the gateway. docs/networks/cmi.md has the table with its sources.

import type { DeclineCode } from '../../contract/vocabulary.ts';
import { namesOf } from '../../core/tables.ts';

const codes: Readonly<Record<DeclineCode, readonly string[]>> = {
  generic_decline: [],
  insufficient_funds: ['51'],
  lost_card: ['41'],
  stolen_card: ['43'],
  expired_card: ['33', '54'],
  incorrect_cvc: ['82', 'N7'],
  processing_error: ['06', '09', '13', '30', '76', '91', '92', '95', '96', '98', '99'],
  do_not_honor: ['01', '02', '04', '05', '07', '61', '65'],
  transaction_not_allowed: ['03', '12', '36', '52', '53', '56', '57', '58', '62'],
};

const byReturnCode = new Map(
  namesOf(codes).flatMap((decline) => codes[decline].map((code) => [code, decline] as const)),
);

/** A code that is not in the table is a refusal without a precise reason. */
export function declineCodeOf(procReturnCode: string): DeclineCode {
  return byReturnCode.get(procReturnCode) ?? 'generic_decline';
}
