// A naive model of payments: plain objects that are changed in place. It is written from the published tables of states, and
// uses nothing of `src/domain`. It tells the expected answer and events of every command, and the state after it.

import type { Call, Charge, Expected, Made, Params, Payment, Refund, Session } from './model-records.ts';

const minuteMs = 60_000;
const cardMs = 30 * minuteMs;
const cashMs = 3 * 24 * 60 * minuteMs;
const sessionMs = 24 * 60 * minuteMs;

const refuse = (code: string): Expected => ({ code, events: [] });
const ok = (...events: string[]): Expected => ({ code: 'ok', events });
const waits = (...events: string[]): Expected => ({ code: 'waits', events });
const failedEvents = ['charge.failed', 'payment_intent.payment_failed'];

export class Model {
  readonly payments = new Map<string, Payment>();
  readonly sessions = new Map<string, Payment>();
  readonly charges = new Map<string, Charge>();
  readonly refunds = new Map<string, Refund>();
  readonly calls = new Map<string, Call>();
  /** Centimes that customers handed over, whatever became of them. */
  arrived = 0;

  play(operation: string, id: string, params: Params, made: Made, nowMs: number): Expected {
    switch (operation) {
      case 'create_payment_intent':
        return this.#create(params, made, null);
      case 'create_checkout_session': {
        // A session ends with a whole second.
        const endsMs = nowMs - (nowMs % 1000) + sessionMs;
        const session: Session = { id: made.session, status: 'open', endsMs, dueMs: endsMs };
        return this.#create(params, made, session);
      }
      case 'update_payment_intent':
        return this.#update(id);
      case 'confirm_payment_intent':
        return this.#confirm(id, params, made);
      case 'choose_method':
        return this.#choose(id, params, made, nowMs);
      case 'cancel_payment_intent':
        return this.#cancel(id, made);
      case 'expire_checkout_session':
        return this.#expireSession(id, made);
      case 'submit_card':
        return this.#submit(id, params.challenge === true, made, nowMs);
      case 'answer_challenge':
        return this.#answer(id, params.passed === true, made, nowMs);
      case 'abandon_charge':
        return this.#abandon(id, made, nowMs);
      case 'apply_network_outcome':
        return this.#settle(params, made, nowMs);
      case 'complete_charge':
        return this.#complete(id, params.amount as number | undefined, nowMs);
      case 'fail_charge':
      case 'expire_charge':
        return this.#helped(id, nowMs, (charge) => {
          if (operation === 'fail_charge' && charge.method === 'card') charge.tried = true;
          this.#overrule(charge);
          return this.#fail(charge);
        });
      case 'pay_cash':
        return this.#payCash(params.number as string, params.amount as number, nowMs);
      case 'create_refund':
        return this.#refund(params, made);
      case 'succeed_refund':
      case 'fail_refund':
        return this.#decideRefund(this.refunds.get(id), operation === 'succeed_refund');
      case 'expire_due':
        return this.#due(id, made, nowMs);
      default:
        throw new Error(`the model does not know ${operation}`);
    }
  }

  /** What is due, in order. */
  due(nowMs: number): string[] {
    const charges = [...this.charges.values()]
      .filter(({ status }) => status === 'pending')
      .map(({ id, dueMs }) => ({ id, atMs: dueMs }));
    const sessions = [...this.sessions.values()]
      .filter(({ session }) => session!.status === 'open')
      .map(({ session }) => ({ id: session!.id, atMs: session!.dueMs }));
    return [...charges, ...sessions]
      .filter(({ atMs }) => atMs <= nowMs)
      .sort((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
  }

  #create(params: Params, made: Made, session: Session | null): Expected {
    const methods = (params.payment_method_types as string[] | undefined) ?? ['card'];
    const amount = params.amount as number;
    if (amount < (methods.includes('cash') ? 10_000 : 100)) return refuse('amount_too_small');
    const payment: Payment = {
      id: made.payment,
      amount,
      methods,
      session,
      status: 'requires_payment_method',
      busy: false,
      received: 0,
      latest: null,
    };
    this.payments.set(payment.id, payment);
    if (session !== null) this.sessions.set(session.id, payment);
    return ok('payment_intent.created');
  }

  #blocked(payment: Payment, ...allowed: Payment['status'][]): Expected | null {
    if (payment.busy) return refuse('payment_intent_busy');
    return allowed.includes(payment.status) ? null : refuse('payment_intent_unexpected_state');
  }

  #update(id: string): Expected {
    const payment = this.payments.get(id);
    if (payment === undefined) return refuse('resource_missing');
    return payment.busy ? refuse('payment_intent_busy') : ok();
  }

  #confirm(id: string, params: Params, made: Made): Expected {
    const payment = this.payments.get(id);
    if (payment === undefined) return refuse('resource_missing');
    const asked = params.payment_method_type as string | undefined;
    if (asked === undefined && payment.methods.length > 1) return refuse('parameter_missing');
    if (asked !== undefined && !payment.methods.includes(asked)) return refuse('parameter_invalid');
    return this.#open(payment, asked ?? payment.methods[0]!, made);
  }

  #choose(id: string, params: Params, made: Made, nowMs: number): Expected {
    const payment = this.sessions.get(id);
    if (payment === undefined) return refuse('resource_missing');
    if (payment.session!.status !== 'open' || this.#isSessionOver(payment, nowMs)) {
      return refuse('invalid_request');
    }
    const method = params.method as string;
    if (!payment.methods.includes(method)) return refuse('payment_method_unavailable');
    return this.#open(payment, method, made);
  }

  #open(payment: Payment, method: string, made: Made): Expected {
    const blocked = this.#blocked(payment, 'requires_payment_method');
    if (blocked !== null) return blocked;
    const before = [...this.charges.values()].filter((charge) => charge.payment === payment);
    const cards = before.filter(({ tried }) => tried).length;
    if (before.length >= 50 || (method === 'card' && cards >= 10))
      return refuse('payment_intent_unexpected_state');
    this.#call(method === 'card' ? 'open_card_page' : 'issue_cash_code', payment, made);
    payment.busy = true;
    return waits();
  }

  #call(action: string, payment: Payment, made: Made, refund: string | null = null): void {
    const { id, startedMs, charge, number } = made.call!;
    this.calls.set(id, { id, action, startedMs, payment, charge, number, refund, over: false });
  }

  #cancel(id: string, made: Made): Expected {
    const payment = this.payments.get(id);
    if (payment === undefined) return refuse('resource_missing');
    return this.#blocked(payment, 'requires_payment_method', 'requires_action') ?? this.#end(payment, made);
  }

  #expireSession(id: string, made: Made): Expected {
    const payment = this.sessions.get(id);
    if (payment === undefined) return refuse('resource_missing');
    if (payment.session!.status !== 'open') return refuse('invalid_request');
    return this.#blocked(payment, 'requires_payment_method', 'requires_action') ?? this.#end(payment, made);
  }

  #end(payment: Payment, made: Made): Expected {
    const latest = this.charges.get(payment.latest ?? '');
    const events: string[] = [];
    if (latest?.status === 'pending') {
      latest.status = 'failed';
      latest.challenged = false;
      events.push('charge.failed');
      this.#givenUp(latest, made);
    }
    payment.status = 'canceled';
    events.push('payment_intent.canceled');
    if (payment.session !== null) {
      payment.session.status = 'expired';
      events.push('checkout.session.expired');
    }
    return ok(...events);
  }

  /** Its time is up, and nothing keeps it open. */
  #isSessionOver({ session, busy, status }: Payment, nowMs: number): boolean {
    return session?.status === 'open' && session.endsMs <= nowMs && !busy && status !== 'processing';
  }

  /** Its time is up, or that of its session, and nothing keeps it open. */
  #isOver({ status, endsMs, payment }: Charge, nowMs: number): boolean {
    if (status !== 'pending' || payment.busy) return false;
    return endsMs <= nowMs || this.#isSessionOver(payment, nowMs);
  }

  #typing(id: string, nowMs: number): Expected | Charge {
    const charge = this.charges.get(id);
    if (charge === undefined || charge.method === 'cash') return refuse('resource_missing');
    return this.#inHand(charge, nowMs);
  }

  /** The charge if its customer can still act on it, else the refusal. */
  #inHand(charge: Charge, nowMs: number): Expected | Charge {
    const blocked = this.#blocked(charge.payment, 'requires_action');
    if (blocked !== null) return blocked;
    if (this.#isOver(charge, nowMs) || this.#isSessionOver(charge.payment, nowMs)) {
      return refuse('payment_intent_unexpected_state');
    }
    return charge.status === 'pending' ? charge : refuse('charge_unexpected_state');
  }

  /** The network is told that a code is not valid any more. */
  #givenUp({ method, payment }: Charge, made: Made): void {
    if (method === 'cash') this.#call('cancel_cash_code', payment, made);
  }

  #abandon(id: string, made: Made, nowMs: number): Expected {
    const charge = this.charges.get(id);
    if (charge === undefined || charge.payment.session === null) return refuse('resource_missing');
    const inHand = this.#inHand(charge, nowMs);
    if ('code' in inHand) return inHand;
    this.#fail(charge);
    this.#givenUp(charge, made);
    return ok('charge.failed');
  }

  #submit(id: string, challenge: boolean, made: Made, nowMs: number): Expected {
    const charge = this.#typing(id, nowMs);
    if ('code' in charge) return charge;
    charge.tried = true;
    if (!challenge) return this.#authorize(charge, made);
    charge.challenged = true;
    return ok();
  }

  #answer(id: string, passed: boolean, made: Made, nowMs: number): Expected {
    const charge = this.#typing(id, nowMs);
    if ('code' in charge) return charge;
    if (!charge.challenged) return refuse('charge_unexpected_state');
    return passed ? this.#authorize(charge, made) : this.#fail(charge);
  }

  #authorize(charge: Charge, made: Made): Expected {
    this.#call('authorize_card', charge.payment, made);
    charge.challenged = false;
    charge.payment.busy = true;
    charge.payment.status = 'processing';
    return waits('payment_intent.processing');
  }

  #settle(params: Params, made: Made, nowMs: number): Expected {
    const call = this.calls.get(params.call as string);
    if (call === undefined || call.over) return ok();
    const { result } = params.outcome as { result: string };
    const opening = call.action === 'open_card_page' || call.action === 'issue_cash_code';
    if (call.action === 'refund_charge') {
      if (result === 'accepted') return ok();
      call.over = true;
      const refund = this.refunds.get(call.refund!)!;
      return refund.status === 'pending' ? this.#decideRefund(refund, result === 'done') : ok();
    }
    if (call.action === 'cancel_cash_code') {
      call.over = result !== 'accepted';
      return ok();
    }
    if (opening && result === 'accepted') return refuse('api_error');
    const charge = this.charges.get(call.charge ?? '');
    if (opening || charge!.status === 'pending') call.payment.busy = false;
    if (opening) {
      call.over = true;
      return result === 'done' ? this.#opened(call, made, nowMs) : refuse('api_error');
    }
    if (result === 'accepted') return ok();
    call.over = true;
    if (result === 'done') return this.#confirmed(charge!);
    return charge!.status === 'pending' ? this.#fail(charge!) : ok();
  }

  #opened(call: Call, made: Made, nowMs: number): Expected {
    const { payment } = call;
    const method = call.action === 'open_card_page' ? 'card' : 'cash';
    const endsMs = method === 'card' ? nowMs + cardMs : call.startedMs + cashMs;
    const charge: Charge = {
      ...{ id: made.charge, payment, method, number: call.number, status: 'pending', endsMs, dueMs: endsMs },
      ...{ challenged: false, tried: false, refunded: 0, held: 0 },
    };
    this.charges.set(charge.id, charge);
    payment.latest = charge.id;
    payment.status = 'requires_action';
    if (method === 'cash' && payment.session !== null && payment.session.endsMs < endsMs) {
      payment.session.endsMs = endsMs;
      payment.session.dueMs = endsMs;
    }
    return ok('payment_intent.requires_action');
  }

  /** The network has the money, which is credited or opens a review. */
  #confirmed(charge: Charge): Expected {
    this.arrived += charge.payment.amount;
    return charge.status === 'failed' ? ok('review.opened') : this.#succeed(charge);
  }

  #succeed(charge: Charge): Expected {
    const { payment } = charge;
    const events = payment.status === 'processing' ? [] : ['payment_intent.processing'];
    charge.status = 'succeeded';
    charge.challenged = false;
    payment.status = 'succeeded';
    payment.received = payment.amount;
    events.push('charge.succeeded', 'payment_intent.succeeded');
    if (payment.session !== null) {
      payment.session.status = 'complete';
      events.push('checkout.session.completed');
    }
    return ok(...events);
  }

  #fail(charge: Charge): Expected {
    charge.status = 'failed';
    charge.challenged = false;
    charge.payment.status = 'requires_payment_method';
    return ok(...failedEvents);
  }

  #helped(id: string, nowMs: number, decide: (charge: Charge) => Expected): Expected {
    const charge = this.charges.get(id);
    if (charge === undefined) return refuse('resource_missing');
    if (charge.status !== 'pending') return refuse('charge_unexpected_state');
    if (charge.payment.busy) return refuse('payment_intent_busy');
    return this.#isOver(charge, nowMs) ? refuse('charge_unexpected_state') : decide(charge);
  }

  /** A helper has decided the charge, so the network's answer no longer counts. */
  #overrule(charge: Charge): void {
    for (const call of this.calls.values()) {
      if (call.action === 'authorize_card' && call.charge === charge.id) call.over = true;
    }
  }

  #complete(id: string, amount: number | undefined, nowMs: number): Expected {
    return this.#helped(id, nowMs, (charge) => {
      this.arrived += amount ?? charge.payment.amount;
      if (amount !== undefined && amount !== charge.payment.amount) return ok('review.opened');
      this.#overrule(charge);
      return this.#succeed(charge);
    });
  }

  #payCash(number: string, amount: number, nowMs: number): Expected {
    const charge = [...this.charges.values()].find((each) => each.number === number);
    if (charge === undefined) return refuse('resource_missing');
    this.arrived += amount;
    if (charge.status === 'pending' && charge.endsMs <= nowMs) {
      return ok(...this.#fail(charge).events, 'review.opened');
    }
    const fits = charge.status === 'pending' && amount === charge.payment.amount;
    return fits ? this.#succeed(charge) : ok('review.opened');
  }

  #refund(params: Params, made: Made): Expected {
    const payment = this.payments.get(params.payment_intent as string);
    if (params.charge === undefined) {
      if (payment === undefined) return refuse('resource_missing');
      if (payment.status !== 'succeeded') return refuse('payment_intent_unexpected_state');
    }
    const charge = this.charges.get((params.charge as string | undefined) ?? payment!.latest!);
    if (charge === undefined) return refuse('resource_missing');
    if (charge.method === 'cash') return refuse('refund_unsupported_payment_method');
    if (charge.status !== 'succeeded') return refuse('charge_unexpected_state');
    const rest = charge.payment.received - charge.refunded - charge.held;
    const amount = (params.amount as number | undefined) ?? rest;
    if (amount > rest || rest === 0) return refuse('amount_too_large');
    charge.held += amount;
    this.refunds.set(made.refund, { id: made.refund, charge, amount, status: 'pending' });
    this.#call('refund_charge', charge.payment, made, made.refund);
    return ok('refund.created');
  }

  #decideRefund(refund: Refund | undefined, made: boolean): Expected {
    if (refund === undefined) return refuse('resource_missing');
    if (refund.status !== 'pending') return refuse('invalid_request');
    refund.status = made ? 'succeeded' : 'failed';
    refund.charge.held -= refund.amount;
    if (made) refund.charge.refunded += refund.amount;
    return ok('refund.updated', made ? 'charge.refunded' : 'refund.failed');
  }

  #due(id: string, made: Made, nowMs: number): Expected {
    const charge = this.charges.get(id);
    if (charge?.status === 'pending' && charge.dueMs <= nowMs) {
      if (!charge.payment.busy) return this.#fail(charge);
      charge.dueMs = nowMs + minuteMs;
    }
    const payment = this.sessions.get(id);
    if (payment?.session?.status === 'open' && payment.session.dueMs <= nowMs) {
      if (!payment.busy && payment.status !== 'processing') return this.#end(payment, made);
      payment.session.dueMs = nowMs + minuteMs;
    }
    return ok();
  }
}
