// The contract between this service and an integrator, who reaches cash agents or another processor: the messages in both
// directions as schemas. The connector, the conformance cases and the OpenAPI document derive from them.

import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { amountMax, amountMin, textCharactersMax } from '../contract/limits.ts';

const text = (description: string) =>
  Type.String({ minLength: 1, maxLength: textCharactersMax, description });
const amount = Type.Integer({ minimum: amountMin, maximum: amountMax, description: 'Centimes.' });
const currency = Type.Literal('mad');
const code = Type.String({
  pattern: '^[0-9]{12}$',
  description: 'The cash code that the customer shows: 12 digits.',
});
const operationId = text(
  'The id of the operation, which is also sent as `Idempotency-Key`. An operation has one effect, however often it is sent.',
);
const common = {
  id: operationId,
  organization: text('The merchant, `org_…`.'),
  livemode: Type.Boolean({ description: 'False: nothing may be charged.' }),
  payment_intent: text('The payment, `pi_…`.'),
  code,
  amount,
  currency,
  expires_at: Type.Integer({ description: 'Until when the code can be paid, Unix seconds.' }),
};

/** What the service posts to the integrator. */
export const Operation = Type.Union([
  Type.Object(
    { operation: Type.Literal('issue'), ...common },
    {
      title: 'issue',
      description: 'Make the code payable at the agents, for exactly this amount, until it expires.',
    },
  ),
  Type.Object(
    { operation: Type.Literal('cancel'), ...common },
    { title: 'cancel', description: 'Make the code no longer payable.' },
  ),
  Type.Object(
    { operation: Type.Literal('status'), id: operationId },
    { title: 'status', description: 'Say what became of an earlier operation. It changes nothing.' },
  ),
]);
export type Operation = Static<typeof Operation>;

/** The integrator's answer, with status 200. Anything else is no answer, and the service asks again with `status`. */
export const OperationAnswer = Type.Object({
  id: operationId,
  status: Type.Enum(['done', 'refused', 'unknown'], {
    description: '`unknown` answers `status` only: the operation never arrived.',
  }),
  reason: Type.Optional(text('Why it was refused: a short text for the logs.')),
});

/** What the integrator posts to the service when an agent has taken money. */
export const Paid = Type.Object(
  {
    type: Type.Literal('paid'),
    reference: text("The integrator's own name for this payment: sent again, it is the same payment."),
    code,
    amount,
    currency,
    agent: text('Who took the money, as the receipt names it.'),
    paid_at: Type.Integer({ minimum: 0, description: 'When, Unix seconds.' }),
  },
  { additionalProperties: false },
);
export type Paid = Static<typeof Paid>;

export const PaidAnswer = Type.Object({
  status: Type.Enum(['credited', 'review'], {
    description:
      '`credited`: the payment succeeded. `review`: the amount differs, the code was not valid any more, it was paid before, or the reference belongs to the payment of another code; nothing is credited, and a person decides.',
  }),
  charge: text('The charge that the code belongs to, `ch_…`.'),
});

/** The body of an answer to `paid` that is not 200. */
export const PaidRefused = Type.Object({
  error: Type.Enum(['invalid', 'not_genuine', 'unknown_code', 'too_many', 'try_again']),
  message: Type.String(),
});

export const isOperationAnswer = Compile(OperationAnswer);
export const isPaid = Compile(Paid);

/** The JSON value of a text; undefined when it is none. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
