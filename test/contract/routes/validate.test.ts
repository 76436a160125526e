// Validation of parameters: the refusal of each wrong request, and which of several faults is reported. Every refusal here
// must have a message in all three languages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf, type Refusal } from '../../../src/contract/errors/table.ts';
import type { MessageKey } from '../../../src/contract/messages/table.ts';
import { fillDefaults, type Params } from '../../../src/contract/routes/parsed-params.ts';
import { isFiltered, parseQuery } from '../../../src/contract/routes/query-string.ts';
import type { Route } from '../../../src/contract/routes/route.ts';
import { type Operation, routeTable } from '../../../src/contract/routes/table.ts';
import { validateParams } from '../../../src/contract/routes/validate.ts';
import { languages } from '../../../src/contract/vocabulary.ts';

const routeOf = (operation: Operation): Route =>
  routeTable.find((candidate) => candidate.operation === operation)!;

/** The parts of a refusal that a row names; null when nothing is refused. */
type Verdict = null | readonly [message: MessageKey, param: string];

function verdictOf(refusal: Refusal | null): Verdict {
  if (refusal === null) return null;
  for (const language of languages) assert.ok(messageOf(refusal, language).length > 0);
  return [refusal.message ?? refusal.code, refusal.param!];
}

type Row = readonly [name: string, body: string, verdict: Verdict];

function checkBodies(operation: Operation, rows: readonly Row[]): void {
  for (const [name, body, verdict] of rows) {
    test(`${operation}: ${name}`, () => {
      assert.deepEqual(verdictOf(validateParams(routeOf(operation), JSON.parse(body))), verdict);
    });
  }
}

const valid = { amount: 10_000, currency: 'mad' };
const intent = (more: object) => JSON.stringify({ ...valid, ...more });

checkBodies('create_payment_intent', [
  ['the least', intent({}), null],
  ['unknown comes before missing and invalid', '{"amount":"x","foo":1}', ['parameter_unknown', 'foo']],
  ['missing comes before invalid', '{"amount":"x"}', ['parameter_missing', 'currency']],
  ['several unknown: the first in the document', '{"b":1,"amount":1,"a":1}', ['parameter_unknown', 'b']],
  ['several missing: the first of the route', '{}', ['parameter_missing', 'amount']],
  ['several invalid: the first', '{"currency":"eur","amount":0}', ['parameter_invalid.choice', 'currency']],
  ['several invalid, turned', '{"amount":0,"currency":"eur"}', ['parameter_invalid.integer', 'amount']],
  ['null is none of its values', intent({ description: null }), ['parameter_invalid.text', 'description']],
  ['a required null', '{"amount":null,"currency":"mad"}', ['parameter_invalid.integer', 'amount']],
  ['__proto__', '{"amount":1,"currency":"mad","__proto__":1}', ['parameter_unknown', '__proto__']],
  ['constructor', intent({ constructor: 1 }), ['parameter_unknown', 'constructor']],
  ['toString', intent({ toString: 'x' }), ['parameter_unknown', 'toString']],
  ['hasOwnProperty', intent({ hasOwnProperty: 'x' }), ['parameter_unknown', 'hasOwnProperty']],
  ['an empty name', intent({ '': 1 }), ['parameter_unknown', '']],
  ['names differ by case', intent({ Amount: 1 }), ['parameter_unknown', 'Amount']],
]);

checkBodies('create_payment_intent', [
  ['amount: a whole number written with a point', '{"amount":1000.0,"currency":"mad"}', null],
  ['amount: a whole number with an exponent', '{"amount":1e3,"currency":"mad"}', null],
  ['amount: the most', intent({ amount: 99_999_999 }), null],
  ['amount: too much', intent({ amount: 100_000_000 }), ['parameter_invalid.integer', 'amount']],
  ['amount: nothing', intent({ amount: 0 }), ['parameter_invalid.integer', 'amount']],
  ['amount: negative', intent({ amount: -1 }), ['parameter_invalid.integer', 'amount']],
  ['amount: a fraction', intent({ amount: 1.5 }), ['parameter_invalid.integer', 'amount']],
  ['amount: a text', intent({ amount: '1000' }), ['parameter_invalid.integer', 'amount']],
  ['amount: true', intent({ amount: true }), ['parameter_invalid.integer', 'amount']],
  [
    'amount: beyond what a number holds',
    '{"amount":1e400,"currency":"mad"}',
    ['parameter_invalid.integer', 'amount'],
  ],
  ['currency: capitals', intent({ currency: 'MAD' }), ['parameter_invalid.choice', 'currency']],
  ['methods: both', intent({ payment_method_types: ['cash', 'card'] }), null],
  ['methods: none', intent({ payment_method_types: [] }), ['parameter_invalid.list', 'payment_method_types']],
  [
    'methods: one twice',
    intent({ payment_method_types: ['card', 'card'] }),
    ['parameter_invalid.list', 'payment_method_types'],
  ],
  [
    'methods: another one',
    intent({ payment_method_types: ['card', 'iou'] }),
    ['parameter_invalid.choice', 'payment_method_types.1'],
  ],
  [
    'methods: a text',
    intent({ payment_method_types: 'card' }),
    ['parameter_invalid.list', 'payment_method_types'],
  ],
]);

/** One code point that takes two UTF-16 units and four bytes. */
const emoji = '😀';
/** One letter for a reader, and six code points. */
const accented = 'e\u0301\u0302\u0303\u0304\u0305';
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

checkBodies('create_payment_intent', [
  ['text: 1,000 characters', intent({ description: 'x'.repeat(1000) }), null],
  ['text: 1,001', intent({ description: 'x'.repeat(1001) }), ['parameter_invalid.text', 'description']],
  ['text: 1,000 emoji', intent({ description: emoji.repeat(1000) }), null],
  [
    'text: 1,001 emoji',
    intent({ description: emoji.repeat(1001) }),
    ['parameter_invalid.text', 'description'],
  ],
  [
    'text: every code point counts',
    intent({ description: accented.repeat(200) }),
    ['parameter_invalid.text', 'description'],
  ],
  ['text: empty', intent({ description: '' }), ['parameter_invalid.text', 'description']],
  ['metadata: 50 keys', intent({ metadata: keys(50) }), null],
  ['metadata: 51 keys', intent({ metadata: keys(51) }), ['parameter_invalid.metadata', 'metadata']],
  ['metadata: key of 40 emoji', intent({ metadata: { [emoji.repeat(40)]: 'v' } }), null],
  [
    'metadata: key of 41 emoji',
    intent({ metadata: { [emoji.repeat(41)]: 'v' } }),
    ['parameter_invalid.metadata', `metadata.${emoji.repeat(41)}`],
  ],
  ['metadata: key with a line break', intent({ metadata: { 'a\nb': 'v' } }), null],
  [
    'metadata: of a wrong value and a wrong key the first',
    intent({ metadata: { z: 1, [emoji.repeat(41)]: 'v', a: 2 } }),
    ['parameter_invalid.metadata', 'metadata.z'],
  ],
  ['metadata: empty key', intent({ metadata: { '': 'v' } }), ['parameter_invalid.metadata', 'metadata.']],
  [
    'metadata: key with slash and tilde',
    intent({ metadata: { 'a/b~c': 1 } }),
    ['parameter_invalid.metadata', 'metadata.a/b~c'],
  ],
  ['metadata: value of 500 emoji', intent({ metadata: { a: emoji.repeat(500) } }), null],
  [
    'metadata: value of 501 emoji',
    intent({ metadata: { a: emoji.repeat(501) } }),
    ['parameter_invalid.metadata', 'metadata.a'],
  ],
  ['metadata: empty value', intent({ metadata: { a: '' } }), null],
  [
    'metadata: first wrong value',
    intent({ metadata: { a: 'x', c: 1, b: 2 } }),
    ['parameter_invalid.metadata', 'metadata.c'],
  ],
  ['metadata: nested', intent({ metadata: { a: { b: 'x' } } }), ['parameter_invalid.metadata', 'metadata.a']],
  ['metadata: a list', intent({ metadata: [] }), ['parameter_invalid.metadata', 'metadata']],
  ['metadata: __proto__ is a key', '{"amount":1,"currency":"mad","metadata":{"__proto__":"x"}}', null],
  [
    'metadata: __proto__ with a wrong value',
    '{"amount":1,"currency":"mad","metadata":{"__proto__":{}}}',
    ['parameter_invalid.metadata', 'metadata.__proto__'],
  ],
]);

const session = (success_url: unknown) => JSON.stringify({ ...valid, success_url });
const notAnAddress = ['parameter_invalid.address', 'success_url'] as const;

checkBodies('create_checkout_session', [
  ['https', session('https://shop.example/thanks?order=1#top'), null],
  ['http, any case, a port', session('HTTP://localhost:3000/'), null],
  ['IPv6', session('https://[2001:db8::1]/'), null],
  ['2,048 characters', session(`https://shop.example/${'x'.repeat(2027)}`), null],
  ['2,049 characters', session(`https://shop.example/${'x'.repeat(2028)}`), notAnAddress],
  ['no host', session('https://'), notAnAddress],
  ['a path and no host', session('https:///thanks'), notAnAddress],
  ['a port and no host', session('https://:443/'), notAnAddress],
  ['a user and no host', session('https://@/'), notAnAddress],
  ['a user', session('https://shop.example@evil.example/'), notAnAddress],
  ['a user and a password', session('https://shop:secret@shop.example/'), notAnAddress],
  ['a password alone', session('https://:secret@shop.example/'), notAnAddress],
  ['a user before a place for the id', session('https://a@b.c/{CHECKOUT_SESSION_ID}'), notAnAddress],
  ['a user behind a backslash', session('https://shop.example\\@evil.example/'), notAnAddress],
  ['an encoded user', session('https://shop%2eexample@evil.example/'), notAnAddress],
  ['a port that no host has', session('https://shop.example:99999/'), notAnAddress],
  ['an IPv4 address that is none', session('https://256.1.1.1/{CHECKOUT_SESSION_ID}'), notAnAddress],
  ['a space in the host, encoded', session('https://shop%20example/'), notAnAddress],
  ['the id in place of a port', session('https://shop.example:{CHECKOUT_SESSION_ID}/'), notAnAddress],
  ['an at sign in the path', session('https://shop.example/@thanks?to=a@b.c#@'), null],
  [
    'a user in the other address',
    JSON.stringify({ ...valid, success_url: 'https://a.b', cancel_url: 'https://u@a.b/' }),
    ['parameter_invalid.address', 'cancel_url'],
  ],
  ['another scheme', session('javascript:alert(1)'), notAnAddress],
  ['no authority', session('https:shop.example'), notAnAddress],
  ['relative', session('/thanks'), notAnAddress],
  ['a space', session('https://shop.example/thank you'), notAnAddress],
  ['a line break', session('https://shop.example/\n'), notAnAddress],
  ['broken percent-encoding', session('https://shop.example/%zz'), notAnAddress],
  ['a number', session(1), notAnAddress],
  [
    'a place for the id',
    session('https://shop.example/{CHECKOUT_SESSION_ID}?s={CHECKOUT_SESSION_ID}#a'),
    null,
  ],
  ['another placeholder', session('https://shop.example/{CHECKOUT_SESSION}'), notAnAddress],
  ['a placeholder for a host', session('https://{CHECKOUT_SESSION_ID}/'), notAnAddress],
  ['a brace', session('https://shop.example/{'), notAnAddress],
  ['letters beyond ASCII', session('https://shop.example/é{CHECKOUT_SESSION_ID}'), notAnAddress],
  [
    'a place for the id in the other address',
    JSON.stringify({ ...valid, success_url: 'https://a.b', cancel_url: 'https://a.b/{CHECKOUT_SESSION_ID}' }),
    null,
  ],
]);

const data = (payment_intent_data: unknown, more: object = {}) =>
  JSON.stringify({ ...valid, success_url: 'https://a.b', payment_intent_data, ...more });

checkBodies('create_checkout_session', [
  ['for its intent', data({ description: 'x', metadata: { a: 'b' } }), null],
  ['for its intent: nothing', data({}), null],
  [
    'for its intent: a text',
    data('x', { locale: 'xx' }),
    ['parameter_invalid.object', 'payment_intent_data'],
  ],
  ['for its intent: a list', data([]), ['parameter_invalid.object', 'payment_intent_data']],
  [
    'for its intent: an unknown name comes before what is missing',
    '{"payment_intent_data":{"amount":1}}',
    ['parameter_unknown', 'payment_intent_data.amount'],
  ],
  [
    'for its intent: unknown names in the order of the document',
    data({ a: 1 }, { b: 1 }),
    ['parameter_unknown', 'payment_intent_data.a'],
  ],
  [
    'for its intent: __proto__',
    data({}).replace('{}', '{"__proto__":1}'),
    ['parameter_unknown', 'payment_intent_data.__proto__'],
  ],
  [
    'for its intent: a description that is too long',
    data({ description: 'x'.repeat(1001) }),
    ['parameter_invalid.text', 'payment_intent_data.description'],
  ],
  [
    'for its intent: wrong metadata',
    data({ metadata: { z: 'x', b: 1, a: 2 }, description: 1 }),
    ['parameter_invalid.metadata', 'payment_intent_data.metadata.b'],
  ],
  [
    'for its intent: of two wrong ones the first',
    data({ description: 1, metadata: [] }),
    ['parameter_invalid.text', 'payment_intent_data.description'],
  ],
]);

checkBodies('confirm_payment_intent', [
  ['https', '{"return_url":"https://shop.example/back?mail=a@b.c"}', null],
  ['http, a port', '{"return_url":"http://localhost:3000/"}', null],
  ['a user', '{"return_url":"https://user:pw@shop.example/"}', ['parameter_invalid.address', 'return_url']],
  ['an empty user', '{"return_url":"https://@shop.example"}', ['parameter_invalid.address', 'return_url']],
  ['no host', '{"return_url":"https://"}', ['parameter_invalid.address', 'return_url']],
  ['no port', '{"return_url":"https://a.b:65536/"}', ['parameter_invalid.address', 'return_url']],
]);

checkBodies('update_payment_intent', [
  ['nothing', '{}', null],
  ['an empty description', '{"description":""}', null],
  ['the amount stays', '{"amount":1}', ['parameter_unknown', 'amount']],
  [
    'a description that is too long',
    JSON.stringify({ description: 'x'.repeat(1001) }),
    ['parameter_invalid.text', 'description'],
  ],
  ['metadata: a number', '{"metadata":{"a":1}}', ['parameter_invalid.metadata', 'metadata.a']],
]);

checkBodies('create_customer', [
  ['nothing', '{}', null],
  ['an e-mail address', '{"email":"Amina+shop@Example.co.ma"}', null],
  ['an empty e-mail address', '{"email":""}', ['parameter_invalid.email', 'email']],
  ['no e-mail address', '{"email":"amina"}', ['parameter_invalid.email', 'email']],
  ['a name of 255', JSON.stringify({ name: 'ا'.repeat(255) }), null],
  ['a name of 256', JSON.stringify({ name: 'ا'.repeat(256) }), ['parameter_invalid.text', 'name']],
]);

const amount = { amount: 10_000 };
checkBodies('create_refund', [
  ['by its payment', JSON.stringify({ ...amount, payment_intent: 'pi_x' }), null],
  ['by its charge', JSON.stringify({ ...amount, charge: 'ch_x' }), null],
  ['by neither', JSON.stringify(amount), ['parameter_invalid.exactly_one', 'payment_intent']],
  ['by neither, and invalid', '{"reason":"bad"}', ['parameter_invalid.exactly_one', 'payment_intent']],
  ['by neither, and unknown', '{"reasons":"bad"}', ['parameter_unknown', 'reasons']],
  ['by both', '{"charge":"ch_x","payment_intent":"pi_x"}', ['parameter_invalid.exactly_one', 'charge']],
  [
    'by both, and invalid',
    '{"charge":"ch_x","payment_intent":"pi_x","amount":0}',
    ['parameter_invalid.integer', 'amount'],
  ],
]);

checkBodies('update_customer', [
  ['empty texts', '{"email":"","name":"","phone":"","description":""}', null],
  ['no e-mail address', '{"email":"amina"}', ['parameter_invalid.email', 'email']],
  ['a number', '{"phone":1}', ['parameter_invalid.text', 'phone']],
  ['a name of 256', JSON.stringify({ name: 'ا'.repeat(256) }), ['parameter_invalid.text', 'name']],
]);

checkBodies('create_webhook_endpoint', [
  ['future types', '{"url":"https://a.b","enabled_events":["payout.paid","*"]}', null],
  [
    'another type',
    '{"url":"https://a.b","enabled_events":["payment_intent"]}',
    ['parameter_invalid.choice', 'enabled_events.0'],
  ],
  ['no types', '{"url":"https://a.b","enabled_events":[]}', ['parameter_invalid.list', 'enabled_events']],
]);

checkBodies('update_webhook_endpoint', [
  ['disabled: a text', '{"disabled":"yes"}', ['parameter_invalid.boolean', 'disabled']],
  ['the version stays', '{"api_version":"2026-11-01"}', ['parameter_unknown', 'api_version']],
]);

const queries: readonly (readonly [query: string, params: Params | readonly [MessageKey, string]])[] = [
  ['', {}],
  ['limit=5&starting_after=pi_x', { limit: 5, starting_after: 'pi_x' }],
  ['&&limit=5&', { limit: 5 }],
  ['created[gte]=5', { 'created[gte]': 5 }],
  ['created%5Bgte%5D=5', { 'created[gte]': 5 }],
  ['starting_after=a+b%20c%26', { starting_after: 'a b c&' }],
  ['starting_after=a=b', { starting_after: 'a=b' }],
  ['limit=abc', ['parameter_invalid.integer', 'limit']],
  ['limit=1.5', ['parameter_invalid.integer', 'limit']],
  ['limit=1e1', ['parameter_invalid.integer', 'limit']],
  ['limit=%2B5', ['parameter_invalid.integer', 'limit']],
  ['limit=0', ['parameter_invalid.integer', 'limit']],
  ['limit=-1', ['parameter_invalid.integer', 'limit']],
  ['limit=101', ['parameter_invalid.integer', 'limit']],
  ['limit=', ['parameter_invalid.integer', 'limit']],
  ['limit', ['parameter_invalid.integer', 'limit']],
  ['created[gte]=99999999999999999999', ['parameter_invalid.integer', 'created[gte]']],
  ['created=5', { created: 5 }],
  ['created=now', ['parameter_invalid.integer', 'created']],
  ['created[]=5', ['parameter_unknown', 'created[]']],
  ['created[eq]=5', ['parameter_unknown', 'created[eq]']],
  ['starting_after=', ['parameter_invalid.text', 'starting_after']],
  ['status=paid', ['parameter_invalid.choice', 'status']],
  ['starting_after=a&ending_before=b', ['parameter_invalid.cursors', 'ending_before']],
  ['limit=1&limit=1', ['parameter_invalid.repeated', 'limit']],
  ['limit=1&limit=2&foo=1', ['parameter_unknown', 'foo']],
  ['foo=1&foo=2', ['parameter_unknown', 'foo']],
  ['limit=x&foo=1', ['parameter_unknown', 'foo']],
  ['limit=%zz&foo=1', ['parameter_unknown', 'foo']],
  ['limit=%zz', ['parameter_invalid.percent_encoding', 'limit']],
  ['limit=%E9', ['parameter_invalid.percent_encoding', 'limit']],
  ['starting_after=%ED%A0%80', ['parameter_invalid.percent_encoding', 'starting_after']],
  ['%zz=1', ['parameter_invalid.percent_encoding', '%zz']],
  ['code=1', ['parameter_unknown', 'code']],
  ['refusal=1', ['parameter_unknown', 'refusal']],
  ['__proto__=1', ['parameter_unknown', '__proto__']],
  ['constructor=1', ['parameter_unknown', 'constructor']],
  ['=1', ['parameter_unknown', '']],
];

for (const [text, expected] of queries) {
  test(`query: ${text}`, () => {
    const route = routeOf('list_payment_intents');
    const parsed = parseQuery(route, text);
    const refusal = 'refusal' in parsed ? parsed.refusal : validateParams(route, parsed.params);
    assert.deepEqual(refusal === null ? (parsed as { params: Params }).params : verdictOf(refusal), expected);
  });
}

test('a route that takes a body takes nothing in its query string', () => {
  for (const operation of ['create_refund', 'delete_customer'] as const) {
    const parsed = parseQuery(routeOf(operation), 'amount=5');
    assert.deepEqual('refusal' in parsed && verdictOf(parsed.refusal), ['parameter_unknown', 'amount']);
    assert.deepEqual(parseQuery(routeOf(operation), ''), { params: {} });
  }
});

test('defaults stand for what is absent, and for nothing else', () => {
  const filled = (operation: Operation, params: Params) => {
    fillDefaults(routeOf(operation), params);
    return params;
  };
  assert.deepEqual(filled('create_payment_intent', { amount: 1 }), {
    amount: 1,
    payment_method_types: ['card'],
    metadata: {},
  });
  assert.deepEqual(filled('create_payment_intent', { metadata: {}, payment_method_types: ['cash'] }), {
    payment_method_types: ['cash'],
    metadata: {},
  });
  assert.deepEqual(filled('list_customers', {}), { limit: 10 });
  assert.deepEqual(filled('update_customer', {}), {}, 'an update changes only what is sent');
});

test('null stands for the absence of an optional parameter, and for nothing else', () => {
  const filled = (operation: Operation, body: string) => {
    const params: Params = JSON.parse(body);
    fillDefaults(routeOf(operation), params);
    return params;
  };
  const intent = { payment_method_types: ['card'], metadata: {} };
  const absent = '{"customer":null,"description":null,"metadata":null,"payment_method_types":null}';
  assert.deepEqual(filled('create_payment_intent', absent), intent);
  const others = { amount: null, foo: null, ...intent };
  assert.deepEqual(filled('create_payment_intent', '{"amount":null,"foo":null}'), others);
  const proto = filled('create_payment_intent', '{"__proto__":null}');
  assert.deepEqual(Object.keys(proto), ['__proto__', 'payment_method_types', 'metadata']);
  assert.deepEqual(filled('create_refund', '{"charge":null,"payment_intent":"pi_x"}'), {
    payment_intent: 'pi_x',
    metadata: {},
  });
  assert.deepEqual(filled('update_payment_intent', '{"description":null,"metadata":{"a":null}}'), {
    metadata: { a: null },
  });
});

test('what a session hands on: leaving it out, in whole or in part, is the same', () => {
  const route = routeOf('create_checkout_session');
  const texts = ['{}', 'null', '{"metadata":null}', '{"metadata":{},"description":null}'];
  for (const text of texts) {
    const params: Params = JSON.parse(`{"payment_intent_data":${text}}`);
    fillDefaults(route, params);
    assert.deepEqual(params.payment_intent_data, { metadata: {} }, text);
  }
  const none: Params = {};
  fillDefaults(route, none);
  assert.deepEqual(none.payment_intent_data, { metadata: {} });
});

// Lengths count code points: a text of few visible characters can be as long as a body.
const family = '👨\u200d👩\u200d👧';
checkBodies('create_payment_intent', [
  ['an accent sent on its own counts', intent({ description: 'e\u0301'.repeat(500) }), null],
  [
    'one accent too many',
    intent({ description: `${'e\u0301'.repeat(500)}\u0301` }),
    ['parameter_invalid.text', 'description'],
  ],
  [
    'one letter under very many accents',
    intent({ description: `e${'\u0301'.repeat(100_000)}` }),
    ['parameter_invalid.text', 'description'],
  ],
  ['emoji that are joined', intent({ metadata: { a: family.repeat(100) } }), null],
  [
    'too many emoji that are joined',
    intent({ metadata: { a: family.repeat(101) } }),
    ['parameter_invalid.metadata', 'metadata.a'],
  ],
]);
checkBodies('create_checkout_session', [
  [
    'the first of several texts that are too long, at any depth',
    session('https://shop.example/').replace(
      /}$/,
      `,"payment_intent_data":{"metadata":{"a":"1","b":"${'x'.repeat(200_000)}"},"description":"${'x'.repeat(1001)}"},"description":"${'x'.repeat(1001)}"}`,
    ),
    ['parameter_invalid.metadata', 'payment_intent_data.metadata.b'],
  ],
]);
checkBodies('update_customer', [
  ['the longest of two alternatives counts', JSON.stringify({ name: 'x'.repeat(255) }), null],
  ['too long for both', JSON.stringify({ name: 'x'.repeat(256) }), ['parameter_invalid.text', 'name']],
]);

// What errors repeat of names.

const cut = `${'n'.repeat(63)}…`;
checkBodies('create_payment_intent', [
  ['a name of 64 characters', intent({ ['n'.repeat(64)]: 1 }), ['parameter_unknown', 'n'.repeat(64)]],
  ['a longer name', intent({ ['n'.repeat(65)]: 1 }), ['parameter_unknown', cut]],
  ['a name as long as a body', intent({ ['n'.repeat(250_000)]: 1 }), ['parameter_unknown', cut]],
  ['a name of 64 emoji', intent({ [emoji.repeat(64)]: 1 }), ['parameter_unknown', emoji.repeat(64)]],
  ['a name of 65 emoji', intent({ [emoji.repeat(65)]: 1 }), ['parameter_unknown', `${emoji.repeat(63)}…`]],
  [
    'a long name in metadata',
    intent({ metadata: { ['n'.repeat(100_000)]: 'x' } }),
    ['parameter_invalid.metadata', `metadata.${cut}`],
  ],
  [
    'a name that looks like a card number',
    intent({ '4242 4242 4242 4242': 1 }),
    ['parameter_invalid.card_number', 'body'],
  ],
  [
    'a long name that begins with one',
    intent({ [`4242 4242 4242 4242 ${'n'.repeat(100_000)}`]: 1 }),
    ['parameter_invalid.card_number', 'body'],
  ],
  [
    'a name in metadata that looks like a card number, with a wrong value',
    intent({ metadata: { '4242424242424242': 1 } }),
    ['parameter_invalid.metadata', 'metadata'],
  ],
]);

for (const [query, verdict] of [
  [`${'n'.repeat(65)}=1`, ['parameter_unknown', cut]],
  ['4242%204242%204242%204242=1', ['parameter_invalid.card_number', 'query']],
  [`limit=%ff${'n'.repeat(100)}`, ['parameter_invalid.percent_encoding', 'limit']],
  [`${'n'.repeat(100)}%ff`, ['parameter_invalid.percent_encoding', cut]],
] as const) {
  test(`a query string: ${query}`, () => {
    const parsed = parseQuery(routeOf('list_payment_intents'), query);
    assert.deepEqual('refusal' in parsed && verdictOf(parsed.refusal), verdict);
  });
}

test('of a query string no more is decoded than shows that it is refused', (t) => {
  const decode = t.mock.method(globalThis, 'decodeURIComponent');
  // Each broken part is an exception: 16 KiB of them once took 40 milliseconds of the shard, before any limit.
  for (const [part, verdict] of [
    ['%C3&', ['parameter_invalid.percent_encoding', '%C3']],
    ['&&limit=1', ['parameter_invalid.repeated', 'limit']],
  ] as const) {
    const query = part.repeat(4_000);
    const parsed = parseQuery(routeOf('list_payment_intents'), query);
    assert.deepEqual('refusal' in parsed && verdictOf(parsed.refusal), verdict);
    isFiltered(routeOf('list_payment_intents'), query);
    assert.ok(decode.mock.callCount() < 100, `${decode.mock.callCount()} parts were decoded`);
    decode.mock.resetCalls();
  }
});

test('defaults fit the routes that have them', () => {
  for (const route of routeTable) {
    const params: Params = {};
    fillDefaults(route, params);
    const refusal = validateParams(route, params);
    assert.ok(refusal === null || refusal.code === 'parameter_missing', route.operation);
  }
});

test('faults of an overlong list or metadata are found in a moment', () => {
  const list = { url: 'https://shop.example', enabled_events: Array.from({ length: 60_000 }, () => []) };
  const notes = { ...valid, metadata: Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [i, 1])) };
  const handedOn = {
    ...valid,
    success_url: 'https://a.b',
    payment_intent_data: { metadata: notes.metadata },
  };
  const before = process.cpuUsage();
  assert.deepEqual(verdictOf(validateParams(routeOf('create_checkout_session'), handedOn)), [
    'parameter_invalid.metadata',
    'payment_intent_data.metadata.0',
  ]);
  assert.deepEqual(verdictOf(validateParams(routeOf('create_webhook_endpoint'), list)), [
    'parameter_invalid.choice',
    'enabled_events.0',
  ]);
  assert.deepEqual(verdictOf(validateParams(routeOf('create_payment_intent'), notes)), [
    'parameter_invalid.metadata',
    'metadata.0',
  ]);
  // This once took 40 seconds, in which the shard served nobody.
  assert.ok(process.cpuUsage(before).user < 2_000_000);
});
