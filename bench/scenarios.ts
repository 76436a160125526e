// What is asked of the servers: the same of all of them, as far as they know it. The bare server answers as many bytes as
// the service would. A payment is created, confirmed and completed by the test helper: three requests and five events. With
// endpoints, a round of payments lasts until every delivery was received, and its rate counts to then.

import { driveFlows } from './flows.ts';
import type { Drive, Measured, Template } from './load.ts';
import { driveOpen } from './open-loop.ts';
import { eventsOfPayment, paymentFlows } from './payment-flow.ts';
import type { Receiver } from './receiver.ts';
import type { PaymentsTarget, ServiceTarget, Target } from './targets.ts';
import { counted, cycled, type Varying } from './varying.ts';

/** `replicated` is the service whose log lies in PostgreSQL, too. */
export type Server = 'service' | 'replicated' | 'bare' | 'postgres';

/** What a run has found: of its requests (or payments), and what else it has counted. */
export interface Run extends Measured {
  readonly figures?: Readonly<Record<string, number>>;
}

export interface Scenario {
  readonly name: string;
  readonly server: Server;
  readonly target: Target;
  /** Where what it stores is to be counted. */
  readonly stores: PaymentsTarget | null;
  /** For some seconds, as fast as the server answers or at a rate. */
  run(connections: number, seconds: number, perSecond?: number): Promise<Run>;
}

export interface Servers {
  readonly service: ServiceTarget;
  readonly replicated?: ServiceTarget;
  readonly receiver: Receiver;
  readonly bare: Target;
  /** Null where PostgreSQL is not installed. */
  readonly postgres: PaymentsTarget | null;
}

const seededCount = 1_000;
const seededAtOnce = 50;
export const intentsPath = '/v1/payment_intents';
const body = JSON.stringify({
  amount: 12_000,
  currency: 'mad',
  payment_method_types: ['card', 'cash'],
  metadata: { order_id: 'order-1042' },
});

export function headersOf(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
}

interface Seed {
  readonly keys: readonly string[];
  readonly ids: readonly string[];
  /** Size of an answer to a create and to a list. */
  readonly answerBytes: number;
  readonly listBytes: number;
}

/** Creates some intents, to be read and replayed. */
async function seed(url: string, key: string): Promise<Seed> {
  const varying = counted('seed');
  const keys = Array.from({ length: seededCount }, () => varying.next());
  const create = async (idempotencyKey: string): Promise<string> => {
    const headers = { ...headersOf(key), 'Idempotency-Key': idempotencyKey };
    const response = await fetch(url + intentsPath, { method: 'POST', headers, body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`an intent was refused: ${text}`);
    return text;
  };
  const answers: string[] = [];
  while (answers.length < seededCount)
    answers.push(
      ...(await Promise.all(keys.slice(answers.length, answers.length + seededAtOnce).map(create))),
    );
  const ids = answers.map((text) => JSON.parse(text).id as string);
  const list = await fetch(url + intentsPath, { headers: headersOf(key) });
  return { keys, ids, answerBytes: answers[0]!.length, listBytes: (await list.text()).length };
}

/** Creates a payment intent with another idempotency key each time. */
export function creation(key: string, varying: Varying, prefix = ''): Template {
  const headers = { ...headersOf(key), 'Idempotency-Key': varying.first };
  return { request: { method: 'POST', path: prefix + intentsPath, headers, body }, varying };
}

/** Reads what lies at a path, of which a part may be another one each time. */
export function reading(key: string, path: string, varying: Varying | null = null): Template {
  return { request: { method: 'GET', path, headers: headersOf(key) }, varying };
}

interface Merchant {
  readonly server: Server;
  readonly target: PaymentsTarget;
  readonly seeded: Seed;
  readonly templates: ReturnType<typeof templatesOf>;
}

async function merchantOf(server: Server, target: PaymentsTarget): Promise<Merchant> {
  const key = await target.newKey();
  const seeded = await seed(target.url, key);
  return { server, target, seeded, templates: templatesOf(key, seeded) };
}

/** The requests that a merchant sends, by name. */
function templatesOf(key: string, { keys, ids }: Seed) {
  return {
    create: creation(key, counted('load')),
    replay: creation(key, cycled(keys)),
    retrieve: reading(key, `${intentsPath}/${ids[0]!}`, cycled(ids)),
    list: reading(key, intentsPath),
  };
}

function scenarioOf(drive: Drive, identity: Omit<Scenario, 'run'>, requests: readonly Template[]): Scenario {
  const load = { url: identity.target.url, requests };
  return {
    ...identity,
    run: (connections, seconds, perSecond) =>
      perSecond === undefined
        ? drive(load, connections, seconds)
        : driveOpen(load, connections, perSecond, seconds),
  };
}

function bareScenario(drive: Drive, bare: Target, name: string, template: Template, bytes: number): Scenario {
  const { request } = template;
  const headers = { ...request.headers, ...(request.method === 'POST' && { 'Idempotency-Key': 'bare' }) };
  const sent = { request: { ...request, path: `/${bytes}`, headers }, varying: null };
  return scenarioOf(drive, { name, server: 'bare', target: bare, stores: null }, [sent]);
}

function merchantScenario(drive: Drive, name: string, merchant: Merchant, requests: readonly Template[]) {
  const { server, target } = merchant;
  return scenarioOf(drive, { name, server, target, stores: name === 'create' ? target : null }, requests);
}

const peersOf = ({ service, replicated, postgres }: Servers): [Server, PaymentsTarget][] => [
  ['service', service],
  ...(replicated === undefined ? [] : [['replicated', replicated] satisfies [Server, PaymentsTarget]]),
  ...(postgres === null ? [] : [['postgres', postgres] satisfies [Server, PaymentsTarget]]),
];

/** Single requests of all kinds; a mix of them only for a generator that can send it. */
export async function requestScenarios(servers: Servers, drive: Drive, canMix: boolean): Promise<Scenario[]> {
  const merchants: Merchant[] = [];
  for (const [server, target] of peersOf(servers)) merchants.push(await merchantOf(server, target));
  const [merchant] = merchants as [Merchant];
  const { create, replay, retrieve, list } = merchant.templates;
  const { answerBytes, listBytes } = merchant.seeded;
  // Of ten requests four creates, four retrieves, a list and a replay.
  const mix = [create, retrieve, retrieve, create, list, create, retrieve, replay, retrieve, create];
  return [
    bareScenario(drive, servers.bare, 'create', create, answerBytes),
    bareScenario(drive, servers.bare, 'retrieve', retrieve, answerBytes),
    bareScenario(drive, servers.bare, 'list', list, listBytes),
    ...merchants.flatMap((each) =>
      Object.entries(each.templates).map(([name, template]) =>
        merchantScenario(drive, name, each, [template]),
      ),
    ),
    ...(canMix ? [merchantScenario(drive, 'mix', merchant, mix)] : []),
  ];
}

/** Payments by one merchant without an endpoint and with one, and by many of whom each has one. */
export async function paymentScenarios(servers: Servers, merchants: number): Promise<Scenario[]> {
  const scenarios: Scenario[] = [];
  for (const [server, target] of peersOf(servers)) {
    scenarios.push(await payments('payment', server, target, 1, null));
    scenarios.push(await payments('payment, an endpoint', server, target, 1, servers.receiver));
    if (merchants > 1)
      scenarios.push(
        await payments(`payment, ${merchants} endpoints`, server, target, merchants, servers.receiver),
      );
  }
  return scenarios;
}

async function payments(
  name: string,
  server: Server,
  target: PaymentsTarget,
  merchants: number,
  receiver: Receiver | null,
): Promise<Scenario> {
  const keys: string[] = [];
  for (let i = 0; i < merchants; i++) {
    keys.push(await target.newKey());
    if (receiver !== null)
      await createEndpoint(target, keys[i]!, `${receiver.origin}/${server}-${name.length}-${i}`);
  }
  const begin = paymentFlows(keys);
  return {
    name,
    server,
    target,
    stores: target,
    async run(connections, seconds, perSecond = Number.POSITIVE_INFINITY) {
      await receiver?.figures();
      const startedAt = performance.now();
      const paid = await driveFlows(target.url, begin, { connections, perSecond, seconds });
      if (receiver === null) return paid;
      await receiver.untilReceived(paid.requests * eventsOfPayment);
      const elapsedSeconds = (performance.now() - startedAt) / 1_000;
      const { received, p50Ms, p99Ms } = await receiver.figures();
      return {
        ...paid,
        requestsPerSecond: paid.requests / elapsedSeconds,
        figures: {
          'answered/s': paid.requestsPerSecond,
          'deliveries/s': received / elapsedSeconds,
          'lag p50 ms': p50Ms,
          'lag p99 ms': p99Ms,
        },
      };
    },
  };
}

async function createEndpoint({ url }: Target, key: string, address: string): Promise<void> {
  const body = JSON.stringify({ url: address, enabled_events: ['*'] });
  const sent = { method: 'POST', headers: headersOf(key), body };
  const response = await fetch(`${url}/v1/webhook_endpoints`, sent);
  if (!response.ok) throw new Error(`an endpoint was refused: ${await response.text()}`);
}
