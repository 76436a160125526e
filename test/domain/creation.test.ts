// The creation of payments: amounts, methods, customers and addresses that are refused; and customers: what an update
// changes and what a deletion leaves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf } from '../../src/contract/errors/table.ts';
import { languages } from '../../src/contract/vocabulary.ts';
import type { AnyCommand } from '../../src/domain/command.ts';
import { createIntent, openCharge } from './scenes.ts';
import { type Json, refusalOf, Stage } from './stage.ts';

const creations: readonly (readonly [AnyCommand, object])[] = [
  ['create_payment_intent', { currency: 'mad' }],
  ['create_checkout_session', { currency: 'mad', success_url: 'https://shop.test/ok' }],
];

/** Amount, methods, and the minimum that it is below, or null. */
const minimums: readonly (readonly [number, string[], number | null])[] = [
  [99, ['card'], 100],
  [100, ['card'], null],
  [9_999, ['cash'], 10_000],
  [10_000, ['cash'], null],
  [9_999, ['card', 'cash'], 10_000],
  [99, ['cash', 'card'], 10_000],
  [10_000, ['cash', 'card'], null],
];

for (const [operation, fields] of creations) {
  for (const [amount, methods, minimum] of minimums) {
    test(`${operation}: ${amount} by ${methods.join(' or ')}`, () => {
      const params = { ...fields, amount, payment_method_types: methods };
      const step = new Stage().when(operation, params);
      if (minimum === null) assert.equal(step.code, 'ok');
      else {
        step.expect({ refusal: ['amount_too_small', 'amount'] });
        assert.ok('refusal' in step.outcome);
        assert.equal(step.outcome.refusal.values!.minimum, minimum);
      }
    });
  }

  test(`${operation}: a method that the account does not have`, () => {
    const stage = new Stage();
    stage.offer({ card: true, cash: false });
    const params = { ...fields, amount: 20_000, payment_method_types: ['card', 'cash'] };
    stage.when(operation, params).expect({
      refusal: ['payment_method_unavailable', 'payment_method_types'],
    });
  });

  test(`${operation}: a customer of somebody else, of the other mode, or deleted`, () => {
    const stage = new Stage();
    const live = stage.as({ livemode: true });
    const other = stage.as({ org: 'org_other00000000000000000000' });
    const messages = (customer: string, of = stage) => {
      const { outcome } = of.when(operation, { ...fields, amount: 20_000, customer });
      assert.ok('refusal' in outcome, JSON.stringify(outcome));
      const { code, param, message } = refusalOf(outcome.refusal);
      assert.deepEqual([code, param], ['resource_missing', 'customer']);
      return message;
    };
    assert.doesNotMatch(messages('cus_x'), /mode/);
    assert.doesNotMatch(messages(other.given('create_customer').id), /mode/);
    assert.match(messages(live.given('create_customer').id), /exists in live mode/);
    const { id } = stage.given('create_customer');
    assert.match(messages(id, live), /exists in test mode/);
    assert.doesNotMatch(messages(id, other), /mode/);
    assert.equal(stage.when(operation, { ...fields, amount: 20_000, customer: id }).code, 'ok');
    stage.given('delete_customer', {}, id);
    assert.doesNotMatch(messages(id), /mode/);
    assert.doesNotMatch(messages(createIntent(stage)), /mode/, 'an id of another kind');
  });
}

test('a method that was switched off since the payment was created', () => {
  const stage = new Stage();
  const intent = createIntent(stage);
  stage.offer({ card: false, cash: true });
  stage.when('confirm_payment_intent', {}, intent).expect({
    refusal: ['payment_method_unavailable', 'payment_method_type'],
  });
  stage.offer({ card: true, cash: true });
  assert.ok(openCharge(stage, intent));
});

test('a refusal names the method in the language of the reader', () => {
  const stage = new Stage();
  const tooSmall = stage.when('create_payment_intent', {
    amount: 9_999,
    currency: 'mad',
    payment_method_types: ['cash'],
  });
  const intent = createIntent(stage);
  stage.offer({ card: false, cash: true });
  const unavailable = stage.when('confirm_payment_intent', {}, intent);
  for (const [{ outcome }, names] of [
    [tooSmall, { en: /by cash\./, fr: /«\u00a0espèces\u00a0»/, ar: /«النقد»/ }],
    [unavailable, { en: /by card /, fr: /«\u00a0carte\u00a0»/, ar: /«البطاقة»/ }],
  ] as const) {
    assert.ok('refusal' in outcome);
    for (const language of languages) assert.match(messageOf(outcome.refusal, language), names[language]);
  }
});

for (const operation of ['confirm_payment_intent', 'cancel_payment_intent'] as const) {
  test(`${operation}: an intent of somebody else, or of the other mode`, () => {
    const stage = new Stage();
    const intent = createIntent(stage);
    for (const who of [{ livemode: true }, { org: 'org_other' }]) {
      stage
        .as(who)
        .when(operation, {}, intent)
        .expect({ refusal: ['resource_missing', null] });
    }
    stage.when(operation, {}, 'pi_x').expect({ refusal: 'resource_missing' });
  });
}

const amina = { email: 'amina@shop.test', name: 'Amina', phone: '+212600000000', description: 'VIP' };

test('customer: created, updated in part, read', () => {
  const stage = new Stage();
  const step = stage.when('create_customer', { ...amina, metadata: { a: '1', b: '2', c: '' } });
  const { id } = step.expect({ answer: { ...amina, metadata: { a: '1', b: '2' } } }).answer;
  const update = (params: object, expected: object) =>
    stage.when('update_customer', params, id).expect({ answer: expected, changes: ['customer'] });
  update({}, { ...amina, metadata: { a: '1', b: '2' } });
  update({ name: 'Amina B.' }, { ...amina, name: 'Amina B.' });
  update({ metadata: { a: '', b: '3', c: '4' } }, { name: 'Amina B.', metadata: { b: '3', c: '4' } });
  update({ metadata: {} }, { metadata: { b: '3', c: '4' } });
  update({ email: '', phone: '' }, { email: null, name: 'Amina B.', phone: null, description: 'VIP' });
  update({ name: '', description: '' }, { email: null, name: null, phone: null, description: null });
  update({ email: amina.email }, { email: amina.email, name: null });
  assert.equal(stage.read('retrieve_customer', {}, id).metadata.b, '3');
});

test('customer: names like those of the language are names', () => {
  const stage = new Stage();
  const metadata = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');
  const { id } = stage.given('create_customer', { metadata });
  stage.given('update_customer', { metadata: JSON.parse('{"__proto__":"d","constructor":""}') }, id);
  const { metadata: after } = stage.read('retrieve_customer', {}, id);
  assert.deepEqual(Object.entries(after), [
    ['__proto__', 'd'],
    ['toString', 'c'],
  ]);
});

const keys = (from: number, to: number, value = 'v') =>
  Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`k${from + i}`, value]));

const growing: readonly (readonly [AnyCommand, AnyCommand, object])[] = [
  ['create_customer', 'update_customer', {}],
  ['create_webhook_endpoint', 'update_webhook_endpoint', { url: 'https://a.test', enabled_events: ['*'] }],
];

for (const [create, update, fields] of growing) {
  test(`${update}: metadata cannot outgrow 50 keys`, () => {
    const stage = new Stage();
    const { id } = stage.given(create, { ...fields, metadata: keys(0, 49) });
    const merge = (metadata: object) => stage.when(update, { metadata }, id);
    merge(keys(49, 51)).expect({ refusal: ['parameter_invalid', 'metadata'] });
    assert.equal(Object.keys(merge(keys(49, 50)).answer.metadata).length, 50);
    merge(keys(50, 51)).expect({ refusal: ['parameter_invalid', 'metadata'] });
    assert.equal(merge(keys(0, 50, 'w')).answer.metadata.k0, 'w', 'keys that are there');
    assert.equal(merge({ k0: '', new: 'x' }).answer.metadata.new, 'x', 'one for another');
  });
}

test('customer: deleted, and its personal data with it', () => {
  const stage = new Stage();
  const { id } = stage.given('create_customer', { ...amina, metadata: { a: '1' } });
  const intent = createIntent(stage, { customer: id });
  const gone = { id, object: 'customer', deleted: true };
  assert.deepEqual(stage.given('delete_customer', {}, id), gone);
  assert.deepEqual(stage.read('retrieve_customer', {}, id), gone);
  const record: Json = stage.get('customer', id);
  assert.deepEqual(
    [record.email, record.name, record.phone, record.description, record.metadata],
    [null, null, null, null, {}],
  );
  for (const operation of ['update_customer', 'delete_customer'] as const) {
    stage.when(operation, {}, id).expect({ refusal: 'resource_missing' });
  }
  assert.deepEqual(stage.read('list_customers').data, []);
  assert.deepEqual(stage.read('list_customers', { email: amina.email }).data, []);
  assert.equal(stage.read('retrieve_payment_intent', {}, intent).customer, id);
  assert.equal(stage.read('list_payment_intents', { customer: id }).data.length, 1);
});
