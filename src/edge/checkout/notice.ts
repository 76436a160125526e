// The message at the top of a page that something went wrong.

import { format } from '../../contract/messages/table.ts';
import type { Language } from '../../contract/vocabulary.ts';
import { type Html, html } from '../../html/html.ts';
import type { Visit } from './document.ts';
import { say } from './page-messages.ts';
import type { ShownPayment } from './page-port.ts';

export const noticeId = 'problem';

/** `focused`: it gets the focus. Otherwise a field gets it, which the message describes. */
export function notice(message: string, language: Language, focused: boolean): Html {
  return html`<div class="notice" id="${noticeId}" role="alert"${focused && html` tabindex="-1" autofocus`}><p><strong>${say('problem', language)}</strong></p>
<p>${message}</p></div>`;
}

/** Why the latest charge failed; null when it did not, or when the customer ended it. */
export function failureText({ intent, session, charge }: ShownPayment, { language }: Visit): string | null {
  const error = intent.last_payment_error;
  if (error === null || error.charge !== charge?.id) return null;
  switch (error.code) {
    case 'card_declined':
      return format(`card_declined.${error.decline_code!}`, language, {});
    case 'cash_payment_refused':
      return format('failure.cash_refused', language, {});
    case 'payment_attempt_expired':
      return say(session === null ? 'failed_title' : 'charge_expired', language);
    case 'payment_attempt_canceled':
      return say('failed_title', language);
  }
}
