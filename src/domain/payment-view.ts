// What a customer's page shows of a payment. The page's address holds the id of a checkout session
// or a charge. The view is plain data without anything that only the merchant may see (metadata,
// customer).

import type { PaymentMethodType } from '../contract/vocabulary.ts';
import { methodsLeft } from './charge-limits.ts';
import { isOver } from './deadline.ts';
import { required } from './find.ts';
import type { ChargeRecord, CheckoutSessionRecord, PaymentIntentRecord } from './record.ts';
import type { View } from './view.ts';

export interface PaymentView {
  readonly org: string;
  readonly livemode: boolean;
  /** Centimes. */
  readonly amount: number;
  readonly currency: string;
  /**
   * What is paid for, in the merchant's words: the session's description, else the payment
   * intent's.
   */
  readonly description: string | null;
  readonly intent: Pick<
    PaymentIntentRecord,
    'id' | 'status' | 'cancellation_reason' | 'last_payment_error' | 'payment_method_types' | 'return_url'
  > & {
    /** A call to a payment network is under way: nothing can be changed until it is over. */
    readonly busy: boolean;
    /** The methods by which another charge can begin. */
    readonly methods_left: readonly PaymentMethodType[];
  };
  readonly session:
    | (Pick<CheckoutSessionRecord, 'id' | 'status' | 'success_url' | 'cancel_url' | 'locale'> & MayBeOver)
    | null;
  /**
   * The latest charge. It differs from the one that was asked for when that one has ended and
   * another has begun.
   */
  readonly charge:
    | (Pick<ChargeRecord, ShownOfCharge> & {
        /** The card's bank waits for the customer to pass a challenge. */
        readonly challenge: boolean;
      } & MayBeOver)
    | null;
}

type ShownOfCharge =
  | 'id'
  | 'status'
  | 'method'
  | 'cash_number'
  | 'expires_at_ms'
  | 'settled_at_ms'
  | 'card'
  | 'decline_code';

interface MayBeOver {
  /** Its time is up, whether the service has looked at it yet or not. */
  readonly over: boolean;
}

/**
 * What a payment is for, as its customer is told: in the words of its session, or in its own. Null
 * when neither says.
 */
export function descriptionFor(
  { description }: Pick<PaymentIntentRecord, 'description'>,
  session: Pick<CheckoutSessionRecord, 'description'> | null,
): string | null {
  return session?.description ?? description;
}

/**
 * The payment that the session or charge `id` belongs to, as of `serviceMs`; null when there is no
 * such object.
 */
export function viewPayment(view: View, id: string, serviceMs: number): PaymentView | null {
  const intentId =
    view.get('checkout_session', id)?.payment_intent ?? view.get('charge', id)?.payment_intent ?? null;
  if (intentId === null) return null;
  const intent = required(view, 'payment_intent', intentId);
  const session = intent.checkout_session && view.get('checkout_session', intent.checkout_session);
  const charge = intent.latest_charge && view.get('charge', intent.latest_charge);
  return {
    org: intent.org,
    livemode: intent.livemode,
    amount: intent.amount,
    currency: intent.currency,
    description: descriptionFor(intent, session || null),
    intent: {
      id: intent.id,
      status: intent.status,
      cancellation_reason: intent.cancellation_reason,
      busy: intent.network_call !== null,
      last_payment_error: intent.last_payment_error,
      payment_method_types: intent.payment_method_types,
      methods_left: methodsLeft(view, intent),
      return_url: intent.return_url,
    },
    session: session ? sessionView(session, serviceMs) : null,
    charge: charge ? chargeView(charge, serviceMs) : null,
  };
}

function sessionView(session: CheckoutSessionRecord, serviceMs: number): PaymentView['session'] {
  const { id, status, success_url, cancel_url, locale } = session;
  return { id, status, success_url, cancel_url, locale, over: isOver(session, serviceMs) };
}

function chargeView(charge: ChargeRecord, serviceMs: number): PaymentView['charge'] {
  const { id, status, method, cash_number, expires_at_ms, settled_at_ms, card, decline_code } = charge;
  const shown = { id, status, method, cash_number, expires_at_ms, settled_at_ms, card, decline_code };
  return { ...shown, over: isOver(charge, serviceMs), challenge: charge.challenge_token !== null };
}
