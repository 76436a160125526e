// Digests: which requests count as the same one, and which idempotency keys.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { fillDefaults, type Params } from '../../src/contract/routes/parsed-params.ts';
import { routeTable } from '../../src/contract/routes/table.ts';
import { digestBytes } from '../../src/journal/journal.ts';
import { canonicalJson, digestKey, digestRequest } from '../../src/shard/fingerprint.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const route = routeTable.find(({ operation }) => operation === 'create_payment_intent')!;

/** The digest of a body as it was sent. */
function digestOf(body: string, query = '', path = '/v1/payment_intents'): string {
  const params = JSON.parse(body) as Params;
  fillDefaults(route, params);
  return hex(digestRequest('POST', path, query, params));
}

const first = '{"amount":1000,"currency":"mad","metadata":{"a":"1","b":"2"}}';

const same: readonly (readonly [what: string, body: string])[] = [
  ['spacing', ' { "amount" : 1000 ,\n\t"currency":"mad", "metadata":{"a":"1","b":"2"} } '],
  ['order of names', '{"metadata":{"b":"2","a":"1"},"currency":"mad","amount":1000}'],
  ['an integer written as a decimal', first.replace('1000', '1000.0')],
  ['an integer written with an exponent', first.replace('1000', '1e3')],
  ['an escaped letter', first.replace('"mad"', '"\\u006dad"')],
  ['an escaped name', first.replace('"amount"', '"\\u0061mount"')],
  ['a default that is sent', first.replace('"currency"', '"payment_method_types":["card"],"currency"')],
  ['null for an optional parameter', first.replace('{', '{"customer":null,"payment_method_types":null,')],
];
for (const [what, body] of same) {
  test(`the same request: ${what}`, () => assert.equal(digestOf(body), digestOf(first)));
}

const different: readonly (readonly [what: string, digest: string])[] = [
  ['another amount', digestOf(first.replace('1000', '1001'))],
  ['text instead of a number', digestOf(first.replace('1000', '"1000"'))],
  ['another name', digestOf(first.replace('"a"', '"c"'))],
  ['another default', digestOf(first.replace('"currency"', '"payment_method_types":["cash"],"currency"'))],
  ['another query string', digestOf(first, '&')],
  ['another path', digestOf(first, '', '/v1/payment_intents/pi_1')],
  ['another method', hex(digestRequest('DELETE', '/v1/payment_intents', '', JSON.parse(first) as Params))],
  ['text in decomposed form', digestOf(first.replace('"1"', '"e\u0301"'))],
];
for (const [what, digest] of different) {
  test(`a different request: ${what}`, () => assert.notEqual(digest, digestOf(first)));
}
test('no two of the different requests are the same', () => {
  assert.equal(new Set(different.map(([, digest]) => digest)).size, different.length);
});

test('the order of a list matters, and composed and decomposed letters differ', () => {
  const pairs = [
    ['["card","cash"]', '["cash","card"]'],
    ['"é"', '"e\u0301"'],
    ['{"a":{"b":1}}', '{"a":{},"b":1}'],
    ['[1,[2]]', '[[1],2]'],
    ['{"a":"1,b"}', '{"a":"1","b":""}'],
  ] as const;
  for (const [a, b] of pairs) assert.notEqual(canonicalJson(JSON.parse(a)), canonicalJson(JSON.parse(b)));
});

const canonical: readonly (readonly [value: string, text: string])[] = [
  ['{}', '{}'],
  ['[]', '[]'],
  ['-0', '0'],
  ['{"b":1,"a":[true,null,"x"]}', '{"a":[true,null,"x"],"b":1}'],
  ['{"10":1,"9":2}', '{"10":1,"9":2}'],
  ['{"__proto__":{"x":1},"constructor":2}', '{"__proto__":{"x":1},"constructor":2}'],
  ['{"é":1,"z":2,"Z":3}', '{"Z":3,"z":2,"é":1}'],
];
for (const [value, text] of canonical) {
  test(`${value} is ${text} in canonical form`, () => assert.equal(canonicalJson(JSON.parse(value)), text));
}

test('canonical form is JSON of the same value, whatever the order of names', () => {
  const shuffled = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(shuffled)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([name, member]) => [name, shuffled(member)]),
          )
        : value;
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value: unknown = JSON.parse(json);
      const text = canonicalJson(value);
      assert.equal(canonicalJson(shuffled(value)), text);
      assert.equal(canonicalJson(JSON.parse(text)), text);
    }),
    { numRuns: 300 },
  );
});

test('a digest is the first 16 bytes of a SHA-256', () => {
  const expected = createHash('sha256').update('org_1/t\nkey').digest().subarray(0, digestBytes);
  assert.deepEqual(Buffer.from(digestKey('org_1/t', 'key')), expected);
  assert.equal(digestRequest('POST', '/', '', {}).length, digestBytes);
});

test('the same key is another one in another mode or organization', () => {
  const keys = [
    ['org_1/t', 'key'],
    ['org_1/l', 'key'],
    ['org_2/t', 'key'],
    ['org_1/t', 'Key'],
    ['org_1/t', 'key '],
  ] as const;
  assert.equal(new Set(keys.map(([scope, key]) => hex(digestKey(scope, key)))).size, keys.length);
});
