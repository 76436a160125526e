// Merchants' servers that call the API over a network that loses messages. They retry blindly: with no answer, or one that
// says to try again, the same request goes out again with the same idempotency key, until it is answered. What they are
// answered they hold the service to.

import type { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import { type Answer, type Request, reading } from './edge.ts';
import type { Resource } from './facts.ts';
import type { Limits } from './limits.ts';
import type { Entrance } from './service.ts';
import type { World } from './world.ts';

/** An organization in one mode, and the key that its server uses. */
export interface Shop {
  readonly org: string;
  readonly livemode: boolean;
  readonly apiKey: string;
}

/** An answer, and when the request was sent that it answers. */
type Answered = Answer & { readonly sentMs: number };

export interface Link {
  readonly id: string;
  readonly shop: Shop;
  readonly isForOne: boolean;
  /** Many may pay it, it has no end, and nobody has asked to pause or remove it. */
  staysOpen: boolean;
}

/** A request with an idempotency key, and its answer once there is one. */
export interface Keyed {
  readonly shop: Shop;
  /** The text by which what it makes is known. Idempotency keys are the same in every shop. */
  readonly tag: string;
  readonly request: Request;
  readonly beganMs: number;
  readonly operation: string;
  /** Whether it makes an object that carries its key as metadata. */
  readonly isCreation: boolean;
  /** The centimes that arrive when it is done. */
  readonly arrives: number;
  answered: { readonly status: number; readonly text: string; readonly original: string } | null;
}

/** Within which keys were used for the first time. */
export interface Time {
  readonly fromMs: number;
  /** No longer within it. */
  readonly toMs: number;
}

const patienceMs = 6_000;
/** So often is a request retried after everything was healed. */
const healedTriesMax = 80;

export class Clients {
  readonly #world: World;
  readonly #lane: Lane;
  readonly #random: Random;
  readonly #service: () => Entrance | null;
  readonly keyed: Keyed[] = [];
  /** Requests that have no final answer yet. */
  outstanding = 0;
  /** The payment links that were made. */
  readonly links: Link[] = [];
  /** The limits that are watched, by the API key of their shop. */
  readonly limits = new Map<string, Limits>();

  constructor(world: World, service: () => Entrance | null) {
    this.#world = world;
    this.#lane = world.simulation.lane('clients');
    this.#random = world.simulation.random('clients');
    this.#service = service;
  }

  /** Runs a program of a client in the clients' lane. */
  run(program: () => Promise<void>): void {
    this.outstanding++;
    this.#world.simulation.soon(this.#lane, () => {
      void program().finally(() => {
        this.outstanding--;
      });
    });
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.simulation.after(this.#lane, ms, resolve));
  }

  get #isLost(): boolean {
    return !this.#world.isHealed && this.#random.chance(this.#world.settings.lossRate);
  }

  /** Sends a request once, perhaps with another key of the shop that has `shopKey`; null when no answer comes. */
  async send(request: Request, shopKey = request.apiKey): Promise<Answer | null> {
    const { simulation } = this.#world;
    await this.wait(this.#random.skewed(0.1, 20));
    const service = this.#service();
    if (service === null || this.#isLost) {
      await this.wait(service === null ? 50 : patienceMs);
      return null;
    }
    const spend = request.member === undefined ? this.limits.get(shopKey)?.sent(request.path) : undefined;
    return new Promise((resolve) => {
      const cancel = simulation.after(this.#lane, patienceMs, () => resolve(null));
      service.request(request, (answer) => {
        if (answer !== null) spend?.(answer.status);
        if (this.#isLost) return;
        simulation.after(this.#lane, this.#random.skewed(0.1, 20), () => {
          cancel();
          resolve(answer);
        });
      });
    });
  }

  /** Sends a request at once, for somebody who goes after a while and does not ask again. */
  impatient(shop: Shop, request: Request, patienceMs: number): Promise<void> {
    const { simulation } = this.#world;
    const service = this.#service();
    if (service === null) return Promise.resolve();
    const sentMs = simulation.nowMs;
    return new Promise((resolve) => {
      let isGone = false;
      const cancel = simulation.after(this.#lane, patienceMs, () => {
        isGone = true;
        service.giveUp(call);
        resolve();
      });
      const call = service.request(request, (answer) => {
        simulation.after(this.#lane, this.#random.skewed(0.1, 20), () => {
          if (isGone) return;
          cancel();
          if (answer !== null && !saysAgain(answer)) this.#observe(shop, answer, sentMs);
          resolve();
        });
      });
    });
  }

  /** Sends a request until it is answered for good; null when the run is over, or damage forbids an answer. */
  async insist(shop: Shop, request: Request): Promise<Answered | null> {
    let healedTries = 0;
    for (let tries = 0; this.#world.judge.finding === null; tries++) {
      const sentMs = this.#world.simulation.nowMs;
      const answer = await this.send(request);
      if (answer !== null && !saysAgain(answer)) {
        this.#observe(shop, answer, sentMs);
        return { ...answer, sentMs };
      }
      // Nobody waits until midnight.
      if (answer?.text.includes('test_daily_cap_reached')) return null;
      if (this.#world.isDamaged && tries > 4) return null;
      if (this.#world.isHealed) {
        this.#world.judge.check(
          'whatever was asked is answered in the end',
          ++healedTries < healedTriesMax,
          () => `${request.method} ${request.path} is still answered ${answer?.status} ${answer?.text}`,
        );
      }
      const waitMs = Math.min(3_000, 40 * 1.6 ** tries) * (0.5 + this.#random.unit());
      await this.wait(Math.max(waitMs, (answer?.retryAfterSeconds ?? 0) * 1000));
    }
    return null;
  }

  /** Everything that an answer shows becomes a fact, or must agree with those there are. A replay shows what was once. */
  #observe(shop: Shop, { status, text, replayed }: Answer, sentMs: number): void {
    if (status !== 200) return;
    const body = JSON.parse(text) as Resource;
    const shown: Resource[] = body.object === 'list' ? body.data : [body];
    for (const resource of shown) {
      if (resource?.id === undefined || resource.object === 'account') continue;
      if (this.#world.isDamaged) this.#world.facts.observeDamaged(resource);
      else this.#world.facts.observe(resource, shop.org, shop.livemode, replayed ? 0 : sentMs);
    }
  }

  async get(shop: Shop, path: string, query = ''): Promise<Answer | null> {
    return this.insist(shop, reading(shop.apiKey, path, query));
  }

  async delete(shop: Shop, path: string): Promise<Answer | null> {
    return this.insist(shop, { apiKey: shop.apiKey, method: 'DELETE', path, query: '', key: null, body: '' });
  }

  /** Asks for a command with a key of its own. `params` with `metadata` of a creation get the key as `tag`. */
  async post(
    shop: Shop,
    path: string,
    params: { readonly metadata?: object; readonly [name: string]: unknown },
    options: { readonly isCreation?: boolean; readonly arrives?: number; readonly member?: string } = {},
  ): Promise<Answer | null> {
    const tag = `tag-${this.keyed.length}`;
    const key = `key-${this.keyed.filter((other) => other.shop === shop).length}`;
    const { isCreation = false, arrives = 0, member } = options;
    const body = JSON.stringify(isCreation ? { ...params, metadata: { ...params.metadata, tag } } : params);
    const keyed: Keyed = {
      shop,
      tag,
      request: { apiKey: shop.apiKey, method: 'POST', path, query: '', key, body, ...(member && { member }) },
      beganMs: this.#world.simulation.nowMs,
      operation: path,
      isCreation,
      arrives,
      answered: null,
    };
    this.keyed.push(keyed);
    this.#world.note(`client: ${tag} ${path} ${body}`);
    // Two servers of a merchant may both believe that it is theirs to send.
    if (this.#random.chance(0.08)) this.run(() => this.again(keyed).then(() => {}));
    return this.again(keyed);
  }

  /** Sends a request with a key, for the first time or once more. */
  async again(keyed: Keyed): Promise<Answer | null> {
    const before = keyed.answered;
    const answer = await this.insist(keyed.shop, keyed.request);
    if (answer === null) return null;
    this.#judgeAnswer(keyed, answer, before !== null);
    return answer;
  }

  /** Uses the key of an earlier request, which was answered, for another one: refused for a day, then free. */
  async reuse(keyed: Keyed, isFree: boolean): Promise<void> {
    const { judge, isDamaged } = this.#world;
    const other = keyed.isCreation ? withAnotherBody(keyed) : this.#atAnotherAddress(keyed);
    if (other === null) return;
    const answer = await this.insist(keyed.shop, other);
    if (answer === null || isDamaged) return;
    const { status, text, requestId } = answer;
    this.#world.note(`client: ${requestId} uses the key of ${keyed.tag} again: ${status}`);
    judge.check(
      'a key is bound to its request for a day',
      text.includes('idempotency_key_reused') !== isFree,
      () => `the key of ${keyed.tag} was used for another request, which is answered ${status} ${text}`,
    );
  }

  /** The same request for another object of the kind; null when there is none. */
  #atAnotherAddress({ shop, request }: Keyed): Request | null {
    const id = /^\/v1\/\w+\/(\w+)/.exec(request.path)?.[1] ?? '';
    const known = this.#world.facts.all.get(id);
    if (known === undefined) return null;
    const others = this.#world.facts
      .of(shop.org, shop.livemode, known.object)
      .filter((fact) => fact.id !== id);
    return others.length === 0
      ? null
      : { ...request, path: request.path.replace(id, this.#random.pick(others).id) };
  }

  /** Sends the request of a key that is free again: nothing is known of what it was answered. */
  async #anew(keyed: Keyed): Promise<void> {
    const { judge, isDamaged } = this.#world;
    const answer = await this.insist(keyed.shop, keyed.request);
    if (answer === null || isDamaged) return;
    const { status, text, requestId, replayed, originalRequest } = answer;
    this.#world.note(`client: ${requestId} sends ${keyed.tag} anew: ${status}`);
    judge.check(
      'a key is bound to its request for a day',
      // Sent twice because no answer came, it is a replay of the first one of these.
      !replayed || originalRequest !== keyed.answered!.original,
      () => `${keyed.tag} was sent after a day, and its answer is the old one: ${status} ${text}`,
    );
  }

  keysOf({ fromMs, toMs }: Time): Keyed[] {
    return this.keyed.filter(({ beganMs }) => beganMs >= fromMs && beganMs < toMs);
  }

  /** Uses some of the keys of a time: for another request, and for their own, too. A free one is bound to the first of these. */
  async reuseKeys(isFree: boolean, time: Time): Promise<void> {
    for (const keyed of this.keysOf(time)) {
      if (keyed.answered === null || this.#random.chance(0.5)) continue;
      const isOther = keyed.isCreation && (!isFree || this.#random.chance(0.5));
      if (isOther) await this.reuse(keyed, isFree);
      if (!isFree) await this.again(keyed);
      else if (!isOther) await this.#anew(keyed);
    }
  }

  #judgeAnswer(keyed: Keyed, answer: Answered, wasAnswered: boolean): void {
    const { judge } = this.#world;
    const key = keyed.tag;
    const { status, requestId, replayed, originalRequest } = answer;
    if (this.#world.isDamaged) return;
    const text = withoutSecret(answer.text);
    const original = replayed ? originalRequest : requestId;
    this.#world.note(
      `client: ${key} is answered ${status} by ${requestId}${replayed ? ` as ${original}` : ''}`,
    );
    judge.check(
      'nothing runs twice',
      !text.includes('idempotency_key_reused'),
      () => `${key} is taken for another request: ${text}`,
    );
    if (wasRefusedBeforeItRan(answer)) return;
    if (keyed.isCreation && status === 200 && !replayed)
      this.#judgeOrder(keyed.shop, JSON.parse(text), answer.sentMs);
    keyed.answered ??= { status, text, original };
    const first = keyed.answered;
    judge.check(
      'a replay is byte for byte',
      first.text === text && first.status === status,
      () => `${key} was answered ${first.status} ${first.text} and is now ${status} ${text}`,
    );
    judge.check(
      'nothing runs twice',
      first.original === original,
      () => `${key} ran as ${first.original} and as ${original}`,
    );
    if (wasAnswered)
      judge.check(
        'nothing acknowledged is lost',
        replayed,
        () => `${key} was answered, and ran again as ${requestId}`,
      );
  }

  /** What is made later comes later: lists are in the order of ids. */
  #judgeOrder({ org, livemode }: Shop, { id, object }: Resource, sentMs: number): void {
    for (const known of this.#world.facts.of(org, livemode, object)) {
      if (known.learnedMs >= sentMs || known.id === id) continue;
      this.#world.judge.check(
        'what a list shows is what was made',
        known.id < id,
        () => `${id} was made after ${known.id} and is listed before it`,
      );
    }
  }
}

/** What a client has to send again: no answer at all, or one that says so. */
function saysAgain({ status, text }: Answer): boolean {
  if (status >= 500 || status === 429) return true;
  return status === 409 && /"code":"(?:idempotency_in_progress|\w+_busy)"/.test(text);
}

/** Such a refusal is not kept: the same key is free for the request once it is right, or once a name resolves. */
function wasRefusedBeforeItRan({ status, text, retryAfterSeconds }: Answer): boolean {
  return status === 400 && (retryAfterSeconds > 0 || /"code":"parameter_/.test(text));
}

function withoutSecret(text: string): string {
  return text.replace(/"secret":"[^"]*"/, '"secret":null');
}

function withAnotherBody({ request, tag }: Keyed): Request {
  const params = JSON.parse(request.body) as object;
  return { ...request, body: JSON.stringify({ ...params, metadata: { tag: `${tag} again` } }) };
}
