// Refunds: exact amounts, never more than was received, and refundable again when the network refuses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkCallRecord } from '../../src/domain/record.ts';
import { createIntent, openCharge, payByCard, scenes } from './scenes.ts';
import { type Json, Stage } from './stage.ts';

const full = { amount: 10_000 };

function refund(stage: Stage, charge: string, amount?: number): { id: string; call: NetworkCallRecord } {
  const step = stage.when('create_refund', amount === undefined ? { charge } : { charge, amount });
  return { id: step.answer.id, call: step.decision.networkCalls[0]! };
}

test('created: pending, and the network is asked once it is durable', () => {
  const stage = new Stage();
  const { charge, intent } = payByCard(stage, full);
  const params = { charge, amount: 1, reason: 'duplicate', metadata: { order: '7' } };
  const step = stage.when('create_refund', params).expect({
    answer: {
      amount: 1,
      currency: 'mad',
      status: 'pending',
      charge,
      payment_intent: intent,
      reason: 'duplicate',
      failure_reason: null,
      metadata: { order: '7' },
    },
    events: ['refund.created'],
    changes: ['refund pending', 'charge succeeded', 'network_call'],
  });
  assert.deepEqual(step.told, [step.answer]);
  const [call] = step.decision.networkCalls;
  assert.deepEqual([call!.action, call!.refund], ['refund_charge', step.answer.id]);
});

test('succeeded', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage, full);
  const { id, call } = refund(stage, charge, 4_000);
  stage.settle(call).expect({
    events: ['refund.updated', 'charge.refunded'],
    changes: ['refund succeeded', 'charge succeeded', 'network_call removed'],
  });
  assert.equal(stage.read('retrieve_refund', {}, id).status, 'succeeded');
  const { amount_refunded, refunded } = stage.read('retrieve_charge', {}, charge);
  assert.deepEqual([amount_refunded, refunded], [4_000, false]);
});

test('all its events name the request that asked for it, whose answer was given long ago', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage, full);
  const request = {
    ...stage.newRequest(),
    request_id: `req_${'r'.repeat(24)}`,
    idempotency_key: 'refund-1',
  };
  const { decision } = stage.when('create_refund', { charge }, '', { request });
  const [call] = decision.networkCalls;
  const nothingKept = { key_digest: null, fingerprint: null, resolved_defaults: null };
  assert.deepEqual(call!.request, { ...request, ...nothingKept });
  stage.settle(call!);
  const events = stage.read('list_events', { limit: 3 }).data as Json[];
  assert.deepEqual(
    events.map((event) => [event.type, event.request]),
    ['charge.refunded', 'refund.updated', 'refund.created'].map((type) => [
      type,
      { id: request.request_id, idempotency_key: 'refund-1' },
    ]),
  );
});

test('failed: what it held is refundable again', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage, full);
  const { id, call } = refund(stage, charge);
  stage.settle(call, { result: 'failed', reason: 'account closed' }).expect({
    events: ['refund.updated', 'refund.failed'],
    changes: ['refund failed', 'charge succeeded', 'network_call removed'],
  });
  const { status, failure_reason } = stage.read('retrieve_refund', {}, id);
  assert.deepEqual([status, failure_reason], ['failed', 'account closed']);
  stage.given('create_refund', { charge, ...full });
});

test('partial refunds up to the centime', () => {
  const stage = new Stage();
  const { charge, intent } = payByCard(stage, full);
  stage.settle(refund(stage, charge, 9_998).call);
  stage.when('create_refund', { charge, amount: 3 }).expect({ refusal: ['amount_too_large', 'amount'] });
  stage.settle(refund(stage, charge, 1).call);
  const last = stage.given('create_refund', { payment_intent: intent });
  assert.equal(last.amount, 1, 'what remains');
  stage.given('succeed_refund', {}, last.id);
  const { amount_refunded, refunded } = stage.read('retrieve_charge', {}, charge);
  assert.deepEqual([amount_refunded, refunded], [10_000, true]);
  stage.when('create_refund', { charge }).expect({ refusal: ['amount_too_large', 'amount'] });
  stage.when('create_refund', { charge, amount: 1 }).expect({ refusal: ['amount_too_large', 'amount'] });
  assert.equal(stage.get('payment_intent', intent).amount_received, 10_000, 'it was received all the same');
});

test('two refunds race for the rest: one gets it, until it fails', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage, full);
  refund(stage, charge, 4_000);
  const rest = refund(stage, charge, 6_000);
  const again = { charge, amount: 6_000 };
  stage.when('create_refund', again).expect({ refusal: 'amount_too_large' });
  stage.when('create_refund', { charge }).expect({ refusal: 'amount_too_large' });
  stage.given('fail_refund', {}, rest.id);
  stage.given('create_refund', again);
});

test('the message names what remains', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage, full);
  refund(stage, charge, 2_500);
  const { outcome } = stage.when('create_refund', { charge, amount: 7_501 });
  assert.ok('refusal' in outcome);
  assert.deepEqual(outcome.refusal.values, { remaining: 7_500 });
});

test('which charge', () => {
  const stage = new Stage();
  const { intent } = payByCard(stage);
  const refused = (params: object, code: string, param: string | null) =>
    stage.when('create_refund', params).expect({ refusal: [code, param] });
  refused({ charge: 'ch_x' }, 'resource_missing', 'charge');
  refused({ payment_intent: 'pi_x' }, 'resource_missing', 'payment_intent');
  refused({ charge: intent }, 'resource_missing', 'charge');
  const open = openCharge(stage, createIntent(stage));
  refused({ charge: open }, 'charge_unexpected_state', 'charge');
  const cash = scenes.paid_cash(stage);
  refused({ charge: cash.charge }, 'refund_unsupported_payment_method', 'charge');
  refused({ payment_intent: cash.intent }, 'refund_unsupported_payment_method', 'payment_intent');
});

test('the charges before the one that paid cannot be refunded', () => {
  const stage = new Stage();
  const { charge: first, intent } = scenes.declined(stage);
  const second = openCharge(stage, intent);
  stage.given('complete_charge', {}, second);
  stage.when('create_refund', { charge: first }).expect({ refusal: 'charge_unexpected_state' });
  assert.equal(stage.given('create_refund', { payment_intent: intent }).charge, second);
});

test('helpers decide a pending refund once', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage, full);
  const done = refund(stage, charge, 1_000);
  stage.when('succeed_refund', {}, done.id).expect({
    answer: { status: 'succeeded' },
    events: ['refund.updated', 'charge.refunded'],
  });
  const failed = refund(stage, charge, 2_000);
  stage.when('fail_refund', { failure_reason: 'lost' }, failed.id).expect({
    answer: { status: 'failed', failure_reason: 'lost' },
    events: ['refund.updated', 'refund.failed'],
  });
  for (const { id } of [done, failed]) {
    stage.when('succeed_refund', {}, id).expect({ refusal: 'invalid_request' });
    stage.when('fail_refund', {}, id).expect({ refusal: 'invalid_request' });
  }
  stage.when('succeed_refund', {}, 're_x').expect({ refusal: 'resource_missing' });
  stage.settle(done.call, { result: 'failed', reason: 'late' }).expect({
    events: [],
    changes: ['network_call removed'],
  });
  assert.equal(stage.get('charge', charge).amount_refunded, 1_000);
});
