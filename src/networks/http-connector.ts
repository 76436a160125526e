// The connector to an integrator who implements the contract in http-contract.ts, for cash agents. Only an answer that
// follows the contract counts. Anything else (another status, no JSON, another operation's id) rejects, and the runner asks
// again.

import type { Clock } from '../core/clock.ts';
import type { NetworkCall } from '../domain/network-call.ts';
import type { NetworkOutcome } from '../domain/network-outcomes.ts';
import { isOperationAnswer, isPaid, type Operation, parsed } from './http-contract.ts';
import type { Callback, CashCode, CashNetwork, LookedUp, Received, Reply, Report } from './network.ts';
import type { SendPost } from './post.ts';
import { signatureFault, signatureHeader, signatureHeaderName } from './signed-message.ts';

export interface HttpConnectorOptions {
  /** Where operations are posted to. */
  readonly address: string;
  /** The secret that signs in both directions. */
  readonly secret: string;
  readonly send: SendPost;
  readonly now: Clock;
}

/** An id that no operation has. */
const unknownOperation = 'op_check';

export function createHttpConnector(options: HttpConnectorOptions): CashNetwork {
  const operate = (operation: Operation) => sendOperation(options, operation);
  const carryOut = async (operation: Operation) => {
    const outcome = await operate(operation);
    if (outcome === 'unknown') throw new Error(`the network does not know the operation that it was sent`);
    return outcome;
  };
  return {
    agents: [],
    issue: (call, cash) => carryOut({ operation: 'issue', ...detailsOf(call, cash) }),
    cancel: (call, cash) => carryOut({ operation: 'cancel', ...detailsOf(call, cash) }),
    lookup: ({ id }) => operate({ operation: 'status', id }),
    readCallback: (callback) => readPaid(callback, options),
    async check() {
      const known = await operate({ operation: 'status', id: unknownOperation });
      if (known === 'unknown') return;
      throw new Error('asked for the status of an operation that never was, the network did not say unknown');
    },
  };
}

function detailsOf(call: NetworkCall, { number, expiresAtMs }: CashCode) {
  return {
    id: call.id,
    organization: call.org,
    livemode: call.livemode,
    payment_intent: call.paymentIntent,
    code: number,
    amount: call.amount,
    currency: call.currency as 'mad',
    expires_at: Math.floor(expiresAtMs / 1000),
  };
}

/** Posts an operation. Rejects unless the answer follows the contract. */
async function sendOperation(
  { address, secret, send, now }: HttpConnectorOptions,
  operation: Operation,
): Promise<LookedUp> {
  const body = JSON.stringify(operation);
  const timestampSeconds = Math.floor(now() / 1000);
  const posted = await send({
    url: address,
    headers: {
      'Content-Type': 'application/json',
      'Idempotency-Key': operation.id,
      [signatureHeaderName]: signatureHeader({ secrets: [secret], timestampSeconds, body }),
    },
    body,
    isIdempotent: true,
  });
  return outcomeOf(posted.status, posted.body, operation.id);
}

function outcomeOf(status: number, body: string, id: string): NetworkOutcome | 'unknown' {
  if (status !== 200) throw new Error(`the network answered ${status}`);
  const answer = parsed(body);
  if (!isOperationAnswer.Check(answer)) throw new Error("the network's answer does not follow the contract");
  if (answer.id !== id) throw new Error("the network's answer is about another operation");
  if (answer.status === 'refused') return { result: 'failed', reason: answer.reason ?? 'refused' };
  return answer.status === 'done' ? { result: 'done' } : 'unknown';
}

type Refusal = 'invalid' | 'not_genuine' | 'unknown_code' | 'too_many' | 'try_again';

const statuses: Readonly<Record<Refusal, number>> = {
  invalid: 400,
  not_genuine: 401,
  unknown_code: 404,
  too_many: 409,
  try_again: 503,
};

function refuse(error: Refusal, message: string): Reply {
  return jsonReply(statuses[error], { error, message });
}

function jsonReply(status: number, body: object): Reply {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

function readPaid({ signature, body }: Callback, { secret, now }: HttpConnectorOptions): Report | Reply {
  const fault = signatureFault(signature, body, secret, Math.floor(now() / 1000));
  if (fault !== null) return refuse('not_genuine', fault);
  const paid = parsed(body);
  if (!isPaid.Check(paid)) {
    const [first] = isPaid.Errors(paid);
    const where = first?.instancePath ? first.instancePath.slice(1) : 'the body';
    return refuse('invalid', `${where} ${first?.message ?? 'is invalid'}`);
  }
  const { reference, amount, currency, agent, code } = paid;
  const money = { reference, amount, currency, agent, card: null, isHeld: false };
  return { about: { cashNumber: code }, says: { result: 'paid', money }, reply: replyTo };
}

function replyTo(received: Received, charge: string | null): Reply {
  switch (received) {
    case 'credited':
    case 'repeated':
      return jsonReply(200, { status: 'credited', charge });
    case 'review':
    case 'declined':
      return jsonReply(200, { status: received, charge });
    case 'unknown':
      return refuse('unknown_code', 'there is no payment with this code: give the money back');
    case 'too_many':
      return refuse(
        'too_many',
        'too many payments of this code are reviewed: nothing is stored, give the money back',
      );
    case 'later':
      return refuse('try_again', 'nothing is stored yet: send the same message again in some seconds');
  }
}
