// The contract between this service and an integrator, who reaches cash agents, cards or another
// processor: the messages in both directions as schemas. The connector, the conformance cases and
// the OpenAPI document derive from them.

import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { amountMax, amountMin, textCharactersMax, urlCharactersMax } from '../contract/limits.ts';
import { declineCodes, languages } from '../contract/vocabulary.ts';
import { lazily } from '../core/lazily.ts';

const text = (description: string) =>
  Type.String({ minLength: 1, maxLength: textCharactersMax, description });
const address = (description: string) =>
  Type.String({ minLength: 1, maxLength: urlCharactersMax, description });
const amount = Type.Integer({ minimum: amountMin, maximum: amountMax, description: 'Centimes.' });
const currency = Type.Literal('mad');
const code = Type.String({
  pattern: '^[0-9]{12}$',
  description: 'The cash code that the customer shows: 12 digits.',
});
const charge = text('The attempt to pay by card, `ch_…`.');
const expiresAt = (what: string) => Type.Integer({ description: `Until when ${what}, Unix seconds.` });
const operationId = text(
  'The id of the operation, which is also sent as `Idempotency-Key`. An operation has one effect, however often it is sent.',
);
const common = {
  id: operationId,
  organization: text('The merchant, `org_…`.'),
  livemode: Type.Boolean({ description: 'False: nothing may be charged.' }),
  payment_intent: text('The payment, `pi_…`.'),
  amount,
  currency,
};
const cash = { ...common, code, expires_at: expiresAt('the code can be paid') };

/** What the service posts to the integrator. */
export const Operation = Type.Union([
  Type.Object(
    { operation: Type.Literal('issue'), ...cash },
    {
      title: 'issue',
      description: 'Make the code payable at the agents, for exactly this amount, until it expires.',
    },
  ),
  Type.Object(
    { operation: Type.Literal('cancel'), ...cash },
    { title: 'cancel', description: 'Make the code no longer payable.' },
  ),
  Type.Object(
    {
      operation: Type.Literal('open_page'),
      ...common,
      charge,
      expires_at: expiresAt('the customer can pay on the page'),
      language: Type.Enum([...languages], { description: "The customer's language." }),
      paid_url: address('Where the page sends the customer who has paid.'),
      unpaid_url: address('Where it sends the customer who has not.'),
      name: Type.Optional(Type.String({ description: "The customer's name, when it is known." })),
      email: Type.Optional(Type.String({ description: "The customer's email, when it is known." })),
      description: Type.Optional(Type.String({ description: 'What is paid for, when that is known.' })),
    },
    {
      title: 'open_page',
      description: 'Make a page on which the customer can pay by card, exactly this amount, once.',
    },
  ),
  Type.Object(
    { operation: Type.Literal('refund'), ...common, charge },
    { title: 'refund', description: 'Give this amount of the payment back to its card.' },
  ),
  Type.Object(
    { operation: Type.Literal('status'), id: operationId },
    { title: 'status', description: 'Say what became of an earlier operation. It changes nothing.' },
  ),
]);
export type Operation = Static<typeof Operation>;

/** Centimes. Whatever was asked for, money that was taken is told: somebody has to give it back. */
const takenMax = 10 ** 14 - 1;

const paid = {
  type: Type.Literal('paid'),
  reference: text("The integrator's own name for this payment: sent again, it is the same payment."),
  amount: Type.Integer({
    minimum: amountMin,
    maximum: takenMax,
    description: 'Centimes; another amount than was asked for opens a review.',
  }),
  currency: Type.String({
    pattern: '^[a-z]{3}$',
    description: '`mad`; money in another currency opens a review.',
  }),
  paid_at: Type.Integer({ minimum: 0, description: 'When, Unix seconds.' }),
};

/** What the integrator posts to the service when an agent has taken money. */
const PaidCash = Type.Object(
  { ...paid, code, agent: text('Who took the money, as the receipt names it.') },
  { additionalProperties: false, title: 'paid in cash' },
);

/** What it posts when the customer has paid on its page. */
export const PaidCard = Type.Object(
  {
    ...paid,
    charge,
    card: Type.Optional(
      Type.Object(
        {
          brand: text('Such as `visa`.'),
          last4: Type.String({ pattern: '^[0-9]{4}$', description: 'The last four digits.' }),
          exp_month: Type.Optional(Type.Integer({ minimum: 1, maximum: 12 })),
          exp_year: Type.Optional(Type.Integer({ minimum: 2000, maximum: 9999 })),
        },
        { additionalProperties: false, description: 'What may be shown of the card. Never its number.' },
      ),
    ),
  },
  { additionalProperties: false, title: 'paid by card' },
);

/** What it posts when the customer was declined, and can't try again on its page. */
const Declined = Type.Object(
  {
    type: Type.Literal('declined'),
    charge,
    decline_code: Type.Enum([...declineCodes], { description: 'Why, as the merchant is told.' }),
  },
  { additionalProperties: false, title: 'declined' },
);

export const Report = Type.Union([PaidCash, PaidCard, Declined]);

/** More than any answer of an integrator. */
export const answerBytesMax = 16 * 1024;

/** The integrator's answer, with status 200. Otherwise the service asks again with `status`. */
export const OperationAnswer = Type.Object({
  id: operationId,
  status: Type.Enum(['done', 'pending', 'refused', 'unknown'], {
    description:
      '`pending`: a refund that is not made yet, so the service asks again. `unknown` answers `status` only: the operation never arrived.',
  }),
  reason: Type.Optional(text('Why it was refused: a short text for the logs.')),
  url: Type.Optional(
    address('`open_page`, and the `status` of one: the address of the page, the same each time.'),
  ),
  report: Type.Optional(
    Type.Union([PaidCard, Declined], {
      description:
        'The `status` of a page: what was reported of it, once the customer has paid or was declined.',
    }),
  ),
});
export type OperationAnswer = Static<typeof OperationAnswer>;

export const ReportAnswer = Type.Object({
  status: Type.Enum(['credited', 'review', 'declined'], {
    description:
      '`credited`: the payment succeeded. `review`: the amount or the currency differs, the code or the page was not valid any more, it was paid before, or the reference belongs to another payment; nothing is credited, and a person decides. `declined`: it is noted.',
  }),
  charge: text('The charge that it is about, `ch_…`.'),
});

/** The body of an answer to a report that is not 200. */
export const ReportRefused = Type.Object({
  error: Type.Enum([
    'invalid',
    'not_genuine',
    'unknown_organization',
    'unknown_code',
    'unknown_charge',
    'too_many',
    'try_again',
  ]),
  message: Type.String(),
});
export type ReportRefused = Static<typeof ReportRefused>;

/** The checks, compiled when the first message comes: few services have an integrator. */
export const operationAnswerCheck = lazily(() => Compile(OperationAnswer));
const paidCashCheck = lazily(() => Compile(PaidCash));
const paidCardCheck = lazily(() => Compile(PaidCard));
const declinedCheck = lazily(() => Compile(Declined));

export type ReportRead =
  | { readonly is: 'cash'; readonly report: Static<typeof PaidCash> }
  | { readonly is: 'card'; readonly report: Static<typeof PaidCard> }
  | { readonly is: 'declined'; readonly report: Static<typeof Declined> };

/** The most names in an object of a report: each one is looked at to say what is wrong. */
const namesMax = 16;

/** Reads a report. A text says what is wrong with it. */
export function readReport(value: unknown): ReportRead | string {
  const { type, code, card }: { type?: unknown; code?: unknown; card?: unknown } = Object(value);
  if (hasManyNames(value) || hasManyNames(card)) return 'the body has more names than a report';
  if (type === 'declined')
    return declinedCheck().Check(value) ? { is: 'declined', report: value } : faultIn(declinedCheck(), value);
  if (code !== undefined)
    return paidCashCheck().Check(value) ? { is: 'cash', report: value } : faultIn(paidCashCheck(), value);
  return paidCardCheck().Check(value) ? { is: 'card', report: value } : faultIn(paidCardCheck(), value);
}

function hasManyNames(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > namesMax;
}

function faultIn(validator: ReturnType<typeof Compile<TSchema>>, value: unknown): string {
  const [, [first]] = validator.Errors(value);
  const where = first?.instancePath ? first.instancePath.slice(1) : 'the body';
  return `${where} ${first?.message ?? 'is invalid'}`;
}

/** The JSON value of a text, with whole characters only; undefined when it is none. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
  } catch {
    return undefined;
  }
}
