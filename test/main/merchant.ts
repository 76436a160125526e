// A merchant for tests that end the service at bad moments. It creates, confirms and cancels payments with idempotency keys,
// reads, retries, and remembers everything that was acknowledged. What was not acknowledged may have happened or not, so
// `settle` sends it again with its key until it is answered. `check` finds what the service has lost, doubled or left half
// done.

import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';

/** Small enough for checkpoints, new segments and what goes wrong to meet all the time. */
export const crampedEnv = {
  PAYMENTS_SHARDS: '2',
  PAYMENTS_BASE_URL: 'https://pay.example',
  PAYMENTS_MEMORY_SHARD_MIB: '64',
  PAYMENTS_JOURNAL_SEGMENT_BYTES_MAX: String(1024 * 1024),
  PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '50',
};

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
  readonly retryAfter: string | null;
}

/** One request with its key, and its answer once there was one. */
interface Write {
  readonly key: string;
  readonly path: string;
  readonly body: object;
  answer: Answer | null;
}

interface Payment {
  readonly created: Write;
  /** Every write about it, acknowledged or not, oldest first. */
  readonly writes: Write[];
  /** What reading it must show: the body of the last answer that changed it. */
  shown: string | null;
}

/** What went wrong; each line names a key or an id. */
interface Findings {
  readonly lost: string[];
  readonly doubled: string[];
  readonly half: string[];
}

/** Says to try again, as far as the merchant can tell: nothing is known about the request. */
function isUnsure({ status, text }: Answer): boolean {
  return status >= 500 || status === 429 || text.includes('"code":"idempotency_in_progress"');
}

/**
 * Each connection rests between two things, as a shop's do. A test needs what its merchants do until something happens, and
 * all that they have done is checked at its end: as fast as they can, they would make most of its time.
 */
const restMs = 40;
/** For tests of one moment, at which as much as possible is to be under way. */
export const hurriedRestMs = 10;
/** For tests of what lasts, and meets every connection however long that rests. */
export const calmRestMs = 200;
/** It rests longer before it tries again what the service could not answer. */
const unsureRestMs = 100;

/** What came of one thing that a merchant did. */
type Outcome = 'sure' | 'unsure' | 'not answered';

function outcomeOf(...answers: readonly (Answer | null)[]): Outcome {
  const came = answers.filter((answer) => answer !== null);
  if (came.length < answers.length) return 'not answered';
  return came.some(isUnsure) ? 'unsure' : 'sure';
}

/** Longer than any request may stay unsure on a service that runs. */
const settleMsMax = 20_000;

/** A connection that nobody uses is closed before the service does it. */
const agent = new Agent({ keepAlive: true, timeout: 4_000 });

/** Sends a request. By `fetch` it takes this process three times as long, which is most of what a merchant takes. */
async function exchange(
  address: string,
  options: RequestOptions,
  body: string | undefined,
): Promise<[IncomingMessage, string]> {
  const sent = request(address, { ...options, agent }).end(body);
  // Whoever waits hears of it, and after the answer has begun nobody waits for it here.
  sent.on('error', () => {});
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(answer, 'end');
  return [answer, text];
}

function pick<T>(from: readonly T[]): T | undefined {
  return from[Math.floor(Math.random() * from.length)];
}

export class Merchant {
  readonly #key: string;
  readonly #name: string;
  readonly #payments: Payment[] = [];
  /** Payments that nobody works on and of which nothing is unsure. */
  readonly #idle: Payment[] = [];
  readonly #unsure = new Set<Payment>();
  readonly #requestIds = new Set<string>();
  #checked = 0;
  #keys = 0;
  /** Where it works now: at the first of these that answers. */
  #urls: readonly string[] | null = null;
  #working: Promise<unknown> = Promise.resolve();
  /** How long each connection rests after what was answered; it may be changed while they work. */
  restMs = restMs;
  readonly findings: Findings = { lost: [], doubled: [], half: [] };
  /** Writes that were answered for good. */
  acknowledged = 0;
  /** Statuses and codes of the answers so far. */
  readonly answers = new Map<string, number>();

  /** Works until the test ends at the latest, however it ends. */
  constructor(test: TestContext, name: string, key: string) {
    this.#name = name;
    this.#key = key;
    test.after(() => this.pause());
  }

  /**
   * Works on `connections` connections until `pause`, or until the service is gone. Of one with several addresses it asks the
   * next where it was not answered, and goes on.
   */
  work(at: string | readonly string[], connections: number, rest = restMs): void {
    const urls = typeof at === 'string' ? [at] : at;
    this.#urls = urls;
    this.restMs = rest;
    const worker = async () => {
      for (let turn = 0; this.#urls === urls; ) {
        const outcome = await this.#step(urls[turn % urls.length]!);
        if (outcome === 'not answered' && urls.length === 1) return;
        if (outcome === 'not answered') turn++;
        await wait(outcome === 'sure' ? this.restMs : unsureRestMs);
      }
    };
    this.#working = Promise.all(Array.from({ length: connections }, worker));
  }

  /** Sends nothing more; settles when everything that was sent is answered, or never will be. */
  async pause(): Promise<void> {
    this.#urls = null;
    await this.#working;
  }

  /** Does one thing. */
  async #step(url: string): Promise<Outcome> {
    const dice = Math.random();
    if (dice < 0.2)
      return this.#replay(
        url,
        pick(this.#payments)?.writes.find(({ answer }) => answer !== null),
      );
    const at = Math.floor(Math.random() * this.#idle.length);
    if (dice < 0.6 || this.#idle.length === 0) return this.#create(url);
    const [payment] = this.#idle.splice(at, 1) as [Payment];
    if (dice < 0.7) return this.#read(url, payment);
    return this.#write(url, payment, this.#newWrite(payment, dice < 0.85 ? 'confirm' : 'cancel'));
  }

  #newWrite(payment: Payment, action: 'confirm' | 'cancel'): Write {
    const { id } = JSON.parse(payment.created.answer!.text);
    const body = action === 'confirm' ? { return_url: 'https://shop.example/back' } : {};
    return { key: this.#newKey(), path: `/v1/payment_intents/${id}/${action}`, body, answer: null };
  }

  #newKey(): string {
    return `${this.#name}-${++this.#keys}`;
  }

  #create(url: string): Promise<Outcome> {
    const key = this.#newKey();
    // A few are refused on the merits: that is an answer to keep, too.
    const amount = this.#keys % 20 === 0 ? 1 : 10_000 + this.#keys;
    const body = { amount, currency: 'mad', metadata: { key } };
    const created: Write = { key, path: '/v1/payment_intents', body, answer: null };
    const payment: Payment = { created, writes: [], shown: null };
    this.#payments.push(payment);
    return this.#write(url, payment, created);
  }

  /** Sends a write; now and then twice at once, as a client does that lost patience. */
  async #write(url: string, payment: Payment, write: Write): Promise<Outcome> {
    payment.writes.push(write);
    this.#unsure.add(payment);
    const sends = Math.random() < 0.1 ? 2 : 1;
    const answers = await Promise.all(Array.from({ length: sends }, () => this.#send(url, write)));
    const certain = answers.filter((answer) => answer !== null && !isUnsure(answer)) as Answer[];
    for (const answer of certain) this.#acknowledge(payment, write, answer);
    if (certain.length > 0) this.#release(payment);
    return outcomeOf(...answers);
  }

  #acknowledge(payment: Payment, write: Write, answer: Answer): void {
    if (write.answer === null) {
      write.answer = answer;
      this.acknowledged++;
      if (answer.status === 200) payment.shown = answer.text;
    } else if (write.answer.text !== answer.text || write.answer.status !== answer.status) {
      this.findings.doubled.push(`${write.key} was answered twice, differently`);
    }
  }

  #release(payment: Payment): void {
    this.#unsure.delete(payment);
    if (payment.shown !== null) this.#idle.push(payment);
  }

  async #replay(url: string, write: Write | undefined): Promise<Outcome> {
    if (write === undefined) return 'sure';
    const answer = await this.#send(url, write);
    if (answer === null) return 'not answered';
    const kept = write.answer!;
    const same = answer.status === kept.status && answer.text === kept.text && answer.replayed;
    if (!same && !isUnsure(answer))
      this.findings.lost.push(`${write.key}: its answer is not kept: ${answer.text}`);
    return outcomeOf(answer);
  }

  async #read(url: string, payment: Payment): Promise<Outcome> {
    const { id } = JSON.parse(payment.shown!);
    const answer = await this.#request(url, 'GET', `/v1/payment_intents/${id}`);
    this.#idle.push(payment);
    if (answer === null) return 'not answered';
    if (answer.text !== payment.shown && !isUnsure(answer)) this.findings.lost.push(`${id}: ${answer.text}`);
    return outcomeOf(answer);
  }

  #send(url: string, { key, path, body }: Write): Promise<Answer | null> {
    return this.#request(url, 'POST', path, key, JSON.stringify(body));
  }

  /** Null when no answer came. */
  async #request(
    url: string,
    method: 'GET' | 'POST',
    path: string,
    key?: string,
    body?: string,
  ): Promise<Answer | null> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#key}`,
      'content-type': 'application/json',
    };
    if (key !== undefined) headers['idempotency-key'] = key;
    try {
      const [{ statusCode = 0, headers: told }, text] = await exchange(url + path, { method, headers }, body);
      const answer: Answer = {
        status: statusCode,
        text,
        replayed: told['idempotent-replayed'] === 'true',
        retryAfter: told['retry-after'] ?? null,
      };
      this.#note(answer, String(told['request-id']));
      return answer;
    } catch {
      return null;
    }
  }

  #note({ status, text, retryAfter }: Answer, requestId: string): void {
    if (this.#requestIds.has(requestId)) this.findings.doubled.push(`request id ${requestId}`);
    this.#requestIds.add(requestId);
    const code = status === 200 ? '' : ` ${/"code":"(\w+)"/.exec(text)?.[1]}`;
    const again = status === 503 && retryAfter === null ? ' without Retry-After' : '';
    const name = `${status}${code}${again}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
  }

  /** Sends everything that is unsure again, with its key, until it is answered. */
  async settle(url: string): Promise<void> {
    const deadline = performance.now() + settleMsMax;
    const settleOne = async (payment: Payment) => {
      const write = payment.writes.at(-1)!;
      for (;;) {
        const answer = await this.#send(url, write);
        if (answer !== null && !isUnsure(answer)) {
          this.#acknowledge(payment, write, answer);
          this.#release(payment);
          return;
        }
        const said = answer === null ? 'no answer' : answer.text;
        if (performance.now() > deadline) throw new Error(`${write.key} is never answered: ${said}`);
        await wait(20);
      }
    };
    await Promise.all([...this.#unsure].map(settleOne));
  }

  /** Reads and replays what was acknowledged since the last check and some of what was before; all of it with `everything`. */
  async check(url: string, everything: boolean): Promise<void> {
    const older = Array.from({ length: 30 }, () => pick(this.#payments)!);
    const chosen = everything ? this.#payments : [...this.#payments.slice(this.#checked), ...older];
    this.#checked = this.#payments.length;
    const rest = chosen.filter((payment) => payment !== undefined && !this.#unsure.has(payment));
    const checkSome = async () => {
      for (let payment = rest.pop(); payment !== undefined; payment = rest.pop()) {
        for (const write of payment.writes) await this.#replay(url, write);
        if (payment.shown !== null) await this.#checkRead(url, payment.shown);
      }
    };
    await Promise.all(Array.from({ length: 8 }, checkSome));
  }

  async #checkRead(url: string, shown: string): Promise<void> {
    const { id } = JSON.parse(shown);
    const answer = await this.#request(url, 'GET', `/v1/payment_intents/${id}`);
    if (answer?.text !== shown) this.findings.lost.push(`${id}: ${answer?.text}`);
  }

  /** Compares the lists of intents, events and charges with what is known. Nothing may be unsure. */
  async checkLists(url: string): Promise<void> {
    const [intents, events, charges] = [
      await this.#list(url, '/v1/payment_intents'),
      await this.#list(url, '/v1/events'),
      await this.#list(url, '/v1/charges'),
    ];
    const { lost, doubled, half } = this.findings;
    const known = new Map<string, string>();
    for (const { created, shown } of this.#payments) if (shown !== null) known.set(created.key, shown);
    const seen = new Set<string>();
    for (const intent of intents) {
      const { key } = intent.metadata;
      if (seen.has(key)) doubled.push(`${key} has several intents`);
      seen.add(key);
      if (JSON.stringify(intent) !== known.get(key))
        half.push(`${key} is listed as ${JSON.stringify(intent)}`);
    }
    for (const key of known.keys()) if (!seen.has(key)) lost.push(`${key} is not listed`);
    checkEvents(intents, events, half);
    checkCharges(intents, charges, half);
  }

  // biome-ignore lint/suspicious/noExplicitAny: objects of the API.
  async #list(url: string, path: string): Promise<any[]> {
    const objects = [];
    for (let after = ''; ; after = `&starting_after=${objects.at(-1).id}`) {
      const answer = await this.#request(url, 'GET', `${path}?limit=100${after}`);
      const page = JSON.parse(answer!.text);
      objects.push(...page.data);
      if (!page.has_more) break;
    }
    const ids = new Set(objects.map(({ id }) => id));
    if (ids.size !== objects.length) this.findings.doubled.push(`${path} lists an id twice`);
    return objects;
  }
}

/** Each intent has exactly the events that its state calls for, and no event is about nothing. */
// biome-ignore lint/suspicious/noExplicitAny: objects of the API.
function checkEvents(intents: any[], events: any[], half: string[]): void {
  const byObject = new Map<string, string[]>();
  for (const { type, data, request } of events) {
    if (!type.startsWith('payment_intent.')) continue;
    const types = byObject.get(data.object.id) ?? [];
    byObject.set(data.object.id, [...types, type.slice('payment_intent.'.length)]);
    if (type === 'payment_intent.created' && request.idempotency_key !== data.object.metadata.key) {
      half.push(`the event of ${data.object.id} names the key ${request.idempotency_key}`);
    }
  }
  for (const { id, status, latest_charge } of intents) {
    const expected = ['created'];
    if (latest_charge !== null) expected.push('requires_action');
    if (status === 'canceled') expected.push('canceled');
    const found = (byObject.get(id) ?? []).reverse();
    if (found.join() !== expected.join()) half.push(`${id} is ${status} and has the events ${found.join()}`);
    byObject.delete(id);
  }
  for (const id of byObject.keys()) half.push(`there are events of ${id}, which does not exist`);
}

/** Each charge belongs to the intent that names it, and is pending exactly while that waits for it. */
// biome-ignore lint/suspicious/noExplicitAny: objects of the API.
function checkCharges(intents: any[], charges: any[], half: string[]): void {
  const byId = new Map(charges.map((charge) => [charge.id, charge]));
  for (const { id, status, latest_charge } of intents) {
    if (latest_charge === null) continue;
    const charge = byId.get(latest_charge);
    const expected = status === 'requires_action' ? 'pending' : 'failed';
    if (charge?.payment_intent !== id || charge.status !== expected) {
      half.push(`${id} is ${status}, its charge is ${JSON.stringify(charge)}`);
    }
    byId.delete(latest_charge);
  }
  for (const id of byId.keys()) half.push(`charge ${id} is no intent's latest`);
}
