// Commands: what can change the state. The public ones come from the table of routes; the internal ones below are
// raised by the pages, by time, by networks and receivers, and by operators.

import type { CommandOperation, ParamsOf } from '../contract/routes/table.ts';
import type { EventType, PaymentMethodType } from '../contract/vocabulary.ts';
import type { SubmittedCard } from './charges.ts';
import type { Answer } from './decision.ts';
import type { AttemptReport } from './deliveries.ts';
import type { NetworkOutcome } from './network-outcomes.ts';
import type { DeliveryRecord } from './record.ts';

/** The parameters of the internal commands. `id` names the record that each is about. */
export interface InternalParams {
  /** A customer chose how to pay on the checkout page. */
  choose_method: { readonly method: PaymentMethodType };
  /** A customer typed a card on the card page. */
  submit_card: SubmittedCard;
  /** A customer answered the bank's challenge. */
  answer_challenge: { readonly passed: boolean };
  /** A customer goes back from the page of a charge, to choose a method again. */
  abandon_charge: object;
  /** A payment network answered, or notified. */
  settle_network_call: { readonly call: string; readonly outcome: NetworkOutcome };
  /** The time of a charge or a session has come. */
  expire_due: object;
  /** An operator settled a review. */
  close_review: { readonly as: 'approved' | 'refunded' };
  /** A webhook attempt ended: attempt `number` of the delivery, counted from 0. */
  record_attempt: AttemptReport;
  /** An operator sends a delivery again. */
  resend_delivery: { readonly delivery: string };
  /** An operator has a made-up event of a type sent to an endpoint, test mode only. */
  send_sample: { readonly type: EventType };
  /** A deleted endpoint has deliveries left to end. */
  drain_endpoint: { readonly after?: string };
  /** An operator rolls a signing secret. */
  roll_secret: { readonly overlapSeconds: number };
  /** Retention. */
  prune_deliveries: { readonly endedBeforeMs: number };
}

/** What the commands come to that the shard gives to itself. All others are answered. */
interface Results {
  expire_due: null;
  /** What became of the delivery with the attempt; null when the attempt was recorded before. */
  record_attempt: DeliveryRecord['status'] | null;
  /** Where the next drain goes on; null when no delivery is left. */
  drain_endpoint: { readonly after: string | null };
  prune_deliveries: { readonly more: boolean };
}

/** What an operation comes to when it is neither refused nor has to wait. */
export type Done<O extends AnyCommand> = O extends keyof Results ? { readonly result: Results[O] } : Answer;

export type InternalOperation = keyof InternalParams;
export type AnyCommand = CommandOperation | InternalOperation;

export type CommandParams<O extends AnyCommand> = O extends CommandOperation
  ? ParamsOf<O>
  : O extends InternalOperation
    ? InternalParams[O]
    : never;
