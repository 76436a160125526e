// Why attempts fail, as it is told to merchants.

import { format } from '../../../src/contract/messages/table.ts';
import type { DeclineCode, Language } from '../../../src/contract/vocabulary.ts';
import type { LastPaymentError } from '../../../src/domain/record.ts';

export type Failure = Omit<LastPaymentError, 'charge'>;

export function declined(code: DeclineCode, language: Language): Failure {
  const message = format(`card_declined.${code}`, language, {});
  return { type: 'card_error', code: 'card_declined', decline_code: code, message };
}

const invalid = (code: Failure['code'], message: string): Failure => ({
  type: 'invalid_request_error',
  code,
  decline_code: null,
  message,
});

export const cashRefused = (language: Language): Failure =>
  invalid('cash_payment_refused', format('failure.cash_refused', language, {}));

export const expiredUnpaid = (language: Language): Failure =>
  invalid('payment_attempt_expired', format('failure.charge_expired', language, {}));

export const canceledUnpaid = (language: Language): Failure =>
  invalid('payment_attempt_canceled', format('failure.charge_canceled', language, {}));
