// Commands change the state. The public ones are in the table of routes. The internal ones below
// are given by the hosted pages, members, operators, payment networks, the webhook threads, and the
// shard itself when something is due.

import type { CommandOperation, ParamsOf } from '../contract/routes/table.ts';
import type { ClosedReason, EventType, PaymentMethodType } from '../contract/vocabulary.ts';
import type { TokenizedCard } from './charges.ts';
import type { Answer } from './decision.ts';
import type { AttemptReport } from './deliveries.ts';
import type { NetworkOutcome } from './network-outcomes.ts';
import type { NewPaymentLink } from './payment-links.ts';
import type { ReportedDecline, ReportedMoney, StatementMoney } from './received-money.ts';
import type { DeliveryRecord } from './record.ts';

/** The parameters of the internal commands. `id` names the record that each is about. */
export interface InternalParams {
  /** A member makes a payment link. */
  create_payment_link: NewPaymentLink;
  /** A member pauses a payment link or opens it again. */
  pause_payment_link: { readonly paused: boolean };
  /** A member removes a payment link. The payments that were made with it stay. */
  remove_payment_link: object;
  /** A customer opens a payment link to pay. */
  open_payment_link: object;
  /** A customer chose how to pay on the checkout page. */
  choose_method: { readonly method: PaymentMethodType };
  /** A customer typed a card on the card page. */
  submit_card: TokenizedCard;
  /** A customer answered the bank's challenge. */
  answer_challenge: { readonly passed: boolean };
  /** A customer goes back from the page of a charge, to choose a method again. */
  abandon_charge: object;
  /** A customer left the network's page without paying. */
  leave_network_page: object;
  /** A payment network answered a call, or sent the final outcome. */
  apply_network_outcome: { readonly call: string; readonly outcome: NetworkOutcome };
  /** A payment network reports money for a charge. */
  receive_money: ReportedMoney;
  /** A payment network reports that the customer's card was declined on its page. */
  receive_decline: ReportedDecline;
  /** An operator reconciles a network's statement that has money which no payment has. */
  review_statement_money: StatementMoney;
  /** A charge or a session is due to expire. */
  expire_due: object;
  /** An operator settled a review. */
  close_review: { readonly as: ClosedReason };
  /** A delivery attempt ended. `serial` is its number if it becomes a record. */
  record_attempt: AttemptReport & { readonly serial: number };
  /** First attempts of deliveries have succeeded, none of which becomes a record. */
  record_successes: { readonly reports: readonly AttemptReport[] };
  /** An attempt with this serial number was recorded: older ones may be beyond the quota. */
  trim_attempts: { readonly serial: number };
  /** An operator resends a delivery. */
  resend_delivery: { readonly delivery: string };
  /** A member or an operator resends the failed deliveries of an endpoint, some at a time. */
  resend_failed: { readonly after?: string | undefined };
  /** An operator sends a sample event of a type to an endpoint, in test mode only. */
  send_sample: { readonly type: EventType };
  /** Deliveries of a deleted endpoint have to be ended. */
  drain_endpoint: { readonly after?: string };
  /** An operator rolls a signing secret. */
  roll_secret: { readonly overlapSeconds: number };
  /** These deliveries ended longer ago than the retention time. `limit` counts records. */
  prune_deliveries: { readonly deliveries: readonly string[]; readonly limit: number };
  /**
   * Events are older than the retention time: those of the organization whose ids come before this
   * one. Those up to `after` were removed already.
   */
  prune_events: { readonly after?: string | undefined; readonly before: string };
}

/** The results of the commands that the shard gives to itself. All others have answers. */
interface Results {
  expire_due: null;
  /** The delivery's status after the attempt; null when the attempt was recorded before. */
  record_attempt: DeliveryRecord['status'] | null;
  /** The same of each delivery. */
  record_successes: readonly (DeliveryRecord['status'] | null)[];
  trim_attempts: null;
  /** The sort key after which the next drain continues; null when no delivery is left. */
  drain_endpoint: { readonly after: string | null };
  prune_deliveries: { readonly removed: number };
  /** The event after which the next pruning continues; null when none is left. */
  prune_events: { readonly after: string | null };
}

/** The outcome of a command that is neither refused nor has to wait. */
export type Done<O extends AnyCommand> = O extends keyof Results ? { readonly result: Results[O] } : Answer;

export type InternalOperation = keyof InternalParams;
export type AnyCommand = CommandOperation | InternalOperation;

export type CommandParams<O extends AnyCommand> = O extends CommandOperation
  ? ParamsOf<O>
  : O extends InternalOperation
    ? InternalParams[O]
    : never;
