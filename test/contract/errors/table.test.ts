// The error table follows the rules of the contract: the status of each type, and which refusals are stored for a key.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  errorCodes,
  errors,
  isStored,
  refuse,
  statusesOf,
  statusOf,
  unavailable,
} from '../../../src/contract/errors/table.ts';

const statusesOfTypes: Readonly<Record<string, readonly number[]>> = {
  invalid_request_error: [400, 404, 409, 413, 431],
  authentication_error: [401],
  permission_error: [403],
  card_error: [402],
  idempotency_error: [400, 409],
  rate_limit_error: [429],
  api_error: [500, 503],
};

test('every status of a code is one of its type', () => {
  for (const code of errorCodes) {
    const allowed = statusesOfTypes[errors[code].type]!;
    for (const status of statusesOf(code)) assert.ok(allowed.includes(status), `${code}: ${status}`);
  }
});

test('no refusal is stored that says to try again, or that refuses a request before it runs', () => {
  const refusedBefore = ['authentication_error', 'permission_error', 'idempotency_error', 'rate_limit_error'];
  for (const code of errorCodes) {
    const { type, status, stored } = errors[code];
    const saysToTryAgain = status >= 500 || status === 429 || code.endsWith('_busy');
    const isUnread = refusedBefore.includes(type) || code.startsWith('parameter_');
    if (saysToTryAgain || isUnread) assert.equal(stored, false, code);
  }
});

test('refusals on the merits are stored, unless they say when to try again', () => {
  for (const code of ['amount_too_small', 'card_declined', 'resource_missing', 'url_not_allowed'] as const) {
    assert.equal(isStored(refuse(code)), true, code);
    assert.equal(isStored(refuse(code, { retryAfterSeconds: 5 })), false, code);
  }
});

test('a message can have a status of its own', () => {
  assert.deepEqual(statusesOf('invalid_request'), [400, 413, 431]);
  assert.deepEqual([statusOf(refuse('api_error')), statusOf(unavailable)], [500, 503]);
  assert.equal(statusOf(refuse('invalid_request', { message: 'invalid_request.body_too_large' })), 413);
});
