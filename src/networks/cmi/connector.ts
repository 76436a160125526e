// The connector to CMI (Centre Monétique Interbancaire), where customers pay on CMI's own page:
// this service never sees a card number. CMI posts the outcome, and holds the money until the
// answer to that, or a call, takes it. docs/networks/cmi.md has the protocol and its sources.
// Without a user of CMI's interface for merchants nothing can be asked, taken or refunded by a
// call.

import { kindOfId } from '../../contract/id-prefixes.ts';
import type { Clock } from '../../core/clock.ts';
import type { NetworkCall } from '../../domain/network-call.ts';
import type { NetworkOutcome } from '../../domain/network-outcomes.ts';
import {
  type Callback,
  type CardNetwork,
  chargeEndOf,
  chargeOf,
  type LookedUp,
  type Received,
  type Reply,
  type Report,
} from '../network.ts';
import type { SendPost } from '../post.ts';
import { readAttempt } from './callback.ts';
import { currencyNamed } from './dirhams.ts';
import { formFields } from './form.ts';
import {
  type ApiUser,
  type CmiOperation,
  type CmiResponse,
  requestOf,
  responseBytesMax,
  responseOf,
} from './messages.ts';
import {
  historyOf,
  isWithoutMoney,
  latestOf,
  type RefundFound,
  refundIn,
  saleOf,
  type Transaction,
  type TransactionState,
  transactionName,
} from './order.ts';

interface CmiConnectorOptions {
  /** The address of the gateway, such as `https://payment.cmi.co.ma`. */
  readonly gateway: string;
  readonly clientId: string;
  readonly storeKey: string;
  readonly api: ApiUser | null;
  /** How long an operation that was not answered may still be under way at the gateway. */
  readonly doubtMs: number;
  readonly send: SendPost;
  readonly now: Clock;
}

export function createCmiConnector(options: CmiConnectorOptions): CardNetwork {
  const { gateway, clientId, storeKey, doubtMs, now } = options;
  const calls = new CmiCalls(options);
  return {
    host: new URL(gateway).host,
    doubtMs,
    openPage: async () => calls.openPage(),
    startPage: (payment) => ({
      url: new URL('/fim/est3Dgate', gateway).href,
      fields: formFields(payment, { clientId, storeKey }, now()),
    }),
    readCallback: (callback) => readCallback(callback, options),
    lookup: (call) => calls.lookup(call),
    capture: (call) => calls.capture(call),
    release: (call) => calls.release(call),
    refund: (call) => calls.refund(call),
    check: () => calls.check(),
  };
}

/** An order that never was. */
const unknownOrder = 'ch_check';

/** Refusals of a refund that may be accepted later: something is not settled yet. */
const refusedForNow: ReadonlySet<string> = new Set(['CORE-2508', 'CORE-2304', 'CORE-2311', 'CORE-2314']);

/**
 * Errors of the gateway itself, after which nobody knows what it has done: 99 is one unnamed, 00
 * contradicts the error that it comes with, and of `refused` nothing more is known.
 */
const gatewayErrors = /^(CORE-(2400|2500|2501|2700|2800|2900|3000)|91|96|99|00|refused)$/;

class CmiCalls {
  readonly #options: CmiConnectorOptions;

  constructor(options: CmiConnectorOptions) {
    this.#options = options;
  }

  /** There is nothing to tell CMI: the customer's browser tells it by posting the form. */
  openPage(): NetworkOutcome {
    return { result: this.#options.api === null ? 'done' : 'awaited' };
  }

  async lookup(call: NetworkCall): Promise<LookedUp> {
    switch (call.action) {
      case 'open_card_page':
        return this.openPage();
      case 'await_card_payment':
        return pageOutcome(await this.#sale(chargeOf(call)), call, this.#options.now());
      case 'capture_charge':
        return captured(await this.#sales(chargeOf(call)), call);
      case 'release_charge':
        return released(await this.#sales(chargeOf(call)));
      case 'refund_charge':
        return refunded(refundIn(await this.#history(chargeOf(call)), call.id, call.amount, isOurs));
      default:
        return 'unknown';
    }
  }

  async capture(call: NetworkCall): Promise<NetworkOutcome> {
    return mustBeDone(await this.#ask({ type: 'PostAuth', centimes: call.amount }, chargeOf(call)));
  }

  async release(call: NetworkCall): Promise<NetworkOutcome> {
    return mustBeDone(await this.#ask({ type: 'Void' }, chargeOf(call)));
  }

  async refund(call: NetworkCall): Promise<NetworkOutcome> {
    if (this.#options.api === null) return { result: 'failed', reason: 'no_api_user' };
    const operation = { type: 'Credit', centimes: call.amount, transaction: call.id } as const;
    const { isDone, fault } = await this.#ask(operation, chargeOf(call));
    if (isDone) return { result: 'done' };
    if (refusedForNow.has(fault)) return { result: 'accepted', refusal: fault };
    if (gatewayErrors.test(fault)) throw new Error(`the network had an error (${fault})`);
    return { result: 'failed', reason: fault };
  }

  async check(): Promise<void> {
    if ((await this.#latest(unknownOrder)) !== null)
      throw new Error('asked about an order that never was, the network told of a payment');
  }

  /** What became of the attempts to pay an order: the one with money, if there is one. */
  async #sale(order: string): Promise<Transaction | null> {
    const latest = await this.#latest(order);
    const tellsAll = latest === null || (latest.kind === 'sale' && !isWithoutMoney(latest));
    return tellsAll ? latest : saleOf(await this.#history(order));
  }

  /** The payments of an order, of which maybe two are accepted: `PostAuth` must not take both. */
  async #sales(order: string): Promise<Transaction[]> {
    const latest = await this.#latest(order);
    if (latest === null) return [];
    if (latest.kind === 'sale' && latest.state === 'taken') return [latest];
    return (await this.#history(order)).filter(({ kind }) => kind === 'sale');
  }

  async #latest(order: string): Promise<Transaction | null> {
    return latestOf(await this.#ask({ query: 'ORDERSTATUS' }, order));
  }

  async #history(order: string): Promise<Transaction[]> {
    return historyOf(await this.#ask({ query: 'ORDERHISTORY' }, order));
  }

  async #ask(operation: CmiOperation, order: string): Promise<CmiResponse> {
    const { gateway, clientId, api, send } = this.#options;
    if (api === null) throw new Error('CMI can be asked only with api_user and api_password');
    const { status, body } = await send({
      url: new URL('/fim/api', gateway).href,
      headers: { 'Content-Type': 'application/xml; charset=utf-8' },
      body: requestOf(operation, order, clientId, api),
      // A refund that is sent twice may be made twice.
      isIdempotent: 'query' in operation,
      answerBytesMax: responseBytesMax,
    });
    if (status !== 200) throw new Error(`the network answered ${status}`);
    return responseOf(body, order);
  }
}

/** We name a refund as its call. */
function isOurs(name: string): boolean {
  return kindOfId(name) === 'network_call';
}

/** A refusal doesn't end a call about held money: it is retried, and operators see that. */
function mustBeDone({ isDone, fault }: CmiResponse): NetworkOutcome {
  if (!isDone) throw new Error(`the network refused it (${fault})`);
  return { result: 'done' };
}

/** For this long after the end of its page, CMI is asked whether it took a payment after all. */
const pageOverMs = 3_600_000;

/** What became of CMI's page. After a refusal the customer may try another card there. */
function pageOutcome(sale: Transaction | null, call: NetworkCall, nowMs: number): NetworkOutcome {
  switch (sale?.state) {
    case 'held':
    case 'taken': {
      const { name: reference, centimes: amount } = sale;
      if (!transactionName.test(reference))
        throw new Error('the network tells of a payment without its name');
      return {
        result: 'paid',
        money: { reference, amount, currency: call.currency, agent: null, card: null, isHeld: true },
      };
    }
    case 'voided':
      return { result: 'failed', reason: 'voided' };
    case 'pending':
      return { result: 'accepted' };
    default:
      return nowMs < chargeEndOf(call) + pageOverMs
        ? { result: 'accepted' }
        : { result: 'failed', reason: 'not_paid' };
  }
}

function captured(sales: readonly Transaction[], { amount }: NetworkCall): LookedUp {
  const inState = (state: TransactionState) => sales.filter((sale) => sale.state === state);
  const [money = null] = [...inState('taken'), ...inState('held')];
  if (money !== null) {
    const isTaken = money.state === 'taken';
    if (money.centimes !== amount)
      return { result: 'failed', reason: 'another_amount', taken: isTaken ? money.centimes : 0 };
    return isTaken ? { result: 'done' } : 'unknown';
  }
  if (sales.some(({ state }) => state === 'voided')) return { result: 'failed', reason: 'voided' };
  throw new Error('the network does not know of the payment');
}

function released(sales: readonly Transaction[]): LookedUp {
  const isAny = (state: TransactionState) => sales.some((sale) => sale.state === state);
  if (isAny('taken')) return { result: 'failed', reason: 'captured' };
  if (isAny('held')) return 'unknown';
  if (isAny('pending')) throw new Error('the payment is still under way at the network');
  return { result: 'done' };
}

function refunded(found: RefundFound): LookedUp {
  switch (found) {
    case 'made':
      return { result: 'done' };
    case 'pending':
      return { result: 'accepted' };
    case 'voided':
      return { result: 'failed', reason: 'voided' };
    case 'not_there':
      return 'unknown';
    case 'cannot_tell':
      throw new Error('the network has made a refund that may be this one, under another name');
  }
}

function readCallback({ body }: Callback, { clientId, storeKey, api }: CmiConnectorOptions): Report | Reply {
  const attempt = readAttempt(body, storeKey);
  if (typeof attempt === 'string' || attempt.clientId !== clientId) return say('FAILURE');
  const { order, centimes, currency, transaction, decline, card } = attempt;
  const about = { charge: order };
  const reply = (received: Received) => replyTo(received, api !== null);
  if (decline !== null)
    return { about, says: { result: 'declined', decline_code: decline, mayTryAgain: true }, reply };
  if (centimes === null || !transactionName.test(transaction)) return say('FAILURE');
  const money = {
    reference: transaction,
    amount: centimes,
    currency: currencyNamed(currency),
    agent: null,
    card,
    isHeld: api !== null,
  };
  return { about, says: { result: 'paid', money }, reply };
}

/** `ACTION=POSTAUTH` takes the money; `APPROVED` notes an outcome, `FAILURE` a fault. */
function replyTo(received: Received, isCaptured: boolean): Reply {
  switch (received) {
    case 'credited':
      return say('ACTION=POSTAUTH');
    case 'repeated':
      // The first answer may have been lost. If no call takes the money, this answer has to.
      return say(isCaptured ? 'APPROVED' : 'ACTION=POSTAUTH');
    case 'review':
    case 'declined':
      return say('APPROVED');
    case 'unknown':
    case 'too_many':
      return say('FAILURE');
    case 'later':
      return say('FAILURE', 503);
  }
}

function say(body: 'ACTION=POSTAUTH' | 'APPROVED' | 'FAILURE', status = 200): Reply {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}
