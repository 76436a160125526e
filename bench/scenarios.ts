// What is asked of the servers: the same requests of all of them, as far as they know them. The bare server answers as
// many bytes as the service would. Creates come twice: by a merchant without webhooks, and by one that has an endpoint,
// whose deliveries belong to the measurement until the last one is made.

import { setTimeout as wait } from 'node:timers/promises';
import type { Load, Template } from './load.ts';
import type { Receiver } from './receiver.ts';
import { type ServiceTarget, type Target, unlimitedKey } from './targets.ts';
import { counted, cycled, type Varying } from './varying.ts';

export type Server = 'service' | 'bare' | 'postgres';

export interface Scenario {
  readonly name: string;
  readonly server: Server;
  readonly target: Target;
  readonly load: Load;
  /** Waits for the work that the requests have left behind. */
  settled?(): Promise<void>;
}

const seededCount = 1_000;
const seededAtOnce = 50;
const settledMs = 250;
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

/** The requests that a merchant sends, by name. */
function templatesOf(key: string, { keys, ids }: Seed): Readonly<Record<string, Template>> {
  return {
    create: creation(key, counted('load')),
    replay: creation(key, cycled(keys)),
    retrieve: reading(key, `${intentsPath}/${ids[0]!}`, cycled(ids)),
    list: reading(key, intentsPath),
  };
}

/** A merchant's mix: of ten requests four creates, four retrieves, a list and a replay. */
function mixOf({ create, replay, retrieve, list }: Readonly<Record<string, Template>>): readonly Template[] {
  return [create!, retrieve!, retrieve!, create!, list!, create!, retrieve!, replay!, retrieve!, create!];
}

/** Creates by a merchant that hears of each over a webhook. */
async function withWebhooks(service: ServiceTarget, receiver: Receiver): Promise<Scenario> {
  const key = await unlimitedKey(service.dataDir);
  const endpoint = { url: `${receiver.origin}/created`, enabled_events: ['payment_intent.created'] };
  const sent = { method: 'POST', headers: headersOf(key), body: JSON.stringify(endpoint) };
  const response = await fetch(`${service.url}/v1/webhook_endpoints`, sent);
  if (!response.ok) throw new Error(`an endpoint was refused: ${await response.text()}`);
  return {
    name: 'create with webhooks',
    server: 'service',
    target: service,
    load: { url: service.url, requests: [creation(key, counted('load'))] },
    async settled() {
      while ((await service.metric('payments_webhook_deliveries_waiting')) > 0) await wait(settledMs);
    },
  };
}

export interface Servers {
  readonly service: ServiceTarget;
  readonly receiver: Receiver;
  readonly bare: Target;
  /** Null where PostgreSQL is not installed. */
  readonly postgres: (Target & { readonly key: string }) | null;
}

/** The scenarios that are to be measured in turn. */
export async function scenariosOf({ service, receiver, bare, postgres }: Servers): Promise<Scenario[]> {
  const seeded = await seed(service.url, service.key);
  const templates = templatesOf(service.key, seeded);
  const scenario = (name: string, server: Server, target: Target, ...requests: readonly Template[]) => ({
    name,
    server,
    target,
    load: { url: target.url, requests },
  });
  const bareOf = (name: string, bytes: number) => {
    const { request } = templates[name]!;
    const headers = { ...request.headers, ...(request.method === 'POST' && { 'Idempotency-Key': 'bare' }) };
    return scenario(name, 'bare', bare, {
      request: { ...request, path: `/${bytes}`, headers },
      varying: null,
    });
  };
  const scenarios = [
    bareOf('create', seeded.answerBytes),
    bareOf('retrieve', seeded.answerBytes),
    bareOf('list', seeded.listBytes),
    ...Object.entries(templates).map(([name, template]) => scenario(name, 'service', service, template)),
    await withWebhooks(service, receiver),
    scenario('mix', 'service', service, ...mixOf(templates)),
  ];
  if (postgres === null) return scenarios;
  const theirs = templatesOf(postgres.key, await seed(postgres.url, postgres.key));
  return [
    ...scenarios,
    ...Object.entries(theirs).map(([name, template]) => scenario(name, 'postgres', postgres, template)),
    scenario(
      'create with limits in memory',
      'postgres',
      postgres,
      creation(postgres.key, counted('memory'), '/limits_in_memory'),
    ),
  ];
}
