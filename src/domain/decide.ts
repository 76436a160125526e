// The state machine. `decide` is pure: the time, chance and the caller are in the context, and the
// decision is returned as values. Each command has one decider; a route or an internal command
// without one does not compile.

import { trimAttempts } from './attempts.ts';
import * as charges from './charges.ts';
import { chooseMethod, createCheckoutSession, expireCheckoutSession } from './checkout-sessions.ts';
import type { AnyCommand, CommandParams, Done } from './command.ts';
import { createCustomer, deleteCustomer, updateCustomer } from './customers.ts';
import type { Context, Decision, Outcome } from './decision.ts';
import {
  pruneDeliveries,
  pruneEvents,
  recordAttempt,
  recordSuccesses,
  resendDelivery,
  resendFailed,
} from './deliveries.ts';
import { Draft } from './draft.ts';
import { expireDue, expiringFirst } from './due.ts';
import { find } from './find.ts';
import { applyOutcome } from './network-outcomes.ts';
import {
  cancelPaymentIntent,
  confirmPaymentIntent,
  createPaymentIntent,
  updatePaymentIntent,
} from './payment-intents.ts';
import * as links from './payment-links.ts';
import { payCash, receiveDecline, receiveMoney, reviewStatementMoney } from './received-money.ts';
import type { RecordKind, RecordOf } from './record.ts';
import { createRefund, failRefundForTest, succeedRefundForTest } from './refunds.ts';
import { closeReview } from './reviews.ts';
import type { View } from './view.ts';
import * as endpoints from './webhook-endpoints.ts';

type Decider<O extends AnyCommand> = (draft: Draft, params: CommandParams<O>, id: string) => Outcome<Done<O>>;

/** Gives a decider the record that the command names; there is none when it is not the caller's. */
function of<K extends RecordKind, P>(
  kind: K,
  decider: (draft: Draft, params: P, record: RecordOf<K>) => Outcome,
): (draft: Draft, params: P, id: string) => Outcome {
  return (draft, params, id) => {
    const found = find(draft, draft.context, kind, id);
    return 'refusal' in found ? found : decider(draft, params, found.record);
  };
}

const deciders: { readonly [O in AnyCommand]: Decider<O> } = {
  create_payment_intent: createPaymentIntent,
  update_payment_intent: of('payment_intent', updatePaymentIntent),
  confirm_payment_intent: of('payment_intent', confirmPaymentIntent),
  cancel_payment_intent: of('payment_intent', cancelPaymentIntent),
  create_checkout_session: createCheckoutSession,
  expire_checkout_session: of('checkout_session', expireCheckoutSession),
  create_refund: createRefund,
  create_customer: createCustomer,
  update_customer: updateCustomer,
  delete_customer: deleteCustomer,
  create_webhook_endpoint: endpoints.createWebhookEndpoint,
  update_webhook_endpoint: endpoints.updateWebhookEndpoint,
  delete_webhook_endpoint: endpoints.deleteWebhookEndpoint,
  complete_charge: expiringFirst(of('charge', charges.completeChargeForTest)),
  fail_charge: expiringFirst(of('charge', charges.failChargeForTest)),
  expire_charge: expiringFirst(of('charge', charges.expireChargeForTest)),
  pay_cash: payCash,
  succeed_refund: of('refund', succeedRefundForTest),
  fail_refund: of('refund', failRefundForTest),
  create_payment_link: links.createPaymentLink,
  pause_payment_link: of('payment_link', links.pausePaymentLink),
  remove_payment_link: of('payment_link', links.removePaymentLink),
  open_payment_link: of('payment_link', links.openPaymentLink),
  choose_method: expiringFirst(of('checkout_session', chooseMethod)),
  submit_card: expiringFirst(of('charge', charges.submitCard)),
  answer_challenge: expiringFirst(of('charge', charges.answerChallenge)),
  leave_network_page: expiringFirst(of('charge', charges.leaveNetworkPage)),
  abandon_charge: expiringFirst(of('charge', charges.abandonCharge)),
  apply_network_outcome: applyOutcome,
  receive_money: receiveMoney,
  receive_decline: receiveDecline,
  review_statement_money: of('charge', reviewStatementMoney),
  expire_due: expireDue,
  close_review: of('review', closeReview),
  record_attempt: recordAttempt,
  record_successes: recordSuccesses,
  trim_attempts: trimAttempts,
  resend_delivery: resendDelivery,
  resend_failed: resendFailed,
  drain_endpoint: endpoints.drainEndpoint,
  send_sample: of('webhook_endpoint', endpoints.sendSample),
  roll_secret: of('webhook_endpoint', endpoints.rollSecret),
  prune_deliveries: pruneDeliveries,
  prune_events: pruneEvents,
};

export interface Command<O extends AnyCommand = AnyCommand> {
  readonly operation: O;
  readonly id: string;
  readonly params: CommandParams<O>;
}

/** Decides one command on the state that `view` shows. A refusal changes nothing. */
export function decide<O extends AnyCommand>(
  view: View,
  command: Command<O>,
  context: Context,
): Decision<Done<O>> {
  const draft = new Draft(view, context);
  const decider = deciders[command.operation];
  const outcome = decider(draft, command.params, command.id);
  if ('refusal' in outcome || 'checksAddress' in outcome) return { changes: [], outcome, networkCalls: [] };
  return { changes: draft.changes, outcome, networkCalls: draft.networkCalls };
}
