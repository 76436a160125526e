// The service as the pages see it, in one process and in memory: the real state machine, the real runner and the
// simulated networks behind a port. What a shard, a journal and threads add is tested elsewhere.

import { randomBytes, randomFillSync, randomInt } from 'node:crypto';

import { idPrefixes } from '../../../src/contract/id-prefixes.ts';
import { createIdFactory, createRandomText } from '../../../src/core/ids.ts';
import { slotOf } from '../../../src/core/slot.ts';
import type { AnyCommand, CommandParams } from '../../../src/domain/command.ts';
import { type Command, decide } from '../../../src/domain/decide.ts';
import type { Context, Decision, EffectiveLimit } from '../../../src/domain/decision.ts';
import { networkCallOf } from '../../../src/domain/network-call.ts';
import { viewPayment } from '../../../src/domain/payment-view.ts';
import { State } from '../../../src/domain/state.ts';
import type { PagePort } from '../../../src/edge/pages/page-port.ts';
import { createPages, type PagesOptions } from '../../../src/edge/pages/pages.ts';
import { createRunner } from '../../../src/networks/runner.ts';
import { createSimulator } from '../../../src/networks/simulator.ts';
import { at } from '../../manual-clock.ts';
import { createManualTimers } from '../../networks/manual-timers.ts';

export const merchant = 'Atlas <Books> & Co';
const startMs = Date.UTC(2026, 10, 2, 12);
const cashCodeMs = 3 * 86_400_000;

const limit: EffectiveLimit = { perMinute: 600, source: 'default' };

export function createService(options: Partial<PagesOptions> & { readonly latencyMs?: number } = {}) {
  const timers = createManualTimers(startMs);

  const baseUrl = options.baseUrl ?? 'http://localhost';
  const state = new State();
  const randomText = createRandomText((bytes) => void randomFillSync(bytes));
  const ids = createIdFactory(randomText);
  const org = 'org_00000000test';
  const waiting = new Map<string, (answer: Answer) => void>();
  /** The operations of every authorization that was decided. */
  const authorizations: string[] = [];
  const log: string[] = [];

  type Answer = Awaited<ReturnType<PagePort['command']>>;

  const context: Omit<Context, 'nowMs' | 'serviceMs' | 'language'> = {
    org,
    livemode: false,
    account: {
      id: org,
      name: merchant,
      created: 0,
      methods: { card: true, cash: true },
      limits: { all: limit, writes: limit, payment_creation: limit, search: limit },
    },
    settings: { baseUrl, cardAttemptMs: 1_800_000, cashCodeMs, webhookRetryMs: [] },
    apiVersion: '2026-11-01',
    request: null,
    endpoints: [],
    endpointsBusy: false,
    addressAllowed: null,
    newId: (kind) => ids.next(idPrefixes[kind], slotOf(org), timers.clock.now()),
    randomText,
    sealSecret: (secret) => secret,
    randomBelow: (below) => randomInt(below),
  };

  function commit(command: Command, language: 'en' | 'fr' | 'ar'): Decision {
    const decision = decide(state, command, { ...context, ...at(timers.clock.now()), language });
    for (const change of decision.changes) state.apply(change);
    for (const operation of decision.operations) {
      if (operation.action === 'authorize_card') authorizations.push(operation.id);
      runner.run(networkCallOf(state, operation, cashCodeMs));
    }
    return decision;
  }

  async function run<O extends AnyCommand>(
    operation: O,
    params: CommandParams<O>,
    id = '',
    language: 'en' | 'fr' | 'ar' = 'en',
  ): Promise<Answer> {
    const { outcome } = commit({ operation, id, params } as unknown as Command, language);
    if ('waitsFor' in outcome) {
      return new Promise((resolve) => waiting.set(outcome.waitsFor.id, resolve));
    }
    return answerOf(outcome);
  }

  function answerOf(outcome: Decision['outcome']): Answer {
    if ('body' in outcome) return { ok: true, body: JSON.parse(outcome.body) };
    if ('refusal' in outcome) return { ok: false, code: outcome.refusal.code, message: '' };
    if ('waiterRefused' in outcome) return { ok: false, code: outcome.waiterRefused.code, message: '' };
    throw new Error('no such outcome here');
  }

  const simulator = createSimulator('test', {
    latencyMs: options.latencyMs ?? 0,
    refundSettleMs: 60_000,
    processingSettleMs: 30_000,
    now: timers.clock.now,
    timers,
  });
  const runner = createRunner({
    networks: { test: simulator, live: { card: null, cash: null } },
    settle: async (operation, outcome) => {
      const command = {
        operation: 'settle_operation',
        id: operation,
        params: { operation, outcome },
      } as const;
      const settled = commit(command, 'en').outcome;
      waiting.get(operation)?.(answerOf(settled));
      waiting.delete(operation);
    },
    timers,
    timeoutMs: 10_000,
    onTrouble: ({ error }) => void log.push(String(error)),
  });

  const port: PagePort = {
    async view(id) {
      const view = viewPayment(state, id, timers.clock.now());
      return view && { ...view, merchant };
    },
    command: (operation, id, params, language) => run(operation, params as never, id, language),
  };

  const pages = createPages({
    port,
    tokenize: { test: simulator.card.tokenize, live: null },
    baseUrl,
    monotonic: timers.clock.monotonic,
    randomBytes,
    visitsPerMinute: 100_000,
    trustedProxies: [],
    onError: (error) => void log.push(String(error)),
    ...options,
  });

  /** Runs a command and gives its resource; fails when it is refused. */
  async function create<T>(operation: AnyCommand, params: object, id = ''): Promise<T> {
    const answer = await run(operation, params as never, id);
    if (!answer.ok) throw new Error(`${operation} was refused: ${answer.code}`);
    return answer.body as T;
  }

  return { state, timers, pages, port, run, create, authorizations, log };
}

export type Service = ReturnType<typeof createService>;

interface Session {
  readonly id: string;
  readonly payment_intent: string;
}

/** A new checkout session of 250.00 MAD for both methods. */
export function createSession(service: Service, params: object = {}): Promise<Session> {
  return service.create<Session>('create_checkout_session', {
    amount: 25_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    success_url: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://shop.example/basket',
    ...params,
  });
}

/** A payment intent that was confirmed without a session; the charge of its attempt. */
export async function createConfirmed(
  service: Service,
  method: 'card' | 'cash',
  params: object = { return_url: 'https://shop.example/back' },
): Promise<{ readonly intent: string; readonly charge: string }> {
  const created = { amount: 25_000, currency: 'mad', payment_method_types: [method] };
  const intent = await service.create<{ id: string }>('create_payment_intent', created);
  const confirmed = await service.create<{ latest_charge: string }>(
    'confirm_payment_intent',
    { payment_method_type: method, ...params },
    intent.id,
  );
  return { intent: intent.id, charge: confirmed.latest_charge };
}
