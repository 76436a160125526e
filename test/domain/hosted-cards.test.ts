// Cards that are typed on the network's own page: what the network reports of them, and what it answers when it is asked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receiptsPerChargeMax } from '../../src/contract/limits.ts';
import type { NetworkOutcome } from '../../src/domain/network-outcomes.ts';
import type { ReportedMoney } from '../../src/domain/received-money.ts';
import type { NetworkCallRecord, ReviewRecord } from '../../src/domain/record.ts';
import { amount, createSession } from './scenes.ts';
import { Stage, type Step, settings } from './stage.ts';

const paidCard = { brand: 'visa', last4: '4358', exp_month: null, exp_year: null };
const right: ReportedMoney = {
  reference: 'T-1',
  amount,
  currency: 'mad',
  agent: null,
  card: paidCard,
  isHeld: true,
};
const declined = { decline_code: 'do_not_honor', mayTryAgain: false } as const;
const tried = { decline_code: 'insufficient_funds', mayTryAgain: true } as const;

interface Hosted {
  readonly stage: Stage;
  readonly session: string;
  readonly intent: string;
  readonly charge: string;
  /** The call that asks what became of the network's page. */
  readonly awaited: NetworkCallRecord;
}

/** A payment whose customer is on the network's page. */
function hosted(stage = new Stage()): Hosted {
  const { session, intent } = createSession(stage);
  const opening = stage.calls('confirm_payment_intent', { payment_method_type: 'card' }, intent);
  const [awaited] = stage.settle(opening, { result: 'awaited' }).decision.networkCalls;
  const charge = stage.get('payment_intent', intent).latest_charge!;
  return { stage, session, intent, charge, awaited: awaited! };
}

const receive = ({ stage, charge }: Hosted, changes: Partial<ReportedMoney> = {}): Step =>
  stage.when('receive_money', { ...right, ...changes }, charge);

const calls = (step: Step) => step.decision.networkCalls.map(({ action }) => action);

const credited = [
  'payment_intent.processing',
  'charge.succeeded',
  'payment_intent.succeeded',
  'checkout.session.completed',
];
const failed = ['charge.failed', 'payment_intent.payment_failed'];

test('the network opens its page: the payment waits there, and the network is asked about it', () => {
  const { stage, intent, charge, awaited } = hosted();
  assert.equal(stage.get('payment_intent', intent).status, 'requires_action');
  assert.deepEqual(
    [awaited.action, awaited.charge, awaited.accepted, stage.get('charge', charge).authorization],
    ['await_card_payment', charge, true, awaited.id],
  );
  stage.settle(awaited, { result: 'accepted' }).expect({ changes: [] });
});

const ends: Readonly<Record<string, (scene: Hosted) => void>> = {
  'is open': () => {},
  'was paid': (scene) => void receive(scene),
  'was declined': ({ stage, charge }) => void stage.given('receive_decline', declined, charge),
  'has expired': ({ stage, charge }) => {
    stage.advance(settings.cardPageMs);
    stage.given('expire_due', {}, charge);
  },
  'was abandoned': ({ stage, charge }) => void stage.given('abandon_charge', {}, charge),
  'was canceled': ({ stage, intent }) => void stage.given('cancel_payment_intent', {}, intent),
};

interface Row {
  readonly given: keyof typeof ends;
  readonly when: string;
  readonly step: (scene: Hosted) => Step;
  readonly received: 'credited' | 'repeated' | 'review' | 'declined';
  readonly events: readonly string[];
  readonly calls?: readonly string[];
}

const other = (changes: Partial<ReportedMoney>) => (scene: Hosted) => receive(scene, changes);
const decline = ({ stage, charge }: Hosted) => stage.when('receive_decline', declined, charge);
const review = { received: 'review', events: ['review.opened'] } as const;
const late = ['has expired', 'was abandoned', 'was canceled', 'was declined'].map(
  (given): Row => ({ given, when: 'money comes', step: other({}), ...review }),
);
const rows: readonly Row[] = [
  {
    given: 'is open',
    when: 'the right money comes',
    step: other({}),
    received: 'credited',
    events: credited,
    calls: ['capture_charge'],
  },
  {
    given: 'is open',
    when: 'money comes that nobody holds',
    step: other({ isHeld: false }),
    received: 'credited',
    events: credited,
  },
  { given: 'is open', when: 'less comes', step: other({ amount: amount - 1 }), ...review },
  { given: 'is open', when: 'more comes', step: other({ amount: amount + 1 }), ...review },
  { given: 'is open', when: 'another currency comes', step: other({ currency: '840' }), ...review },
  { given: 'is open', when: 'it is declined', step: decline, received: 'declined', events: failed },
  { given: 'was paid', when: 'the same comes again', step: other({}), received: 'repeated', events: [] },
  { given: 'was paid', when: 'another payment comes', step: other({ reference: 'T-2' }), ...review },
  { given: 'was paid', when: 'a decline comes', step: decline, received: 'declined', events: [] },
  { given: 'was declined', when: 'the same comes again', step: decline, received: 'declined', events: [] },
  ...late,
];

for (const { given, when, step, received, events, calls: expected = [] } of rows) {
  test(`a hosted charge that ${given}: ${when}`, () => {
    const scene = hosted();
    ends[given]!(scene);
    const came = step(scene).expect({ answer: { received }, events });
    assert.deepEqual(calls(came), expected);
    const isPaid = received === 'credited' || given === 'was paid';
    assert.equal(scene.stage.get('payment_intent', scene.intent).amount_received, isPaid ? amount : 0);
    if (received === 'review') {
      step(scene).expect({ answer: { received }, events: [], changes: [] });
    }
  });
}

for (const given of Object.keys(ends)) {
  test(`the network is asked about a charge that ${given}: it counts as its report would`, () => {
    const scene = hosted();
    ends[given]!(scene);
    const { stage, awaited } = scene;
    const isDecided = given === 'was paid' || given === 'was declined';
    const events = given === 'is open' ? credited : isDecided ? [] : ['review.opened'];
    stage.settle(awaited, { result: 'paid', money: right }).expect({ events });
    const answer = { received: events === credited || given === 'was paid' ? 'repeated' : 'review' };
    if (given !== 'was declined') receive(scene).expect({ answer, changes: [] });
  });
}

for (const changes of [{}, { amount: amount - 1 }])
  test(`money of one payment pays one charge: it came before ${JSON.stringify(changes)} for another`, () => {
    const first = hosted();
    const second = hosted(first.stage);
    receive(first, changes);
    receive(second).expect({ answer: { received: 'review' }, events: ['review.opened'] });
    assert.equal(second.stage.get('payment_intent', second.intent).amount_received, 0);
    receive(second, { reference: 'T-2' }).expect({ answer: { received: 'credited' }, events: credited });
  });

for (const first of ['mad', 'eur']) {
  test(`the network reports the same reference and amount in ${first} and then in another currency`, () => {
    const scene = hosted();
    const second = first === 'mad' ? 'eur' : 'mad';
    const isPaid = first === 'mad';
    const opened = { answer: { received: 'review' }, events: ['review.opened'] };
    const known = { answer: { received: 'review', again: true }, events: [], changes: [] };
    const own = { answer: { received: 'repeated' }, events: [], changes: [] };
    receive(scene, { currency: first }).expect(
      isPaid ? { answer: { received: 'credited' }, events: credited } : opened,
    );
    // What the network says in dirhams after another currency may be what it answered when it was asked.
    receive(scene, { currency: second }).expect(isPaid ? opened : known);
    for (const currency of ['mad', 'eur', 'mad'])
      receive(scene, { currency }).expect(currency === 'mad' && isPaid ? own : known);
    const reviews: ReviewRecord[] = scene.stage.read('list_reviews').data;
    assert.deepEqual(
      reviews.map((review) => [review.reason, review.currency_received]),
      [['amount_mismatch', 'eur']],
    );
  });
}

test('a charge remembers so many reports; one more is refused and stores nothing, and the right money is taken nevertheless', () => {
  const scene = hosted();
  const less = amount - 1;
  const review = { answer: { received: 'review' }, events: ['review.opened'] };
  for (let i = 0; i < receiptsPerChargeMax; i++)
    receive(scene, { reference: `L-${i}`, amount: less }).expect(review);
  receive(scene, { reference: 'L', amount: less }).expect({ answer: { received: 'too_many' }, changes: [] });
  receive(scene, { reference: 'L-0', amount: less }).expect({ answer: { received: 'review' }, changes: [] });
  receive(scene).expect({ answer: { received: 'credited' }, events: credited });
  receive(scene).expect({ answer: { received: 'repeated' }, changes: [] });
  receive(scene, { reference: 'M' }).expect({ answer: { received: 'too_many' }, changes: [] });
  receive(scene, { currency: 'eur' }).expect({ answer: { received: 'too_many' }, changes: [] });
});

test('the card is known as far as the network tells', () => {
  const scene = hosted();
  receive(scene);
  assert.deepEqual(scene.stage.get('charge', scene.charge).card, paidCard);
});

const noMore: Readonly<Record<string, readonly [NetworkOutcome, readonly string[]]>> = {
  'nobody can pay there any more': [{ result: 'failed', reason: 'not_paid' }, []],
  'the card was declined': [{ result: 'declined', decline_code: 'do_not_honor' }, failed],
};
for (const [what, [outcome, events]] of Object.entries(noMore)) {
  test(`the network says that ${what}: it is asked no more`, () => {
    const { stage, awaited } = hosted();
    assert.ok(stage.settle(awaited, outcome).expect({ events }).changes.includes('network_call removed'));
    stage.settle(awaited, { result: 'paid', money: right }).expect({ changes: [] });
  });
}

test('money that was credited and can not be captured opens a review', () => {
  const scene = hosted();
  const [capture] = receive(scene).decision.networkCalls;
  scene.stage
    .settle(capture!, { result: 'failed', reason: 'voided' })
    .expect({ events: ['review.opened'], changes: ['network_call removed', 'review', 'charge succeeded'] });
  const [opened] = scene.stage.read('list_reviews').data;
  assert.deepEqual([opened.reason, opened.amount_received], ['amount_mismatch', 0]);
});

test('money that was credited and captured in part opens a review with that part', () => {
  const scene = hosted();
  const [capture] = receive(scene).decision.networkCalls;
  scene.stage
    .settle(capture!, { result: 'failed', reason: 'another_amount', taken: 7 })
    .expect({ events: ['review.opened'] });
  const [opened] = scene.stage.read('list_reviews').data;
  assert.deepEqual([opened.amount_expected, opened.amount_received], [amount, 7]);
  // The network's statement has the part under the same name, and its report may come again.
  const part = { reference: right.reference, amount: 7 };
  scene.stage
    .when('review_statement_money', part, scene.charge)
    .expect({ answer: { review: null, known: true }, changes: [], events: [] });
  receive(scene, part).expect({ answer: { received: 'review', again: true }, changes: [] });
  receive(scene).expect({ answer: { received: 'repeated' }, changes: [] });
});

test('a part that was found in the statement before is not reviewed again', () => {
  const scene = hosted();
  const [capture] = receive(scene).decision.networkCalls;
  scene.stage.given('review_statement_money', { reference: right.reference, amount: 7 }, scene.charge);
  scene.stage
    .settle(capture!, { result: 'failed', reason: 'another_amount', taken: 7 })
    .expect({ changes: ['network_call removed'], events: [] });
});

test('money that was captured needs nothing more', () => {
  const scene = hosted();
  const [capture] = receive(scene).decision.networkCalls;
  scene.stage.settle(capture!).expect({ changes: ['network_call removed'] });
});

for (const [given, as, expected] of [
  // The customer may still pay the right amount on the same page, and a network may know the two by one name only.
  ['is open', 'refunded', []],
  ['has expired', 'refunded', ['release_charge']],
  ['has expired', 'approved', []],
  ['was paid', 'refunded', []],
] as const) {
  test(`a review of a hosted charge that ${given} is closed as ${as}`, () => {
    const scene = hosted();
    ends[given]!(scene);
    receive(scene, { reference: 'T-2', amount: amount + 1 });
    const [opened] = scene.stage.read('list_reviews').data;
    const closing = scene.stage.when('close_review', { as }, opened.id);
    assert.deepEqual(calls(closing), expected);
    for (const call of closing.decision.networkCalls)
      scene.stage.settle(call).expect({ changes: ['network_call removed'] });
  });
}

test('a report about a charge that there is not is refused', () => {
  const scene = { ...hosted(), charge: 'ch_x' };
  receive(scene).expect({ refusal: 'resource_missing' });
  decline(scene).expect({ refusal: 'resource_missing' });
});

test('a card that is declined on the network’s page may be followed by another one there', () => {
  const scene = hosted();
  const { stage, charge } = scene;
  const answer = { received: 'declined' };
  stage.when('receive_decline', tried, charge).expect({ answer, changes: ['charge pending'] });
  const again = { ...answer, again: true };
  stage.when('receive_decline', tried, charge).expect({ answer: again, changes: [] });
  const other = { ...tried, decline_code: 'lost_card' };
  stage.when('receive_decline', other, charge).expect({ answer: again, changes: ['charge pending'] });
  receive(scene).expect({ answer: { received: 'credited' }, events: credited });
  assert.equal(stage.get('charge', charge).decline_code, null);
});

const unpaid: Readonly<Record<string, (scene: Hosted) => Step>> = {
  expires: ({ stage, charge }) => {
    stage.advance(settings.cardPageMs);
    return stage.when('expire_due', {}, charge);
  },
  'is abandoned': ({ stage, charge }) => stage.when('abandon_charge', {}, charge),
  'is left': ({ stage, charge }) => stage.when('leave_network_page', {}, charge),
};
for (const [what, end] of Object.entries(unpaid)) {
  test(`a charge whose card was declined on the network’s page fails for that reason when it ${what}`, () => {
    const scene = hosted();
    const { stage, intent, charge } = scene;
    stage.given('receive_decline', tried, charge);
    end(scene).expect({ events: failed });
    const { failure_code, decline_code } = stage.get('charge', charge);
    assert.deepEqual([failure_code, decline_code], ['card_declined', 'insufficient_funds']);
    assert.equal(stage.get('payment_intent', intent).last_payment_error!.charge, charge);
    receive(scene).expect({ answer: { received: 'review' }, events: ['review.opened'] });
  });
}

test('leaving the network’s page ends nothing while no card was declined there', () => {
  const { stage, charge } = hosted();
  stage.when('leave_network_page', {}, charge).expect({ changes: [] });
});

test('a network that contradicts itself about one payment has nothing credited', () => {
  const scene = hosted();
  receive(scene, { amount: amount + 1 }).expect({
    answer: { received: 'review' },
    events: ['review.opened'],
  });
  scene.stage.settle(scene.awaited, { result: 'paid', money: right }).expect({ events: ['review.opened'] });
  receive(scene).expect({ answer: { received: 'review' }, changes: [] });
  assert.equal(scene.stage.get('payment_intent', scene.intent).amount_received, 0);
});
