// A draft on top of the state that it reads.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../src/domain/decision.ts';
import { Draft } from '../../src/domain/draft.ts';
import { RecordStore } from '../../src/store/record-store.ts';
import { paymentIntent } from '../journal/journal-fixtures.ts';

test('a draft has what it has changed as it is now, and what it has removed no longer', () => {
  const state = new RecordStore();
  const [kept, changed, removed] = [paymentIntent(1), paymentIntent(2), paymentIntent(3)];
  for (const intent of [kept, changed, removed]) state.apply(intent);
  const draft = new Draft(state, {} as Context);
  const paid = draft.put(paymentIntent(2, { status: 'succeeded' }));
  draft.remove(removed);
  const found = [kept, changed, removed].map(({ id }) => draft.get('payment_intent', id));
  assert.deepEqual(found, [kept, paid, undefined]);
  assert.throws(() => draft.require('payment_intent', removed.id), /must be there, and is not/);
  assert.equal(draft.get('charge', paid.id), undefined, 'of another kind');
  assert.deepEqual(draft.changes, [paid, { ...removed, removed: true }]);
});
