// Each form becomes a command. A form with a problem is shown again with the reason. A form that
// was accepted, or that came too late, leads to the page of the current state.

import { type ErrorCode, errors } from '../../contract/errors/table.ts';
import { type Mode, modeOf, paymentMethodTypes } from '../../contract/vocabulary.ts';
import type { TokenizedCard } from '../../domain/charges.ts';
import type { Html } from '../../html/html.ts';
import type { Tokenize } from '../../networks/network.ts';
import { type CardFault, readCard } from './card-fields.ts';
import { expiryLengthMax } from './card-inputs.ts';
import { checkoutPage, type SentForm } from './checkout-page.ts';
import type { Page, Visit } from './document.ts';
import { missingPage, troublePage } from './outcome-pages.ts';
import type { PagePort, ShownPayment } from './page-port.ts';
import type { Form } from './routes.ts';
import { stageOf } from './stage.ts';

/** A form that is genuine and was sent at its stage. */
interface Submission {
  /** The session or charge that the form is about. */
  readonly id: string;
  readonly payment: ShownPayment;
  readonly visit: Visit;
  readonly form: URLSearchParams;
  /** The guard's hidden field, for showing the form again. */
  readonly field: Html;
}

/** The page that answers a form; null: a redirect to the current state. */
type Submit = (submission: Submission) => Promise<Page | null>;

/** Answers the forms of the pages; a form's method has its name. */
export class Submissions implements Readonly<Record<Form, Submit>> {
  readonly #port: PagePort;
  readonly #tokenize: Readonly<Record<Mode, Tokenize | null>>;

  constructor(port: PagePort, tokenize: Readonly<Record<Mode, Tokenize | null>>) {
    this.#port = port;
    this.#tokenize = tokenize;
  }

  async checkout(submission: Submission): Promise<Page | null> {
    const { id, payment, visit, form } = submission;
    // Each form pays at most once: it names the charge that was the latest when the form was shown.
    if (form.get('attempt') !== (payment.charge?.id ?? '')) return null;
    const method = paymentMethodTypes.find((type) => type === form.get('method'));
    if (method === undefined) return shownAgain(submission, 'method_missing');
    const card = method === 'card' && payment.card_page === 'own' ? await this.#cardOf(submission) : null;
    if (card !== null && 'page' in card) return card.page;
    // A charge was opened for a card that did not arrive.
    const open = payment.charge?.status === 'pending' ? payment.charge : null;
    if (open !== null && card !== null) return this.#pay(submission, open.id, card);
    if (open !== null) {
      const left = await this.#port.command('abandon_charge', open.id, {}, visit.language);
      if (!left.ok) return refusedPage(left.code, visit);
    }
    const chosen = await this.#port.command('choose_method', id, { method }, visit.language);
    if (!chosen.ok && chosen.code === 'payment_method_unavailable')
      return shownAgain(submission, 'method_unavailable');
    if (!chosen.ok) return refusedPage(chosen.code, visit);
    const charge = card && (await this.#port.view(id))?.charge;
    return charge?.status === 'pending' && card !== null ? this.#pay(submission, charge.id, card) : null;
  }

  async card(submission: Submission): Promise<Page | null> {
    const card = await this.#cardOf(submission);
    return 'page' in card ? card.page : this.#pay(submission, submission.id, card);
  }

  async challenge({ id, visit, form }: Submission): Promise<Page | null> {
    const answer = form.get('answer');
    if (answer !== 'pass' && answer !== 'fail') return null;
    const params = { passed: answer === 'pass' };
    const result = await this.#port.command('answer_challenge', id, params, visit.language);
    return result.ok ? null : refusedPage(result.code, visit);
  }

  async change({ id, visit }: Submission): Promise<Page | null> {
    const result = await this.#port.command('abandon_charge', id, {}, visit.language);
    return result.ok ? null : refusedPage(result.code, visit);
  }

  /** A token for the typed card, or the page that says what is wrong. */
  async #cardOf(submission: Submission): Promise<TokenizedCard | { readonly page: Page }> {
    const typed = readCard(submission.form);
    if ('problems' in typed) return { page: shownAgain(submission, 'check_fields', typed.problems) };
    const tokenize = this.#tokenize[modeOf(submission.payment.livemode)];
    // The error of a tokenizer is not passed on, because it may quote the card.
    const tokenized = await tokenize?.(typed).catch(() => null);
    if (!tokenized) return { page: troublePage(submission.visit) };
    if ('problem' in tokenized) return { page: shownAgain(submission, 'check_fields', [tokenized.problem]) };
    return tokenized;
  }

  /** Sends the card to a charge. A decline leads back to the form, if another card can pay. */
  async #pay(submission: Submission, id: string, card: TokenizedCard): Promise<Page | null> {
    const { visit } = submission;
    const result = await this.#port.command('submit_card', id, card, visit.language);
    if (!result.ok) return refusedPage(result.code, visit);
    const payment = await this.#port.view(id);
    if (payment === null || stageOf(payment, id).name !== 'choose') return null;
    return shownAgain({ ...submission, payment }, 'declined');
  }
}

/** The form again, with what is wrong and typed, without number and security code. */
function shownAgain(
  { payment, visit, form, field }: Submission,
  problem: SentForm['problem'],
  wrong: readonly CardFault[] = [],
): Page {
  const expiry = (form.get('expiry') ?? '').slice(0, expiryLengthMax);
  return checkoutPage(payment, visit, field, { problem, wrong, expiry });
}

/** Null when the payment's state was the reason: then the current state is shown. */
function refusedPage(code: string, visit: Visit): Page | null {
  if (code === 'resource_missing') return missingPage(visit);
  return errors[code as ErrorCode]?.type === 'invalid_request_error' ? null : troublePage(visit);
}
