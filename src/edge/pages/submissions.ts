// Each form becomes a command. A form with a problem is shown again with the reason. A form that was accepted, or that came
// too late, leads to the page of the current state.

import { type ErrorCode, errors } from '../../contract/errors/table.ts';
import { type Mode, modeOf, paymentMethodTypes } from '../../contract/vocabulary.ts';
import type { Tokenize } from '../../networks/network.ts';
import { readCard } from './card-fields.ts';
import type { Page, Visit } from './document.ts';
import type { Html } from './html.ts';
import { missingPage, troublePage } from './outcome-pages.ts';
import type { PagePort, ShownPayment } from './page-port.ts';
import { cardPage, choicePage } from './payment-pages.ts';
import type { Form } from './routes.ts';

/** A form that is genuine and was sent at its stage. */
export interface Submission {
  /** The session or charge that the form is about. */
  readonly id: string;
  readonly payment: ShownPayment;
  readonly visit: Visit;
  readonly form: URLSearchParams;
  /** The guard's hidden field, for showing the form again. */
  readonly field: Html;
}

/** The page that answers a form; null: a redirect to the current state. */
export type Submit = (submission: Submission) => Promise<Page | null>;

export function createSubmits(
  port: PagePort,
  tokenize: Readonly<Record<Mode, Tokenize | null>>,
): Readonly<Record<Form, Submit>> {
  return {
    async choice({ id, payment, visit, form, field }) {
      const method = paymentMethodTypes.find((type) => type === form.get('method'));
      if (method === undefined) return choicePage(payment, visit, field, 'method_missing');
      const result = await port.command('choose_method', id, { method }, visit.language);
      if (result.ok) return null;
      const { code } = result;
      return code === 'payment_method_unavailable'
        ? choicePage(payment, visit, field, 'method_unavailable')
        : refusedPage(code, visit);
    },

    async card({ id, payment, visit, form, field }) {
      const typed = readCard(form);
      if ('problems' in typed) return cardPage(payment, visit, field, typed.problems);
      const ask = tokenize[modeOf(payment.livemode)];
      // The error of a tokenizer is not passed on, because it may quote the card.
      const tokenized = await ask?.(typed).catch(() => null);
      if (!tokenized) return troublePage(visit);
      if ('problem' in tokenized) return cardPage(payment, visit, field, [tokenized.problem]);
      const result = await port.command('submit_card', id, tokenized, visit.language);
      return result.ok ? null : refusedPage(result.code, visit);
    },

    async challenge({ id, visit, form }) {
      const answer = form.get('answer');
      if (answer !== 'pass' && answer !== 'fail') return null;
      const params = { passed: answer === 'pass' };
      const result = await port.command('answer_challenge', id, params, visit.language);
      return result.ok ? null : refusedPage(result.code, visit);
    },

    async change({ id, visit }) {
      const result = await port.command('abandon_charge', id, {}, visit.language);
      return result.ok ? null : refusedPage(result.code, visit);
    },
  };
}

/** Whether a refusal is because of the payment's state: something else was faster, and the current state is shown. */
function refusedPage(code: string, visit: Visit): Page | null {
  if (code === 'resource_missing') return missingPage(visit);
  return errors[code as ErrorCode]?.type === 'invalid_request_error' ? null : troublePage(visit);
}
