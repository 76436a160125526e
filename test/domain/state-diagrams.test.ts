// The state diagrams of docs/ARCHITECTURE.md are true: the commands below take every arrow in them, and no other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueFirstMs } from '../../src/domain/deliveries.ts';
import { endedIndex } from '../../src/domain/indexes.ts';
import { createIntent, deliver, nextSerial, payByCard, type SceneName, scenes } from './scenes.ts';
import { hourMs, minuteMs, Stage, settings } from './stage.ts';
import { drawnKinds, drawnTransitions, transitionsOf } from './state-diagrams.ts';

function attempt(stage: Stage, delivery: string, status: number): void {
  const failure = status === 200 ? null : `status ${status}`;
  const result = { at_ms: stage.nowMs, duration_ms: 12, status, failure, answer: '' };
  const { attempt_count: number, due_at_ms } = stage.get('delivery', delivery);
  stage.given('record_attempt', {
    delivery,
    number,
    serial: nextSerial(stage),
    first: due_at_ms === dueFirstMs,
    result,
  });
}

function prune(stage: Stage): void {
  stage.advance(hourMs);
  const ended = [...stage.world.state.scan(endedIndex, { descending: false })].map(({ id }) => id);
  stage.given('prune_deliveries', { deliveries: ended, limit: 500 });
}

const plays: Readonly<Record<string, (stage: Stage) => void>> = {
  ...Object.fromEntries((Object.keys(scenes) as SceneName[]).map((name) => [name, scenes[name]])),
  'the customer goes back': (stage) => stage.given('abandon_charge', {}, scenes.code(stage).charge),
  'the card page is out of time': (stage) => {
    const { charge } = scenes.open(stage);
    stage.advance(30 * minuteMs);
    stage.given('expire_due', {}, charge);
  },
  'the session is out of time': (stage) => {
    const { session } = scenes.fresh(stage);
    stage.advance(24 * hourMs);
    stage.given('expire_due', {}, session);
  },
  'canceled before any charge': (stage) => stage.given('cancel_payment_intent', {}, createIntent(stage)),
  'refunds that are made and refused': (stage) => {
    const { charge } = payByCard(stage);
    for (const end of ['succeed_refund', 'fail_refund'] as const) {
      stage.given(end, {}, stage.given('create_refund', { charge, amount: 100 }).id);
    }
  },
  'a delivery that succeeds, is resent, succeeds and is removed': (stage) => {
    const { delivery } = deliver(stage);
    attempt(stage, delivery, 200);
    stage.given('resend_delivery', { delivery });
    attempt(stage, delivery, 200);
    prune(stage);
  },
  'a delivery that fails, is resent, fails and is removed': (stage) => {
    const { delivery } = deliver(stage);
    const exhaust = () => {
      for (let i = 0; i <= settings.webhookRetryMs.length; i++) attempt(stage, delivery, 500);
    };
    exhaust();
    stage.given('resend_delivery', { delivery });
    exhaust();
    prune(stage);
  },
  'a delivery whose endpoint is deleted': (stage) => {
    const { endpoint } = deliver(stage);
    stage.given('delete_webhook_endpoint', {}, endpoint);
    stage.given('drain_endpoint', {}, endpoint);
    prune(stage);
  },
};

const taken = Object.fromEntries(drawnKinds.map((kind) => [kind, new Set<string>()]));
for (const play of Object.values(plays)) {
  const stage = new Stage();
  play(stage);
  const transitions = transitionsOf(stage.world.log);
  for (const kind of drawnKinds) for (const transition of transitions[kind]) taken[kind]!.add(transition);
}

for (const kind of drawnKinds) {
  test(`the states of a ${kind}`, () => {
    assert.deepEqual([...taken[kind]!].sort(), [...drawnTransitions(kind)].sort());
  });
}
