// Scenes bring a payment to each of its states, by the commands that lead there. Every payment belongs to a checkout session
// and is 200.00 MAD by card or by cash, unless a test asks for something else.

import { newestSerial } from '../../src/domain/attempts.ts';
import { scopeOf } from '../../src/domain/indexes.ts';
import type { CardDetails, NetworkCallRecord } from '../../src/domain/record.ts';
import type { Stage } from './stage.ts';

export interface Scene {
  readonly intent: string;
  readonly session: string;
  /** The latest charge; empty when there has been none. */
  readonly charge: string;
  /** The call to a payment network that is under way. */
  readonly call?: NetworkCallRecord;
}

export const amount = 20_000;
export const card: CardDetails = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2031 };
export const typedCard = { token: 'tok_1', card, challenge: false };

/** An endpoint, and the delivery of an event to it. */
export function deliver(stage: Stage): { endpoint: string; delivery: string } {
  const params = { url: 'https://a.test', enabled_events: ['*'] };
  const endpoint = stage.given('create_webhook_endpoint', params).id;
  const { decision } = stage.when('create_payment_intent', { amount: 100, currency: 'mad' });
  return { endpoint, delivery: decision.changes.find(({ kind }) => kind === 'delivery')!.id };
}

/** The serial number that the next attempt of a delivery gets. */
export function nextSerial({ world, who: { org, livemode } }: Stage): number {
  return newestSerial(world.state, scopeOf(org, livemode)) + 1;
}

/** An intent of its own, without a session. */
export function createIntent(stage: Stage, more: object = {}): string {
  return stage.given('create_payment_intent', { amount, currency: 'mad', ...more }).id;
}

export function createSession(stage: Stage, more: object = {}): Scene {
  const session = stage.given('create_checkout_session', {
    amount,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    success_url: 'https://shop.test/thanks',
    ...more,
  });
  return { session: session.id, intent: session.payment_intent, charge: '' };
}

/** Confirms an intent and lets the network open the charge, which it returns. */
export function openCharge(stage: Stage, intent: string, method: 'card' | 'cash' = 'card'): string {
  stage.settle(stage.calls('confirm_payment_intent', { payment_method_type: method }, intent));
  return stage.get('payment_intent', intent).latest_charge!;
}

/** An intent paid by card; intent and charge. */
export function payByCard(stage: Stage, more: object = {}): { intent: string; charge: string } {
  const intent = createIntent(stage, more);
  const charge = openCharge(stage, intent);
  stage.given('complete_charge', {}, charge);
  return { intent, charge };
}

function open(stage: Stage, method: 'card' | 'cash' = 'card'): Scene {
  const scene = createSession(stage);
  return { ...scene, charge: openCharge(stage, scene.intent, method) };
}

function authorizing(stage: Stage): Required<Scene> {
  const scene = open(stage);
  return { ...scene, call: stage.calls('submit_card', typedCard, scene.charge) };
}

/** Every state that a payment can be in. */
export const scenes = {
  fresh: (stage) => createSession(stage),
  opening: (stage) => {
    const scene = createSession(stage);
    const params = { payment_method_type: 'card' };
    return { ...scene, call: stage.calls('confirm_payment_intent', params, scene.intent) };
  },
  open: (stage) => open(stage),
  challenge: (stage) => {
    const scene = open(stage);
    stage.given('submit_card', { ...typedCard, challenge: true }, scene.charge);
    return scene;
  },
  code: (stage) => open(stage, 'cash'),
  authorizing,
  accepted: (stage) => {
    const scene = authorizing(stage);
    stage.settle(scene.call, { result: 'accepted' });
    return scene;
  },
  declined: (stage) => {
    const scene = authorizing(stage);
    stage.settle(scene.call, { result: 'declined', decline_code: 'lost_card' });
    return { ...scene, call: undefined };
  },
  paid: (stage) => {
    const scene = authorizing(stage);
    stage.settle(scene.call);
    return { ...scene, call: undefined };
  },
  paid_cash: (stage) => {
    const scene = open(stage, 'cash');
    const number = stage.get('charge', scene.charge).cash_number!;
    stage.given('pay_cash', { number, amount });
    return scene;
  },
  canceled: (stage) => {
    const scene = open(stage);
    stage.given('cancel_payment_intent', {}, scene.intent);
    return scene;
  },
} as const satisfies Record<string, (stage: Stage) => Scene>;

export type SceneName = keyof typeof scenes;
