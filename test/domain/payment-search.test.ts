// Payments are found by each filter and each text, page after page, and a payment tells its whole story.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyPayment, type PaymentSearch, searchPayments } from '../../src/domain/payment-search.ts';
import { type PaymentStory, storyOf } from '../../src/domain/payment-story.ts';
import { createIntent, createSession, openCharge, payByCard, scenes, typedCard } from './scenes.ts';
import { hourMs, minuteMs, Stage } from './stage.ts';

function found(stage: Stage, search: Partial<PaymentSearch>): string[] {
  const { payments } = searchPayments(stage.world.state, stage.queryContext, { ...everyPayment, ...search });
  return payments.map(({ id }) => id);
}

const customerOf = (stage: Stage): string => stage.given('create_customer', { email: 'a@shop.test' }).id;

test('payments are found by status, method, customer, time and text', () => {
  const stage = new Stage();
  const [ali, badr] = [customerOf(stage), customerOf(stage)];
  const first = createIntent(stage, { customer: ali, metadata: { order: '7' } });
  stage.advance(hourMs);
  const paid = payByCard(stage, { customer: badr, description: 'Blue Shoes' }).intent;
  const cash = scenes.code(stage).intent;
  const referred = createSession(stage, { client_reference_id: 'cart-9', metadata: { order: '8' } }).intent;
  const middle = Math.floor(stage.nowMs / 1000);
  const rows: readonly (readonly [Partial<PaymentSearch>, string[]])[] = [
    [{}, [referred, cash, paid, first]],
    [{ state: 'succeeded' }, [paid]],
    [{ state: 'requires_payment_method' }, [referred, first]],
    [{ method: 'cash' }, [cash]],
    [{ method: 'cash', state: 'succeeded' }, []],
    [{ customers: [ali] }, [first]],
    [{ customers: [ali, badr] }, [paid, first]],
    [{ customers: [ali, badr], state: 'succeeded' }, [paid]],
    [{ customers: [] }, []],
    [{ fromSeconds: middle }, [referred, cash, paid]],
    [{ toSeconds: middle }, [first]],
    [{ text: 'order=7' }, [first]],
    [{ text: 'order=8' }, [referred]],
    [{ text: 'order=9' }, []],
    [{ text: 'toString=' }, []],
    [{ text: 'blue shoe' }, [paid]],
    [{ text: 'cart-9' }, [referred]],
    [{ text: 'cart' }, []],
    [{ before: cash }, [paid, first]],
    [{ limit: 2 }, [referred, cash]],
  ];
  for (const [search, expected] of rows)
    assert.deepEqual(found(stage, search), expected, JSON.stringify(search));
  assert.deepEqual(found(stage.as({ livemode: true }), {}), [], 'the other mode has its own');
  assert.deepEqual(found(stage.as({ org: 'org_other00000000000000000000' }), { customers: [ali] }), []);
});

test('payments are found by what became of them', () => {
  const stage = new Stage();
  const unpaid = createIntent(stage);
  const { intent: declined, charge: declinedCharge } = scenes.declined(stage);
  const chosenAgain = scenes.open(stage);
  stage.given('abandon_charge', {}, chosenAgain.charge);
  const paid = payByCard(stage).intent;
  const back = (amount?: number) => {
    const { intent, charge } = payByCard(stage);
    const { id } = stage.given('create_refund', { charge, ...(amount !== undefined && { amount }) });
    stage.given('succeed_refund', {}, id);
    return intent;
  };
  const [partly, whole] = [back(700), back()];
  const rows: readonly (readonly [PaymentSearch['state'], string[]])[] = [
    ['requires_payment_method', [chosenAgain.intent, unpaid]],
    ['failed', [declined]],
    ['succeeded', [paid]],
    ['partly_refunded', [partly]],
    ['refunded', [whole]],
    ['canceled', []],
  ];
  for (const [state, expected] of rows) assert.deepEqual(found(stage, { state }), expected, String(state));
  const { payments } = searchPayments(stage.world.state, stage.queryContext, everyPayment);
  const shown = payments.find(({ id }) => id === declined)!;
  const { decline_code } = stage.get('charge', declinedCharge);
  assert.deepEqual([shown.state, shown.failure], ['failed', { code: 'card_declined', decline_code }]);
  const story = (id: string) => storyOf(stage.world.state, stage.queryContext, id)!;
  for (const { id, state } of payments) assert.equal(story(id).state, state, 'one payment has one state');
  const failed = story(declined).steps.find(({ type }) => type === 'charge.failed')!;
  assert.deepEqual(failed.failure, { code: 'card_declined', decline_code });
  // While the customer tries again, the payment has not failed.
  openCharge(stage, declined);
  assert.equal(story(declined).state, 'requires_action');
});

test('payments are found by the last digits of the card, the amount, and a metadata value alone', () => {
  const stage = new Stage();
  const cheap = createIntent(stage, { amount: 4_242, metadata: { order: 'A-17' } });
  const paid = createIntent(stage, { amount: 119_456 });
  stage.settle(stage.calls('submit_card', typedCard, openCharge(stage, paid)));
  const referred = createSession(stage, { amount: 50_000, metadata: { cart: 'A-17' } }).intent;
  const rows: readonly (readonly [string, string[]])[] = [
    ['4242', [paid]],
    ['1,194.56', [paid]],
    ['MAD 1194.56', [paid]],
    ['1 194,56 DH', [paid]],
    ['42,42', [cheap]],
    ['500', [referred]],
    ['A-17', [referred, cheap]],
    ['A-1', []],
    ['order', []],
  ];
  for (const [text, expected] of rows) assert.deepEqual(found(stage, { text }), expected, text);
});

test('a search stops after some payments and goes on from there, and finds each once', () => {
  const stage = new Stage();
  const made = Array.from({ length: 1_203 }, (_, i) =>
    createIntent(stage, { metadata: { every: String(i % 400) } }),
  );
  const wanted = made.filter((_, i) => i % 400 === 1).reverse();
  const all: string[] = [];
  let before: string | null = null;
  let questions = 0;
  do {
    const search: PaymentSearch = { ...everyPayment, text: 'every=1', before };
    const page = searchPayments(stage.world.state, stage.queryContext, search);
    all.push(...page.payments.map(({ id }) => id));
    before = page.stoppedAt;
    questions++;
  } while (before !== null);
  assert.deepEqual(all, wanted);
  assert.equal(questions, 13);
});

test('the steps of a payment are told in order, with who or what caused each', () => {
  const stage = new Stage();
  const request = { ...stage.newRequest(), request_id: `req_${'q'.repeat(24)}` };
  const scene = scenes.declined(stage);
  stage.advance(minuteMs);
  const charge = openCharge(stage, scene.intent);
  stage.advance(minuteMs);
  stage.given('complete_charge', { amount: 5 }, charge);
  stage.advance(1);
  const review = stage.read('list_reviews').data[0].id;
  stage.given('complete_charge', {}, charge);
  stage.advance(1);
  stage.given('close_review', { as: 'refunded' }, review, { cause: { by: 'operator', name: 'fatima' } });
  stage.advance(minuteMs);
  const { id: refund } = stage.given('create_refund', { charge, amount: 700 }, '', {
    request,
    cause: { by: 'member', name: 'mem_1' },
  });
  stage.given('succeed_refund', {}, refund);
  const story = storyOf(stage.world.state, stage.queryContext, refund)!;
  assert.deepEqual(
    story.steps.map(({ type, object }) => [type, object]),
    [
      ['payment_intent.created', scene.intent],
      ['payment_intent.requires_action', scene.intent],
      ['payment_intent.processing', scene.intent],
      ['charge.failed', scene.charge],
      ['payment_intent.requires_action', scene.intent],
      ['review.opened', review],
      ['payment_intent.processing', scene.intent],
      ['charge.succeeded', charge],
      ['review.closed', review],
      ['refund.created', refund],
      ['refund.updated', refund],
    ],
  );
  const authors = story.steps.map(({ by, by_name }) => `${by} ${by_name ?? ''}`.trim());
  assert.deepEqual(authors, [
    'request',
    'network',
    'customer',
    'network',
    'network',
    'request',
    'request',
    'request',
    'operator fatima',
    'member mem_1',
    'request',
  ]);
  for (const step of story.steps) assert.match(step.event ?? '', /^evt_/, step.type);
  assert.equal(story.steps.find(({ type }) => type === 'refund.created')!.request, request.request_id);
  assert.deepEqual(
    [story.refundable, story.cancelable, story.charges.length, story.refunds.length, story.reviews.length],
    [19_300, false, 2, 1, 1],
  );
  assert.equal(story.session!.id, scene.session);
  for (const reference of [scene.intent, scene.session, charge, review])
    assert.deepEqual(storyOf(stage.world.state, stage.queryContext, reference), story, reference);
});

test('of many refunds the newest are told, and the older ones by pages', () => {
  const stage = new Stage();
  const { charge } = payByCard(stage);
  const made = Array.from({ length: 45 }, () => stage.given('create_refund', { charge, amount: 1 }).id);
  const told: string[][] = [];
  let before: string | undefined;
  do {
    const story: PaymentStory = storyOf(stage.world.state, stage.queryContext, charge, before)!;
    told.unshift(story.refunds.map(({ id }) => id));
    const steps = story.steps.filter(({ type }) => type === 'refund.created');
    assert.deepEqual(
      steps.map(({ object }) => object),
      told[0],
    );
    before = story.olderRefunds ?? undefined;
  } while (before !== undefined);
  assert.deepEqual(
    told.map(({ length }) => length),
    [5, 20, 20],
  );
  assert.deepEqual(told.flat(), made);
});

test('a payment tells whose it is, as far as that is known', () => {
  const stage = new Stage();
  const { id } = stage.given('create_customer', { email: 'a@shop.test', name: 'Ali' });
  const customerIn = (intent: string) => storyOf(stage.world.state, stage.queryContext, intent)!.customer;
  const intent = createIntent(stage, { customer: id });
  assert.deepEqual(customerIn(intent), { id, name: 'Ali', email: 'a@shop.test' });
  assert.equal(customerIn(createIntent(stage)), null);
});

test('a payment is found by its cash code, can be canceled while it waits, and is nobody else’s', () => {
  const stage = new Stage();
  const { intent, charge } = scenes.code(stage);
  const number = stage.get('charge', charge).cash_number!;
  const story = storyOf(stage.world.state, stage.queryContext, number)!;
  assert.deepEqual([story.intent.id, story.cancelable, story.refundable], [intent, true, 0]);
  const other = stage.as({ org: 'org_other00000000000000000000' });
  for (const reference of [number, intent, charge, '000000000000', 'pi_none', ''])
    assert.equal(storyOf(stage.world.state, other.queryContext, reference), null);
  stage.given('cancel_payment_intent', {}, intent);
  const canceled = storyOf(stage.world.state, stage.queryContext, intent)!;
  assert.deepEqual(
    canceled.steps.map(({ type }) => type),
    ['payment_intent.created', 'payment_intent.requires_action', 'charge.failed', 'payment_intent.canceled'],
  );
  assert.equal(canceled.cancelable, false);
});

test('the story of a payment tells money of a review in the currency that it came in', () => {
  const stage = new Stage();
  const { charge } = scenes.code(stage);
  const { amount } = stage.get('charge', charge);
  const reported = { reference: 'T-1', agent: null, card: null, isHeld: false };
  stage.given('receive_money', { ...reported, amount: amount - 1, currency: 'eur' }, charge);
  const { steps } = storyOf(stage.world.state, stage.queryContext, charge)!;
  const told = steps.map(({ type, amount, currency }) => [type, amount, currency]);
  assert.deepEqual(told.at(-1), ['review.opened', amount - 1, 'eur']);
  assert.deepEqual(told[0], ['payment_intent.created', amount, 'mad']);
});
