// The connector to an integrator who implements the contract in http-contract.ts, for cash agents,
// for cards that are typed on a page of the integrator's, or for both. Only an answer that follows
// the contract counts. Anything else (another status, no JSON, another operation's id) rejects, and
// the runner asks again.
//
// A page is opened when its customer comes, under the id of the charge, so that it is the same page
// each time.

import type { Static } from 'typebox';
import type { Clock } from '../core/clock.ts';
import { maskText } from '../core/secret-text.ts';
import { signatureFault, signatureHeader, signatureHeaderName } from '../crypto/signed-message.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import type { CardDetails } from '../domain/record.ts';
import type { PaidCard, ReportRefused } from './http-contract.ts';
import {
  answerBytesMax,
  type Operation,
  type OperationAnswer,
  operationAnswerCheck,
  parsed,
  type ReportRead,
  readReport,
} from './http-contract.ts';
import type {
  Callback,
  CardNetwork,
  CashCode,
  CashNetwork,
  HostedPayment,
  LookedUp,
  Received,
  Reply,
  Report,
} from './network.ts';
import { chargeEndOf, chargeOf } from './network.ts';
import type { SendPost } from './post.ts';

interface HttpConnectorOptions {
  /** Where operations are posted to. */
  readonly address: string;
  /** The secret that signs in both directions. */
  readonly secret: string;
  readonly send: SendPost;
  readonly now: Clock;
  /** Why customers may not be sent to an address, in short; null when they may. */
  readonly addressFault: (url: string) => string | null;
}

/** An id that no operation has. */
const unknownOperation = 'op_check';

/** Pages opened at a time for one organization: the connections are everybody's. */
const pagesOpeningMax = 32;

/** How long a page is asked about after its end: a payment may become known late. */
const pageOverMs = 86_400_000;

export function createHttpConnector(options: HttpConnectorOptions): {
  readonly card: CardNetwork;
  readonly cash: CashNetwork;
} {
  let pagesOpening = 0;
  const operate = (operation: Operation) => sendOperation(options, operation);
  const statusOf = (id: string) => operate({ operation: 'status', id });
  const carryOut = async (operation: Operation, call: NetworkCall) =>
    outcomeOf(known(await operate(operation)), call);
  const both = {
    host: new URL(options.address).host,
    readCallback: (callback: Callback) => readCallback(callback, options),
    async check() {
      if ((await statusOf(unknownOperation)).status === 'unknown') return;
      throw new Error('asked for the status of an operation that never was, the network did not say unknown');
    },
  };
  return {
    cash: {
      ...both,
      issue: (call, cash) => carryOut({ operation: 'issue', ...detailsOf(call), ...codeOf(cash) }, call),
      cancel: (call, cash) => carryOut({ operation: 'cancel', ...detailsOf(call), ...codeOf(cash) }, call),
      lookup: async (call) => lookedUp(await statusOf(call.id), call),
    },
    card: {
      ...both,
      openPage: async () => ({ result: 'awaited' }),
      async startPage(payment) {
        if (pagesOpening >= pagesOpeningMax)
          throw new Error(`${pagesOpeningMax} pages are being opened already`);
        pagesOpening++;
        try {
          return { url: pageOf(known(await operate(openingOf(payment))), options), fields: null };
        } finally {
          pagesOpening--;
        }
      },
      refund: (call) => carryOut({ operation: 'refund', ...detailsOf(call), charge: chargeOf(call) }, call),
      async lookup(call) {
        switch (call.action) {
          case 'open_card_page':
            return { result: 'awaited' };
          case 'await_card_payment':
            return pageOutcome(await statusOf(chargeOf(call)), call, options.now());
          case 'refund_charge':
            return lookedUp(await statusOf(call.id), call);
          default:
            return { result: 'failed', reason: 'unsupported' };
        }
      },
    },
  };
}

function detailsOf(call: NetworkCall) {
  return {
    id: call.id,
    organization: call.org,
    livemode: call.livemode,
    payment_intent: call.paymentIntent,
    amount: call.amount,
    currency: call.currency as 'mad',
  };
}

function codeOf({ number, expiresAtMs }: CashCode) {
  return { code: number, expires_at: Math.floor(expiresAtMs / 1000) };
}

function openingOf({ charge, customer, description, ...payment }: HostedPayment): Operation {
  const { name, email } = customer;
  return {
    operation: 'open_page',
    id: charge,
    organization: payment.org,
    livemode: payment.livemode,
    payment_intent: payment.paymentIntent,
    charge,
    amount: payment.amount,
    currency: payment.currency as 'mad',
    expires_at: Math.floor(payment.expiresAtMs / 1000),
    language: payment.language,
    paid_url: payment.paidUrl,
    unpaid_url: payment.unpaidUrl,
    ...(name !== null && { name }),
    ...(email !== null && { email }),
    ...(description !== null && { description }),
  };
}

/** Posts an operation. Rejects unless the answer follows the contract. */
async function sendOperation(
  { address, secret, send, now }: HttpConnectorOptions,
  operation: Operation,
): Promise<OperationAnswer> {
  const body = JSON.stringify(operation);
  const timestampSeconds = Math.floor(now() / 1000);
  const { status, body: answered } = await send({
    url: address,
    headers: {
      'Content-Type': 'application/json',
      'Idempotency-Key': operation.id,
      [signatureHeaderName]: signatureHeader({ secrets: [secret], timestampSeconds, body }),
    },
    body,
    isIdempotent: true,
    answerBytesMax,
  });
  if (status !== 200) throw new Error(`the network answered ${status}`);
  const answer = parsed(answered);
  if (!operationAnswerCheck().Check(answer))
    throw new Error("the network's answer does not follow the contract");
  if (answer.id !== operation.id) throw new Error("the network's answer is about another operation");
  return answer;
}

/** Rejects the answer to an operation that says that the operation never came. */
function known(answer: OperationAnswer): OperationAnswer {
  if (answer.status === 'unknown')
    throw new Error('the network does not know the operation that it was sent');
  return answer;
}

/** The integrator's own words, which are logged and stored: they may hold the number of a card. */
function reasonOf(reason: string | undefined, otherwise = 'refused'): string {
  return reason === undefined ? otherwise : maskText(reason);
}

function outcomeOf({ status, reason }: OperationAnswer, { action }: NetworkCall): NetworkOutcome {
  if (status === 'refused') return { result: 'failed', reason: reasonOf(reason) };
  if (status !== 'pending') return { result: 'done' };
  if (action === 'refund_charge') return { result: 'accepted' };
  throw new Error("the network's answer is pending, and only a refund may be pending");
}

function lookedUp(answer: OperationAnswer, call: NetworkCall): LookedUp {
  return answer.status === 'unknown' ? 'unknown' : outcomeOf(answer, call);
}

function pageOf({ status, reason, url }: OperationAnswer, { addressFault }: HttpConnectorOptions): string {
  if (status !== 'done') throw new Error(`the network opened no page (${reasonOf(reason, status)})`);
  if (url === undefined) throw new Error('the network gave no address of its page');
  const fault = addressFault(url);
  if (fault !== null) throw new Error(`customers can't be sent to the network's page: ${fault}`);
  return url;
}

/** What became of a page. Without a report, its customer may still pay. */
function pageOutcome(
  { status, reason, report }: OperationAnswer,
  call: NetworkCall,
  nowMs: number,
): NetworkOutcome {
  if (report !== undefined) {
    if (report.charge !== call.charge) throw new Error("the network's report is about another payment");
    return report.type === 'declined' ? declinedBy(report) : paidBy({ is: 'card', report });
  }
  if (status === 'refused') return { result: 'failed', reason: reasonOf(reason) };
  return nowMs < chargeEndOf(call) + pageOverMs
    ? { result: 'accepted' }
    : { result: 'failed', reason: 'not_paid' };
}

type Declined = Extract<ReportRead, { is: 'declined' }>;

function declinedBy({ decline_code }: Declined['report']) {
  return { result: 'declined', decline_code } as const;
}

/** Who took the money, and the card's brand, are the integrator's own words, too. */
function paidBy(read: Exclude<ReportRead, Declined>): Extract<NetworkOutcome, { result: 'paid' }> {
  const { reference, amount, currency } = read.report;
  const agent = read.is === 'cash' ? maskText(read.report.agent) : null;
  const card = read.is === 'card' ? cardOf(read.report.card) : null;
  return { result: 'paid', money: { reference, amount, currency, agent, card, isHeld: false } };
}

function cardOf(card: Static<typeof PaidCard>['card']): CardDetails | null {
  if (card === undefined) return null;
  const { brand, last4, exp_month = null, exp_year = null } = card;
  return { brand: maskText(brand), last4, exp_month, exp_year };
}

/** No connector is asked about an organization that is not there. */
type Refusal = Exclude<ReportRefused['error'], 'unknown_organization'>;

const statuses: Readonly<Record<Refusal, number>> = {
  invalid: 400,
  not_genuine: 401,
  unknown_code: 404,
  unknown_charge: 404,
  too_many: 409,
  try_again: 503,
};

function refuse(error: Refusal, message: string): Reply {
  return jsonReply(statuses[error], { error, message } satisfies ReportRefused);
}

function jsonReply(status: number, body: object): Reply {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

function readCallback({ signature, body }: Callback, { secret, now }: HttpConnectorOptions): Report | Reply {
  const fault = signatureFault(signature, body, secret, Math.floor(now() / 1000));
  if (fault !== null) return refuse('not_genuine', fault);
  const read = readReport(parsed(body));
  if (typeof read === 'string') return refuse('invalid', read);
  const isCash = read.is === 'cash';
  const about = isCash ? { cashNumber: read.report.code } : { charge: read.report.charge };
  const reply = (received: Received, charge: string | null) => replyTo(received, charge, isCash);
  const says = read.is === 'declined' ? { ...declinedBy(read.report), mayTryAgain: false } : paidBy(read);
  return { about, says, reply };
}

function replyTo(received: Received, charge: string | null, isCash: boolean): Reply {
  switch (received) {
    case 'credited':
    case 'repeated':
      return jsonReply(200, { status: 'credited', charge });
    case 'review':
    case 'declined':
      return jsonReply(200, { status: received, charge });
    case 'unknown':
      return isCash
        ? refuse('unknown_code', 'there is no payment with this code: give the money back')
        : refuse('unknown_charge', 'there is no such charge: give the money back');
    case 'too_many':
      return refuse(
        'too_many',
        'too much that was reported of this payment waits for a person: nothing is stored, give the money back',
      );
    case 'later':
      return refuse('try_again', 'nothing is stored yet: send the same message again in some seconds');
  }
}
