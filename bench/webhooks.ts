// `node bench/webhooks.ts`: how long after its cause an event arrives, over plain HTTP and HTTPS, alone and while 2,000
// payment intents are created a second; what a receiver that never answers, with many deliveries waiting, costs 20 others; and
// what receivers that answer every attempt with 500 and 16 KiB cost the disk and another organization. Service, receiver and
// load share the machine.

import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Option } from 'commander';
import { callOperator } from '../src/operator/socket/operator-client.ts';
import { bench, positive } from './options.ts';
import { deliveringLocally, Receiver } from './receiver.ts';
import { type ServiceTarget, startService, unlimitedKey } from './targets.ts';
import { timeNow } from './time.ts';

interface Options {
  readonly seconds: number;
  readonly waiting: number;
  readonly only?: (typeof parts)[number];
}

const parts = ['latency', 'tar-pit', 'failing'] as const;
const { seconds, waiting, only } = bench(
  'bench:webhooks',
  'the latency of deliveries, and receivers that never answer or always fail',
)
  .option('--seconds <n>', 'length of a measurement of latency', positive, 5)
  .option('--waiting <n>', 'deliveries that wait for the tar pit', positive, 100_000)
  .addOption(new Option('--only <part>', 'one part of the bench').choices(parts))
  .parse()
  .opts<Options>();

const endpointsPerOrganization = 16;
const answerMs = 3;
const connections = 100;
/** Events to endpoints that fail: two attempts to 16 endpoints each are 6,976. */
const failingIntents = 218;

/** Sends requests over kept connections. */
class Caller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connections });
  readonly service: ServiceTarget;
  #number = 0;

  constructor(service: ServiceTarget) {
    this.service = service;
  }

  async post(key: string, path: string, body: object): Promise<void> {
    await this.#send('POST', key, path, JSON.stringify(body));
  }

  async newestEndpoint(key: string): Promise<string> {
    return (await this.endpoints(key))[0]!;
  }

  /** Newest first. */
  async endpoints(key: string): Promise<string[]> {
    const { data } = JSON.parse(await this.#send('GET', key, '/v1/webhook_endpoints?limit=100', ''));
    return data.map(({ id }: { id: string }) => id);
  }

  async #send(method: string, key: string, path: string, text: string): Promise<string> {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': text.length,
      'Idempotency-Key': `${++this.#number}-${timeNow()}`,
    };
    const sent = request(this.service.url + path, { method, agent: this.#agent, headers });
    sent.end(text);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let answer = '';
    for await (const chunk of response) answer += chunk;
    if (response.statusCode !== 200) throw new Error(`${path}: ${answer}`);
    return answer;
  }

  intent(key: string): Promise<void> {
    return this.post(key, '/v1/payment_intents', { amount: 12_000, currency: 'mad' });
  }

  endpoint(key: string, url: string): Promise<void> {
    return this.post(key, '/v1/webhook_endpoints', { url, enabled_events: ['payment_intent.created'] });
  }

  /** An organization with this many endpoints; its key. */
  async organization(receiver: Receiver, name: string, endpoints: number): Promise<string> {
    const key = await unlimitedKey(this.service.dataDir);
    for (let i = 0; i < endpoints; i++) await this.endpoint(key, `${receiver.origin}/${name}-${i}`);
    return key;
  }

  async organizations(receiver: Receiver, endpoints: number): Promise<string[]> {
    const keys: string[] = [];
    for (let left = endpoints; left > 0; left -= endpointsPerOrganization) {
      keys.push(await this.organization(receiver, `o${left}`, Math.min(left, endpointsPerOrganization)));
    }
    return keys;
  }

  /** Creates intents as fast as they are answered. */
  async burst(keys: readonly string[], count: number): Promise<void> {
    let next = 0;
    const one = async () => {
      while (next < count) await this.intent(keys[next++ % keys.length]!);
    };
    await Promise.all(Array.from({ length: connections }, one));
  }

  /** Creates `perSecond` intents a second, whatever their answers take; returns how many a second were answered. */
  async pace(keys: readonly string[], perSecond: number, seconds: number): Promise<number> {
    const startedAt = performance.now();
    const sent: Promise<void>[] = [];
    for (let i = 0; i < perSecond * seconds; ) {
      const due = ((performance.now() - startedAt) / 1000) * perSecond;
      while (i < due && i < perSecond * seconds) sent.push(this.intent(keys[i++ % keys.length]!));
      await wait(1);
    }
    await Promise.all(sent);
    return (sent.length * 1000) / (performance.now() - startedAt);
  }

  hangUp(): void {
    this.#agent.destroy();
  }

  async close(): Promise<void> {
    this.hangUp();
    await this.service.stop();
  }
}

const show = (what: string, figures: object) => {
  const rounded = Object.entries(figures).map(([name, value]) => `${name} ${Number(value).toFixed(1)}`);
  console.log(`${what.padEnd(52)} ${rounded.join('  ')}`);
};

async function latency(kind: string, receiver: Receiver): Promise<void> {
  const caller = new Caller(await startService(deliveringLocally));
  const keys = await caller.organizations(receiver, 64);
  const busy = await unlimitedKey(caller.service.dataDir);
  await wait(1_500);
  await caller.pace(keys, 20, 2);
  await wait(500);
  await receiver.figures();
  await caller.pace(keys, 30, seconds);
  await wait(500);
  const alone = await receiver.figures();
  const [, intents] = await Promise.all([
    caller.pace(keys, 30, seconds),
    caller.pace([busy], 2_000, seconds),
  ]);
  await wait(500);
  const loaded = await receiver.figures();
  show(`${kind}: event to delivered, 480/s, alone`, alone);
  show(`${kind}: event to delivered, 480/s, 2,000 intents/s`, { ...loaded, 'intents/s answered': intents! });
  await caller.close();
}

/** Rounds with the tar pit at work and at rest (its endpoint disabled) take turns on the same service. */
async function tarPit(receiver: Receiver): Promise<void> {
  const caller = new Caller(await startService(deliveringLocally));
  const healthy = await caller.organizations(receiver, 20);
  const stuck = await caller.organization(receiver, 'tar', 1);
  const pit = await caller.newestEndpoint(stuck);
  await caller.burst([stuck], waiting);
  const p99s: Record<string, number[]> = { 'at rest': [], 'at work': [] };
  for (let round = 0; round < 10; round++) {
    const state = round % 2 === 0 ? 'at rest' : 'at work';
    await caller.post(stuck, `/v1/webhook_endpoints/${pit}`, { disabled: state === 'at rest' });
    // The last attempts of the round before time out.
    await wait(11_000);
    await receiver.figures();
    await caller.pace(healthy, 40, seconds);
    await wait(500);
    p99s[state]!.push((await receiver.figures()).p99Ms);
  }
  for (const [state, list] of Object.entries(p99s)) {
    const what = `20 healthy endpoints, a tar pit with ${waiting} waiting ${state}`;
    show(what, { 'p99Ms, median of 5': list.sort((x, y) => x - y)[2]!, best: list[0]!, worst: list[4]! });
  }
  await caller.close();
}

/** Waits until nothing fails any more; settles with how many did. */
async function untilQuiet(receiver: Receiver, quietMs: number): Promise<number> {
  let failed = 0;
  for (let quietAt = performance.now() + quietMs; performance.now() < quietAt; ) {
    await wait(100);
    const figures = await receiver.figures();
    failed += figures.failed;
    if (figures.failed > 0) quietAt = performance.now() + quietMs;
  }
  return failed;
}

/**
 * An organization has 16 endpoints that fail. Each delivery is attempted twice; then all that failed are sent again, three
 * times. Another organization has 20 events a second before that and meanwhile.
 */
async function failing(receiver: Receiver): Promise<void> {
  const caller = new Caller(
    await startService({ ...deliveringLocally, PAYMENTS_WEBHOOKS_RETRY_SECONDS: '1' }),
  );
  const { service } = caller;
  // It has connections of its own, so that its requests don't wait for those of the attacker.
  const honest = new Caller(service);
  const other = await honest.organization(receiver, 'other', 1);
  const attacker = await caller.organization(receiver, 'fails', endpointsPerOrganization);
  await wait(1_500);
  await honest.pace([other], 20, 10);
  show('another organization, 20 events/s, alone', await receiver.figures());
  const [emptyBytes, startedAt, cpu] = [await service.bytes(), performance.now(), service.cpuSeconds() ?? 0];
  const beside = honest.pace([other], 20, 10);
  await caller.burst([attacker], failingIntents);
  const burstSeconds = (performance.now() - startedAt) / 1000;
  await beside;
  const { p50Ms, p99Ms, failed: first } = await receiver.figures();
  show('another organization, 20 events/s, meanwhile', { p50Ms, p99Ms });
  const failed = first + (await untilQuiet(receiver, 3_000));
  const bytes = (await service.bytes()) - emptyBytes;
  show(`${failingIntents} events to 16 endpoints that answer 500 with 16 KiB`, {
    attempts: failed,
    MB: bytes / 1e6,
    'bytes an attempt': bytes / failed,
    'CPU µs an attempt': (((service.cpuSeconds() ?? 0) - cpu) / failed) * 1e6,
    seconds: (performance.now() - startedAt) / 1000,
    'of these creating': burstSeconds,
  });
  for (let press = 1; press <= 3; press++) {
    const before = await service.bytes();
    let refused = 0;
    for (const endpoint of await caller.endpoints(attacker))
      await callOperator(service.dataDir, 'webhooks.resend-failed', { endpoint }).catch(() => refused++);
    const again = await untilQuiet(receiver, 3_000);
    const grown = ((await service.bytes()) - before) / 1e6;
    show(`all that failed sent again, press ${press}`, { attempts: again, MB: grown, refused });
  }
  honest.hangUp();
  await caller.close();
}

const plain = await Receiver.start('http', answerMs);
const secure = await Receiver.start('https', answerMs);
const wanted = (name: (typeof parts)[number]) => only === undefined || only === name;
if (wanted('latency')) {
  await latency('plain', plain);
  await latency('HTTPS', secure);
}
if (wanted('tar-pit')) await tarPit(plain);
if (wanted('failing')) await failing(plain);
plain.stop();
secure.stop();
