// A gateway as CMI's, made from docs/networks/cmi.md: the page that the customer is sent to, the callback, the API. Tests tell it
// to misbehave: each misbehaviour is used up by one callback or one request.

import { answerApiRequest, type Credentials, problem, type RequestType, readApiRequest } from './api.ts';
import { type Change, callbackBody, callbackFields, changes, send } from './callback.ts';
import { isPaid, Ledger, type Order, sumsOf, type Transaction } from './ledger.ts';
import { decimalOf } from './money.ts';
import { decisionPage, errorPage, returnPage } from './pages.ts';
import { readStart } from './start-form.ts';

export interface GatewayOptions extends Credentials {
  readonly storeKey: string;
}

/** What happens to a callback: it is changed, or it goes another way. */
export type CallbackFault =
  | Change
  /** Never sent. */
  | 'dropped'
  | 'twice'
  | 'twice_at_once'
  /** The customer is charged once more, and both are told. */
  | 'second_payment'
  /** Sent when the browser is back at the merchant. */
  | 'after_the_return'
  /** The service answers, and the answer is lost. */
  | 'answer_lost'
  /** The customer is charged one dirham more than was asked for. */
  | 'charged_more';

/** What happens to a request: `error` and `refused` come before it is carried out, the others after. */
export type ApiFault = 'error' | 'refused' | 'nonsense' | 'cut_off' | 'held';

export type Misbehaviour = { readonly oid: string; readonly times?: number } & (
  | { readonly callback: CallbackFault }
  | { readonly api: RequestType; readonly fault: ApiFault }
);

export interface Answer {
  /** Null: the connection is cut. */
  readonly status: number | null;
  readonly type: 'html' | 'xml';
  readonly body: string;
  /** Runs when the answer was sent. */
  readonly afterwards?: () => unknown;
}

const html = (body: string, status = 200): Answer => ({ status, type: 'html', body });
const xml = (body: string, status = 200): Answer => ({ status, type: 'xml', body });
/** The return codes of what is not accepted. Without the bank's challenge no bank was asked, so there is none. */
const returnCodes = { decline: '51', fail_challenge: '' } as const;
export type Decision = 'approve' | keyof typeof returnCodes;

export class Gateway {
  readonly ledger = new Ledger();
  readonly #options: GatewayOptions;
  readonly #misbehaviours: Misbehaviour[] = [];
  /** How often each kind of request came for an order. */
  readonly #requests = new Map<string, Record<string, number>>();
  #release = Promise.withResolvers<void>();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  misbehave(misbehaviour: Misbehaviour): void {
    for (let times = misbehaviour.times ?? 1; times > 0; times--) this.#misbehaviours.push(misbehaviour);
  }

  /** Answers what is held. */
  release(): void {
    this.#release.resolve();
    this.#release = Promise.withResolvers<void>();
  }

  requestsOf(oid: string): Readonly<Record<string, number>> {
    return this.#requests.get(oid) ?? {};
  }

  /** `/fim/est3Dgate` */
  start(body: string): Answer {
    const start = readStart(body, this.#options.clientId, this.#options.storeKey);
    if (typeof start === 'string') return html(errorPage(start), 400);
    const order = this.ledger.open(start.oid, start.fields, start.amount);
    if (order === null) return html(errorPage('This oid was used before.'), 400);
    return html(decisionPage(order.oid, decimalOf(order.amount)));
  }

  /** What the customer chose on the gateway's page. */
  async decide(body: string): Promise<Answer> {
    const form = new URLSearchParams(body);
    const order = this.ledger.orders.get(form.get('oid') ?? '');
    if (order === undefined) return html(errorPage('There is no such oid.'), 400);
    if (isPaid(order)) return html(errorPage('This oid was used before.'), 400);
    const decision = form.get('decision') as Decision;
    const fault = this.#take((each) => 'callback' in each && each.oid === order.oid);
    const way = fault !== null && 'callback' in fault ? fault.callback : null;
    if (way === 'charged_more') order.amount += 100;
    const isApproved = decision === 'approve';
    const transaction = isApproved
      ? this.ledger.authorize(order)
      : this.ledger.decline(order, returnCodes[decision]);
    const back = () => {
      const address = order.fields.get(isApproved ? 'okUrl' : 'failUrl')!;
      const fields = new Map(callbackFields(order, transaction));
      fields.delete('callbackCall');
      return html(
        returnPage(address, new URLSearchParams(callbackBody(fields, this.#options.storeKey, null))),
      );
    };
    if (way === 'after_the_return')
      return { ...back(), afterwards: () => this.#tell(order, transaction, null) };
    await this.#tell(order, transaction, way);
    return back();
  }

  /** Sends the callback of an order again, or for the first time; one that nobody paid is said to be paid. */
  async callBack(oid: string, change: Change | null): Promise<void> {
    const order = this.ledger.orders.get(oid)!;
    const sale = order.transactions.findLast(({ type }) => type === 'S');
    await this.#tell(order, sale ?? new Ledger().authorize({ ...order, transactions: [] }), change);
  }

  async #tell(order: Order, transaction: Transaction, fault: CallbackFault | null): Promise<void> {
    const change = changes.find((each) => each === fault) ?? null;
    const once = (of = transaction) => this.#tellOnce(order, of, change, fault === 'answer_lost');
    switch (fault) {
      case 'dropped':
        return;
      case 'twice':
        await once();
        return once();
      case 'twice_at_once':
        await Promise.all([once(), once()]);
        return;
      case 'second_payment':
        await once();
        return once(this.ledger.authorize(order));
      default:
        return once();
    }
  }

  /** Sends a callback, and does what its answer says. */
  async #tellOnce(order: Order, transaction: Transaction, change: Change | null, isLost: boolean) {
    const fields = callbackFields(order, transaction);
    const sent = await send(callbackBody(fields, this.#options.storeKey, change), fields);
    order.callbacks.push(sent);
    if (sent.status === 200 && sent.answer === 'ACTION=POSTAUTH' && !isLost)
      this.ledger.capture(order, null, transaction.transId);
  }

  /** `/fim/api` */
  async request(body: string): Promise<Answer> {
    const request = readApiRequest(body, this.#options);
    if (typeof request === 'string') return xml(request);
    const { oid, type } = request;
    const counts = this.#requests.get(oid) ?? {};
    this.#requests.set(oid, { ...counts, [type]: (counts[type] ?? 0) + 1 });
    const found = this.#take((each) => 'api' in each && each.oid === oid && each.api === type);
    const fault = found !== null && 'api' in found ? found.fault : null;
    if (fault === 'error') return html('<h1>Service Unavailable</h1>', 500);
    if (fault === 'refused') return xml(problem('CORE-5000', 'Not now.', oid));
    const answer = xml(answerApiRequest(this.ledger, request));
    switch (fault) {
      case 'nonsense':
        return xml('<CC5Response><ProcReturnCode>00</ProcRe');
      case 'cut_off':
        return { ...answer, status: null };
      case 'held':
        await this.#release.promise;
        return answer;
      default:
        return answer;
    }
  }

  #take(fits: (misbehaviour: Misbehaviour) => boolean): Misbehaviour | null {
    const at = this.#misbehaviours.findIndex(fits);
    return at === -1 ? null : this.#misbehaviours.splice(at, 1)[0]!;
  }

  /** The orders with what came of them, the oldest first. */
  orders() {
    return [...this.ledger.orders.values()].map((order) => ({
      ...sumsOf(order),
      requests: this.requestsOf(order.oid),
    }));
  }
}
