// The table of routes: which of them take an idempotency key.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '../../../src/contract/routes/route.ts';
import { routeTable } from '../../../src/contract/routes/table.ts';

test('four routes need an idempotency key, every other POST takes one, and the rest ignore it', () => {
  const routes: readonly Route[] = routeTable;
  const required = routes.filter(({ idempotency }) => idempotency === 'required');
  assert.deepEqual(required.map(({ method, path }) => `${method} ${path}`).sort(), [
    'POST /v1/checkout/sessions',
    'POST /v1/payment_intents',
    'POST /v1/payment_intents/{id}/confirm',
    'POST /v1/refunds',
  ]);
  for (const { method, path, idempotency } of routes)
    assert.equal(idempotency === 'ignored', method !== 'POST', path);
});
