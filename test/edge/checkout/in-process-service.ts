// The service as the pages see it, in one process and in memory: a real shard, the real runner and the simulated networks; in live
// mode, a card network with a page of its own.
// Other tests have threads and a disk.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { networkPath } from '../../../src/contract/page-paths.ts';
import { type CommandOperation, routeTable } from '../../../src/contract/routes/table.ts';
import { causes } from '../../../src/domain/cause.ts';
import type { InternalOperation, InternalParams } from '../../../src/domain/command.ts';
import { networkCallOf } from '../../../src/domain/network-call.ts';
import { createPagePort } from '../../../src/edge/checkout/page-visits.ts';
import { CheckoutPages, type CheckoutPagesOptions } from '../../../src/edge/checkout/pages.ts';
import { heldByLock } from '../../../src/journal/ownership.ts';
import type { CardNetwork, Networks } from '../../../src/networks/network.ts';
import { startPage } from '../../../src/networks/page-starts.ts';
import { Runner } from '../../../src/networks/runner.ts';
import { createSimulator, simulatedAgents } from '../../../src/networks/simulator.ts';
import type { InternalAnswer, InternalRequest, NetworksMessage } from '../../../src/shard/protocol.ts';
import { outcomeCommand } from '../../../src/shard/protocol.ts';
import { replayOf } from '../../journal/journal-fixtures.ts';
import { createManualTimers } from '../../networks/manual-timers.ts';
import { Actor, account, startMs } from '../../shard/actor.ts';

/** The page of live mode's card network. */
export const networkPage = 'https://cards.example/page?merchant=1';

/** A card network with a page of its own, which tells in its form what it was asked for. */
const hostedCards: CardNetwork = {
  openPage: async () => ({ result: 'awaited' }),
  lookup: async () => ({ result: 'accepted' }),
  startPage: ({ customer, ...payment }) => ({
    url: networkPage,
    fields: Object.entries({ ...payment, ...customer }).map(
      ([name, value]) => [name, String(value)] as const,
    ),
  }),
  refund: async () => ({ result: 'done' }),
};

/** In test mode cards are typed on the service's page, in live mode on the network's. */
const available: Networks['available'] = (_, mode) => ({
  card: true,
  cash: true,
  cardPage: mode === 'test' ? 'own' : 'hosted',
  agents: simulatedAgents,
});

const merchant = 'Atlas <Books> & Co';
const cashCodeMs = 3 * 86_400_000;

export function createService(options: Partial<CheckoutPagesOptions> & { readonly latencyMs?: number } = {}) {
  const timers = createManualTimers(startMs);
  const baseUrl = options.baseUrl ?? 'http://localhost';
  /** The network call of every authorization that was decided. */
  const authorizations: string[] = [];
  const log: string[] = [];
  let keys = 0;

  const actor: Actor = new Actor({
    clock: timers.clock,
    settings: {
      baseUrl,
      cardPageMs: 1_800_000,
      cashCodeMs,
      webhookRetryMs: [],
      attemptsKeptMax: 256,
      answersKeptMax: 64,
    },
    callNetwork(call) {
      if (call.action === 'authorize_card') authorizations.push(call.id);
      runner.run(networkCallOf(actor.shard.state.records, call, cashCodeMs));
    },
    availability: available,
    onFailure: (error) => void log.push(String(error)),
    account: { ...account, name: merchant },
  });
  const { shard } = actor;
  const simulator = createSimulator('test', {
    latencyMs: options.latencyMs ?? 0,
    refundSettleMs: 60_000,
    processingSettleMs: 30_000,
    now: timers.clock.now,
    timers,
  });
  const networks: Networks = {
    of: (_, mode) => (mode === 'test' ? simulator : { card: hostedCards, cash: null }),
    posting: () => ({ card: null, cash: null }),
    callbackPath: (org, mode) => networkPath('cards', org, mode),
    available,
    onOutcome: simulator.onOutcome,
  };
  const runner = new Runner({
    ownership: heldByLock(1),
    networks,
    isOpen: (call) => shard.state.records.get('network_call', call) !== undefined,
    async apply(call, outcome) {
      const answer = await shard.ask(outcomeCommand(call, outcome));
      if (!answer.ok) throw new Error(answer.message);
    },
    timers,
    scheduler: { elapsedMs: timers.clock.now },
    timeoutMs: 10_000,
    randomBelow: () => 1_000,
    onTrouble: ({ error }) => void log.push(String(error)),
  });
  const ask = (request: InternalRequest) => shard.ask(request);
  async function handOver(request: NetworksMessage['request']): Promise<InternalAnswer> {
    assert(request.kind === 'start_page');
    return { ok: true, body: JSON.stringify(await startPage(request, { networks, ask, baseUrl })) };
  }
  const port = createPagePort([{ ask, handOver }]);
  const pages = new CheckoutPages({
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

  /** Runs a command of the pages; fails when it is refused. */
  async function run<O extends InternalOperation>(operation: O, params: InternalParams[O], id: string) {
    const request = {
      kind: 'command',
      operation,
      id,
      params,
      language: 'en',
      cause: causes.customer,
    } as const;
    const answer = await shard.ask(request);
    if (!answer.ok) throw new Error(`${operation} was refused: ${answer.message}`);
  }

  /** Sends a merchant's request and gives its resource; fails when it is refused. */
  async function create<T>(
    operation: CommandOperation,
    params: object,
    id = '',
    livemode = false,
  ): Promise<T> {
    const { method, path } = routeTable.find((route) => route.operation === operation)!;
    const request = `${method} ${path.replace('{id}', id)}`;
    const answer = await actor.send(request, { body: params, key: `key-${++keys}`, livemode });
    if (answer.status !== 200) throw new Error(`${operation} was refused: ${answer.text}`);
    return answer.json as T;
  }

  /** Lets the shard do what is due. */
  async function upkeep(): Promise<void> {
    shard.tick();
    await timers.advance(0);
  }

  const state = shard.state.records;
  /** All that was written, in order. */
  const changes = async () => (await replayOf(actor.journal)).flatMap((entry) => entry.changes);
  return { shard, state, changes, timers, pages, port, run, create, upkeep, authorizations, log };
}

export type Service = ReturnType<typeof createService>;

interface Session {
  readonly id: string;
  readonly payment_intent: string;
}

/** A new checkout session of 250.00 MAD for both methods. */
export function createSession(service: Service, params: object = {}, livemode = false): Promise<Session> {
  const whole = {
    amount: 25_000,
    currency: 'mad',
    payment_method_types: ['card', 'cash'],
    success_url: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'https://shop.example/basket',
    ...params,
  };
  return service.create<Session>('create_checkout_session', whole, '', livemode);
}

/** A payment intent that was confirmed without a session; its charge. */
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
