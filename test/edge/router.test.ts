// The router finds every row of the table at its address, and at no other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routeTable } from '../../src/contract/routes/table.ts';
import { matchRoute, unknownAddress } from '../../src/edge/http/router.ts';

const operationAt = (method: string, path: string): string | null => {
  const match = matchRoute(method, path);
  return match && routeTable[match.route]!.operation;
};

for (const route of routeTable) {
  const method = route.method;
  const path = route.path.replace('{id}', 'abc_123');

  test(`${route.method} ${route.path} is ${route.operation}`, () => {
    const match = matchRoute(method, path);
    assert.equal(operationAt(method, path), route.operation);
    assert.equal(match!.id, route.path.includes('{id}') ? 'abc_123' : '');
  });

  test(`nothing is near ${route.method} ${route.path}`, () => {
    for (const near of [
      `${path}/`,
      `${path}//`,
      `/${path}`,
      `${path}/more/of/it`,
      path.toUpperCase(),
      path.slice(1),
    ]) {
      assert.equal(matchRoute(method, near), null, near);
    }
    for (const other of ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'TRACE', 'CONNECT', '', 'get', '__proto__']) {
      assert.equal(matchRoute(other, path), null, other);
    }
  });
}

const rows: readonly (readonly [method: string, path: string, operation: string | null])[] = [
  ['GET', '/v1/payment_intents/__proto__', 'retrieve_payment_intent'],
  ['GET', '/v1/payment_intents/constructor', 'retrieve_payment_intent'],
  ['GET', '/v1/payment_intents/%2e%2e', 'retrieve_payment_intent'],
  ['GET', '/v1/payment_intents/pi_1?x', 'retrieve_payment_intent'],
  ['GET', '/v1/checkout/sessions', 'list_checkout_sessions'],
  ['GET', '/v1/checkout', null],
  ['GET', '/v1/checkout/', null],
  ['GET', '/v1/payment_intents//confirm', null],
  ['GET', '/v1//account', null],
  ['GET', '/v1', null],
  ['GET', '/v1/', null],
  ['GET', '/', null],
  ['GET', '', null],
  ['GET', '//', null],
  ['GET', '/v1/account%2f', null],
  ['GET', '/v1/__proto__', null],
  ['GET', '/v1/exports/events', null],
  ['POST', '/v1/account', null],
  ['delete', '/v1/payment_intents/pi_1', null],
];
for (const [method, path, operation] of rows) {
  test(`${method} ${path} is ${operation ?? 'nothing'}`, () =>
    assert.equal(operationAt(method, path), operation));
}

test('an id is handed on as it was sent', () => {
  for (const id of ['a', 'é', '%C3%A9', 'pi_1.json', '*', 'x'.repeat(5_000)]) {
    assert.equal(matchRoute('GET', `/v1/payment_intents/${id}`)?.id, id);
    assert.equal(matchRoute('POST', `/v1/payment_intents/${id}/confirm`)?.id, id);
  }
});

test('what is told of an address without a route is bounded, and shows no card number', () => {
  const long = 'X'.repeat(1_000);
  const shortened = `${'X'.repeat(63)}…`;
  for (const [text, shown] of [
    ['PATCH', 'PATCH'],
    [long, shortened],
    ['4242424242424242', '…'],
  ] as const) {
    assert.deepEqual(unknownAddress({ method: text, path: text }).values, { method: shown, path: shown });
  }
});
