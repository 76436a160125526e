// What is asked of the servers: the same requests of all of them, as far as they know them. The bare server answers as
// many bytes as the service would.

import type { Request } from 'autocannon';
import type { Load, Template } from './load.ts';
import type { Target } from './targets.ts';
import { counted, cycled } from './varying.ts';

export type Server = 'service' | 'bare' | 'postgres';

export interface Scenario {
  readonly name: string;
  readonly server: Server;
  readonly target: Target;
  readonly load: Load;
}

const seededCount = 1_000;
const path = '/v1/payment_intents';
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

/** Creates some intents one after the other, to be read and replayed. */
async function seed(url: string, key: string): Promise<Seed> {
  const varying = counted('seed');
  const [keys, ids]: [string[], string[]] = [[], []];
  let answerBytes = 0;
  while (keys.length < seededCount) {
    const idempotencyKey = varying.next();
    const headers = { ...headersOf(key), 'Idempotency-Key': idempotencyKey };
    const response = await fetch(url + path, { method: 'POST', headers, body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`an intent was refused: ${text}`);
    answerBytes = text.length;
    keys.push(idempotencyKey);
    ids.push(JSON.parse(text).id);
  }
  const list = await fetch(url + path, { headers: headersOf(key) });
  return { keys, ids, answerBytes, listBytes: (await list.text()).length };
}

/** The requests that a merchant sends, by name. */
function templatesOf(key: string, { keys, ids }: Seed): Readonly<Record<string, Template>> {
  const headers = headersOf(key);
  const post = (varying: Template['varying']): Template => {
    const request: Request = {
      method: 'POST',
      path,
      headers: { ...headers, 'Idempotency-Key': varying!.first },
      body,
    };
    return { request, varying };
  };
  return {
    create: post(counted('load')),
    replay: post(cycled(keys)),
    retrieve: { request: { method: 'GET', path: `${path}/${ids[0]!}`, headers }, varying: cycled(ids) },
    list: { request: { method: 'GET', path, headers }, varying: null },
  };
}

/** A merchant's mix: of ten requests four creates, four retrieves, a list and a replay. */
function mixOf({ create, replay, retrieve, list }: Readonly<Record<string, Template>>): readonly Template[] {
  return [create!, retrieve!, retrieve!, create!, list!, create!, retrieve!, replay!, retrieve!, create!];
}

export interface Servers {
  readonly service: Target & { readonly key: string };
  readonly bare: Target;
  /** Null where PostgreSQL is not installed. */
  readonly postgres: (Target & { readonly key: string }) | null;
}

/** The scenarios that are to be measured in turn. */
export async function scenariosOf({ service, bare, postgres }: Servers): Promise<Scenario[]> {
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
    scenario('mix', 'service', service, ...mixOf(templates)),
  ];
  if (postgres === null) return scenarios;
  const theirs = templatesOf(postgres.key, await seed(postgres.url, postgres.key));
  return [
    ...scenarios,
    ...Object.entries(theirs).map(([name, template]) => scenario(name, 'postgres', postgres, template)),
  ];
}
