// Requests that are refused before they run, for the first of their faults, whatever state the service is in; and requests that
// were answered and are sent again in other words.

import type { Act } from './acts.ts';
import type { Keyed } from './clients.ts';
import type { Request } from './edge.ts';
import { jsonOfForms } from './forms.ts';

type Fault = readonly [code: string, param: string | null];
type Bad = Omit<Request, 'apiKey'> & { readonly fault: Fault };

const intents = '/v1/payment_intents';
const whole = { amount: 20_000, currency: 'mad' };
const long = (length: number) => 'x'.repeat(length);
const manyNames = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`n${i}`, 1]));
const keysOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x']));

const posted = (body: unknown, code: string, param: string | null = null, path = intents): Bad => ({
  ...{ method: 'POST', path, query: '', key: 'bad', fault: [code, param] },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const asked = (query: string, code: string, param: string | null, path = intents): Bad => ({
  ...{ method: 'GET', path, query, key: null, body: '', fault: [code, param] },
});
const invalid = (fields: object, param: string, path = intents) =>
  posted({ ...whole, ...fields }, 'parameter_invalid', param, path);

const bad: readonly Bad[] = [
  ...['[]', '"x"', 'null', '{', '{"amount":1,"amount":1}'].map((body) => posted(body, 'invalid_request')),
  posted(`{"metadata":${'['.repeat(33)}${']'.repeat(33)}}`, 'invalid_request'),
  posted(manyNames, 'invalid_request'),
  ...['{"amount":1}x', '{"metadata":{"a":1,"a":2}}'].map((body) => posted(body, 'invalid_request')),
  ...Array.from(jsonOfForms.keys(), (body) => ({
    ...posted(body, 'invalid_request'),
    isForm: true,
  })),
  { ...posted('', 'parameter_missing', 'amount'), isForm: true },
  { ...posted({ ...whole, description: 'réf' }, 'invalid_request'), isLatin1: true },
  posted('', 'parameter_missing', 'amount'),
  posted({ amount: 20_000 }, 'parameter_missing', 'currency'),
  posted({ currency: 'mad' }, 'parameter_missing', 'amount'),
  posted({ ...whole, colour: 'red' }, 'parameter_unknown', 'colour'),
  posted({ colour: 'red' }, 'parameter_unknown', 'colour'),
  posted('{"amount":20000,"currency":"mad","__proto__":{}}', 'parameter_unknown', '__proto__'),
  ...[0, -1, 1.5, 100_000_000, '20000', true].map((amount) => invalid({ amount }, 'amount')),
  invalid({ currency: 'eur' }, 'currency'),
  ...[[], ['card', 'card'], ['cheque']].map((types, i) =>
    invalid({ payment_method_types: types }, `payment_method_types${i === 2 ? '.0' : ''}`),
  ),
  invalid({ description: long(1_001) }, 'description'),
  invalid({ description: 'my card 4242 4242 4242 4242' }, 'description'),
  posted('{"amount":20000,"currency":"mad","description":"\\ud800"}', 'parameter_invalid', 'description'),
  posted(
    '{"amount":20000,"currency":"mad","description":"4242\\u00204242 4242 4242"}',
    'parameter_invalid',
    'description',
  ),
  posted({ ...whole, metadata: { a: 'x', '4242 4242 4242 4242': 'x' } }, 'parameter_invalid', 'metadata'),
  invalid({ metadata: keysOf(51) }, 'metadata'),
  invalid({ metadata: { order: long(501) } }, 'metadata.order'),
  invalid({ metadata: { order: '4242424242424242' } }, 'metadata.order'),
  posted(
    '{"amount":20000,"currency":"mad","description":"a\\\\b","metadata":{"a":null}}',
    'parameter_invalid',
    'metadata.a',
  ),
  { ...posted(whole, 'idempotency_key_missing'), key: null },
  ...['', long(256), 'clé', '4242424242424242'].map((key) => ({
    ...posted(whole, 'parameter_invalid', 'Idempotency-Key'),
    key,
  })),
  { ...posted(whole, 'parameter_unknown', 'colour'), query: 'colour=red' },
  { ...posted({ ...whole, amount: 0 }, 'parameter_unknown', 'colour'), query: 'colour=red' },
  posted({ amount: 1 }, 'parameter_missing', 'payment_intent', '/v1/refunds'),
  ...['0', '101', 'ten'].map((limit) => asked(`limit=${limit}`, 'parameter_invalid', 'limit')),
  asked('starting_after=a&ending_before=b', 'parameter_invalid', 'ending_before'),
  asked('colour=red', 'parameter_unknown', 'colour'),
  asked('status=paid', 'parameter_invalid', 'status'),
  asked('created%5Bgte%5D=now', 'parameter_invalid', 'created[gte]'),
];

/** A request that must be refused, with a key that stays free. */
export async function badRequest({ clients, shop, random, world }: Act): Promise<void> {
  const { fault, ...request } = random.pick(bad);
  const answer = await clients.insist(shop, { apiKey: shop.apiKey, ...request });
  if (answer === null) return;
  const { code, param } = (JSON.parse(answer.text) as { error: { code: string; param: string | null } })
    .error;
  world.judge.check(
    'a request is refused for its first fault',
    code === fault[0] && param === fault[1] && !answer.replayed,
    () => `${JSON.stringify(request)} is answered ${answer.text}, and should be refused as ${fault}`,
  );
}

/** The same request: spaces, the order of fields, and fields that are not set make no other one of it. */
export async function inOtherWords({ clients, random }: Act): Promise<void> {
  const answered = clients.keyed.filter((keyed) => keyed.answered !== null && keyed.request.body !== '');
  if (answered.length === 0) return;
  const keyed = random.pick(answered);
  const { request } = keyed;
  const reworded: Keyed = { ...keyed, request: { ...request, body: otherWords(request) } };
  await clients.again(reworded);
}

const defaults: Readonly<Record<string, object>> = {
  [intents]: { payment_method_types: ['card'], customer: null, description: null },
  '/v1/checkout/sessions': { payment_method_types: ['card'], cancel_url: null, metadata: {} },
  '/v1/refunds': { reason: null, metadata: {} },
};

function otherWords({ path, body }: Request): string {
  const params = { ...defaults[path], ...(JSON.parse(body) as object) };
  const turned = (_name: string, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).reverse())
      : value;
  return JSON.stringify(params, turned, 2).replace(/"amount": (\d+)/, '"amount": $1.0');
}
