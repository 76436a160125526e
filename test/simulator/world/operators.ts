// Operators who change organizations and keys while all goes on, and those who look whether lists show what was made.

import type { Directory } from '../../../src/directory/directory.ts';
import { withLimit } from '../../../src/directory/organization.ts';
import type { Random } from '../kernel/random.ts';
import { listPaths } from './acts.ts';
import type { Clients, Shop } from './clients.ts';
import { reading } from './edge.ts';
import type { Fact, Resource } from './facts.ts';
import type { Entrance } from './service.ts';
import type { World } from './world.ts';

/** A list's filter. */
interface Filter {
  readonly query: string;
  fits(resource: Resource): boolean;
  /** Whether an object belongs to the list for certain from a moment on. */
  bindsAt(fact: Fact, ms: number): boolean;
}

/** What a list is filtered by: an end that its objects come to, what they belong to, or both. */
export function filterOf(object: string, random: Random, facts: readonly Fact[]): Filter | null {
  const ends: Readonly<Record<string, readonly string[]>> = {
    payment_intent: ['succeeded', 'canceled'],
    charge: ['succeeded', 'failed'],
    refund: ['succeeded', 'failed'],
  };
  const status = ends[object] === undefined || random.chance(0.4) ? null : random.pick(ends[object]);
  const field = object === 'payment_intent' ? 'customer' : 'payment_intent';
  const owners = facts
    .map(({ last }) => last[field] as string | null | undefined)
    .filter((id) => typeof id === 'string');
  const owner =
    ends[object] === undefined || owners.length === 0 || random.chance(0.4) ? null : random.pick(owners);
  if (status === null && owner === null) return null;
  const fits = (resource: Resource) =>
    (status === null || resource.status === status) && (owner === null || resource[field] === owner);
  return {
    query: [status && `status=${status}`, owner && `${field}=${owner}`]
      .filter((part) => part !== null)
      .join('&'),
    fits,
    bindsAt: (fact, ms) =>
      fits({ ...fact.last, status: fact.end?.status }) && (status === null || fact.end!.learnedMs < ms),
  };
}

interface IssuedKey {
  readonly text: string;
  readonly shop: Shop;
  /** When it was known to work. */
  readonly issuedMs: number;
  revokedMs: number;
  /** When it stops working after it was rolled, by the wall clock. */
  expiresAtMs: number;
}

export class Operators {
  readonly #world: World;
  readonly #clients: Clients;
  readonly #service: () => Entrance | null;
  readonly keys: IssuedKey[] = [];
  readonly #given: ((directory: Directory) => void)[] = [];

  constructor(world: World, clients: Clients, service: () => Entrance | null) {
    this.#world = world;
    this.#clients = clients;
    this.#service = service;
  }

  /**
   * Has the service run a command; null when it fails or there is no answer. Those that are given in one task begin in one task,
   * so that none knows what another one does.
   */
  run<T>(command: (directory: Directory) => Promise<T>): Promise<T | null> {
    return new Promise((resolve) => {
      void this.#clients.wait(5_000).then(() => resolve(null));
      const told = (result: T | Error) =>
        void this.#clients.wait(1).then(() => resolve(result instanceof Error ? null : result));
      this.#given.push((directory) => void command(directory).then(told, told));
      if (this.#given.length === 1) queueMicrotask(() => this.#begin());
    });
  }

  #begin(): void {
    const given = this.#given.splice(0);
    this.#service()?.operate((directory) => {
      for (const begin of given) begin(directory);
    });
  }

  async command(shop: Shop, random: Random): Promise<void> {
    const mode = shop.livemode ? 'live' : 'test';
    const mine = this.keys.filter(
      (key) => key.shop === shop && key.revokedMs === Infinity && key.expiresAtMs === Infinity,
    );
    const { simulation } = this.#world;
    if (random.chance(0.3) && mine.length > 0) {
      await this.#roll(random.pick(mine), random.between(0, 20));
    } else if (random.chance(0.5) || mine.length === 0) {
      const made = await this.run((directory) => directory.createKey(shop.org, mode, 'secret', 'operator'));
      if (made === null) return;
      this.#world.note(`operator: a key for ${shop.org}`);
      const never = { revokedMs: Infinity, expiresAtMs: Infinity };
      this.keys.push({ text: made.text, shop, issuedMs: simulation.nowMs, ...never });
    } else {
      // Also one that was rolled, and may work still.
      const rolled = this.keys.filter(
        (key) => key.shop === shop && key.revokedMs === Infinity && key.expiresAtMs !== Infinity,
      );
      const key = random.pick(rolled.length > 0 && random.chance(0.5) ? rolled : mine);
      // Without an answer nobody knows: it may be revoked.
      key.revokedMs = Number.NaN;
      const done = await this.run((directory) => directory.revokeKey(key.text));
      if (done !== null) key.revokedMs = simulation.nowMs;
      this.#world.note(`operator: a key of ${shop.org} is revoked${done === null ? ', perhaps' : ''}`);
      for (const _ of this.#world.machines) await this.#tryKey(key);
    }
    await this.tryKeys(random.below(3));
  }

  /**
   * An organization gets another limit for a while, or for good, and somebody asks right when it ends. Those that are watched
   * stay.
   */
  async changeLimit(shop: Shop, random: Random): Promise<void> {
    const mode = shop.livemode ? 'live' : 'test';
    const bucket = random.pick(['writes', 'payment_creation', 'search'] as const);
    const perMinute = random.between(30, 400);
    const lastsMs = random.chance(0.7) ? random.between(500, 20_000) : null;
    const untilMs = lastsMs === null ? null : this.#world.clocks.wall() + lastsMs;
    const limit = { perMinute, source: 'custom', untilMs } as const;
    await this.run((directory) =>
      directory.changeOrganization(shop.org, (each, nowMs) => withLimit(each, mode, bucket, limit, nowMs)),
    );
    if (untilMs === null) return;
    // It may be set meanwhile, by hours.
    const leftMs = untilMs - this.#world.clocks.wall();
    if (leftMs < 0 || leftMs > 20_000) return;
    await this.#clients.wait(leftMs + 1);
    if (bucket === 'search') await this.#clients.get(shop, '/v1/charges', 'status=failed');
    else await this.#clients.post(shop, '/v1/payment_intents', { amount: 20_000, currency: 'mad' });
  }

  /** Somebody gives a key another name while somebody else revokes it. */
  async nameAndRevoke(shop: Shop, random: Random): Promise<void> {
    const never = ({ revokedMs, expiresAtMs }: IssuedKey) =>
      revokedMs === Infinity && expiresAtMs === Infinity;
    const mine = this.keys.filter((key) => key.shop === shop && never(key));
    if (mine.length === 0) return this.command(shop, random);
    const key = random.pick(mine);
    key.revokedMs = Number.NaN;
    const revoke = async () => {
      if (random.chance(0.4)) await this.#clients.wait(random.skewed(0.02, 2));
      const done = await this.run((directory) => directory.revokeKey(key.text));
      if (done !== null) key.revokedMs = this.#world.simulation.nowMs;
    };
    const name = async () => {
      if (random.chance(0.4)) await this.#clients.wait(random.skewed(0.02, 2));
      await this.run((directory) => directory.nameKey(key.text, `key ${random.below(10)}`));
    };
    await Promise.all([revoke(), name()]);
    this.#world.note(`member: a key of ${shop.org} is named and revoked`);
    await this.#tryKey(key);
  }

  /** A key is replaced by another one, and works for some seconds more. */
  async #roll(key: IssuedKey, overlapSeconds: number): Promise<void> {
    // Without an answer nobody knows: it may be rolled.
    key.expiresAtMs = Number.NaN;
    const walls = () => this.#world.machines.map(({ clocks }) => clocks.wall() + overlapSeconds * 1_000);
    const earliest = walls();
    const rolled = await this.run((directory) => directory.rollKey(key.text, overlapSeconds, 'operator'));
    if (rolled === null) return;
    const { expiresAtMs } = rolled.old;
    const ends = [...earliest, ...walls()];
    this.#world.judge.check(
      'a key that was revoked opens nothing',
      expiresAtMs !== null && expiresAtMs >= Math.min(...ends) && expiresAtMs <= Math.max(...ends),
      () => `a key that works for ${overlapSeconds} seconds more ends at ${expiresAtMs}, and not in ${ends}`,
    );
    this.#world.note(`operator: a key of ${key.shop.org} is rolled, with ${overlapSeconds} seconds`);
    key.expiresAtMs = expiresAtMs ?? Number.NaN;
    const issuedMs = this.#world.simulation.nowMs;
    const never = { revokedMs: Infinity, expiresAtMs: Infinity };
    this.keys.push({ text: rolled.text, shop: key.shop, issuedMs, ...never });
  }

  /** Uses some of the keys that were issued. */
  async tryKeys(count: number): Promise<void> {
    for (const key of this.keys.slice(-count)) await this.#tryKey(key);
  }

  async #tryKey(key: IssuedKey): Promise<void> {
    const { judge, simulation, machines } = this.#world;
    const walls = () => machines.map(({ clocks }) => clocks.wall());
    const { revokedMs, expiresAtMs } = key;
    const [sentMs, sentAtMs] = [simulation.nowMs, walls()];
    const answer = await this.#clients.send(reading(key.text, '/v1/account'), key.shop.apiKey);
    if (answer === null || this.#world.isDamaged) return;
    // Any node may have answered, and a wall clock may have been set meanwhile.
    const times = [...sentAtMs, ...walls()];
    const [firstMs, lastMs] = [Math.min(...times), Math.max(...times)];
    if (revokedMs < sentMs || expiresAtMs <= firstMs)
      judge.check(
        'a key that was revoked opens nothing',
        answer.status === 401,
        () => `it is answered ${answer.status}`,
      );
    else if (key.revokedMs === Infinity && expiresAtMs > lastMs)
      judge.check(
        'a directory change that was acknowledged is kept',
        answer.status !== 401,
        () => `a key that was issued is answered ${answer.text}`,
      );
  }

  /** Walks over all pages of a list and compares it with what is known. Returns what it showed. */
  async walk(shop: Shop, object: string, limit: number, filter: Filter | null = null): Promise<Resource[]> {
    const { judge, facts, simulation } = this.#world;
    const beganMs = simulation.nowMs;
    const expected = facts
      .of(shop.org, shop.livemode, object)
      .filter(
        (fact) => !fact.mayBeDeleted && fact.learnedMs < beganMs && (filter?.bindsAt(fact, beganMs) ?? true),
      );
    const shown: Resource[] = [];
    for (let hasMore = true; hasMore; ) {
      const after = shown.length === 0 ? '' : `&starting_after=${shown.at(-1).id}`;
      const answer = await this.#clients.get(
        shop,
        listPaths[object]!,
        `limit=${limit}${after}${filter === null ? '' : `&${filter.query}`}`,
      );
      if (answer === null) return shown;
      // The object that a cursor names may have been deleted meanwhile.
      if (answer.status === 404) return shown;
      if (this.#world.isDamaged) return shown;
      const page = JSON.parse(answer.text) as { readonly data: Resource[]; readonly has_more: boolean };
      shown.push(...page.data);
      hasMore = page.has_more;
    }
    if (filter !== null) {
      const stranger = shown.find((resource) => !filter.fits(resource));
      judge.check(
        'what a list shows is what was made',
        stranger === undefined,
        () => `${stranger.id} is listed by ${filter.query} and is ${JSON.stringify(stranger)}`,
      );
    }
    const ids = shown.map(({ id }) => id as string);
    judge.check(
      'what a list shows is what was made',
      isDescending(ids),
      () => `the ${object}s of ${shop.org} are listed as ${ids.join(' ')}`,
    );
    const listed = new Set(ids);
    const isGone = ({ id, mayBeDeleted }: Fact) => !listed.has(id) && !mayBeDeleted;
    const missing = expected.filter(isGone).map(({ id }) => id);
    judge.check(
      'what a list shows is what was made',
      missing.length === 0,
      () => `the list of ${object}s of ${shop.org} lacks ${missing.join(' ')}`,
    );
    return shown;
  }
}

function isDescending(ids: readonly string[]): boolean {
  return ids.every((id, i) => i === 0 || id < ids[i - 1]!);
}
