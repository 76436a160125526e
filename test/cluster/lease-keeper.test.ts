// The lease of a node, with machines whose clocks, freezes and links a test decides.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Lease, LeaseTable, LeaseTiming } from '../../src/cluster/lease.ts';
import { LeaseKeeper } from '../../src/cluster/lease-keeper.ts';
import type { Moment } from '../../src/journal/ownership.ts';
import { OwnershipBoard } from '../../src/journal/ownership.ts';

const timing = { beatMs: 500, trustMs: 2_000, takeMs: 2_500, attemptMs: 10_000 };

/** Time that passes only when a test lets it. */
class World {
  nowMs = 0;
  readonly #due: { atMs: number; run: () => void; node: Node | null }[] = [];

  at(atMs: number, node: Node | null, run: () => void) {
    const entry = { atMs, run, node };
    this.#due.push(entry);
    return () => {
      const place = this.#due.indexOf(entry);
      if (place >= 0) this.#due.splice(place, 1);
    };
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (;;) {
      await turn();
      const next = this.#due
        .filter(({ atMs, node }) => atMs <= untilMs && node?.isFrozen !== true)
        .toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#due.splice(this.#due.indexOf(next), 1);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.run();
    }
    this.nowMs = untilMs;
  }
}

/** What all nodes see, unless their link is cut. */
class Table {
  lease: Lease | null = null;
  readonly takeovers: string[] = [];
  /** Another database has noted a later lease, or can't be asked. */
  isForgotten = false;
  /** Of each beat whether it was sent when the holder did not believe itself any more. */
  readonly doubts: boolean[] = [];

  of(node: Node): LeaseTable {
    const ask = async <T>(run: () => T): Promise<T> => {
      node.asked++;
      if (node.isCut) throw new Error('the link is cut');
      if (node.answerMs > 0)
        await new Promise<void>((resolve) =>
          node.world.at(node.world.nowMs + node.answerMs / 2, null, resolve),
        );
      const answer = run();
      if (node.answerMs > 0)
        await new Promise<void>((resolve) =>
          node.world.at(node.world.nowMs + node.answerMs / 2, node, resolve),
        );
      if (node.losesAnswer) {
        node.losesAnswer = false;
        throw new Error('the answer is lost');
      }
      return answer;
    };
    return {
      look: () => ask(() => this.lease && { ...this.lease }),
      take: (seen, reason, terms) =>
        ask(() => {
          if (this.lease?.epoch !== seen?.epoch || this.lease?.beat !== seen?.beat) return null;
          const { name, process } = node;
          const epoch = (seen?.epoch ?? 0) + 1;
          this.lease = {
            epoch,
            beat: 0,
            node: name,
            process,
            address: `${name}:443`,
            isReleased: false,
            quietMs: null,
            successor: null,
            dialect: null,
            terms,
          };
          this.takeovers.push(`${name}: ${reason}`);
          return epoch;
        }),
      beat: (epoch, sent) =>
        ask(() => {
          if (this.lease?.epoch !== epoch || this.lease.isReleased) return null;
          this.lease = { ...this.lease, beat: Math.max(this.lease.beat + 1, sent) };
          return { successor: this.lease.successor };
        }),
      isForgotten: async (_epoch, isDoubtful) => {
        this.doubts.push(isDoubtful);
        return this.isForgotten;
      },
      release: (epoch, quietMs) =>
        ask(() => {
          if (this.lease?.epoch === epoch) this.lease = { ...this.lease, isReleased: true, quietMs };
        }),
    };
  }
}

class Node {
  readonly name: string;
  readonly process: string;
  readonly world: World;
  readonly table: Table;
  readonly told: string[] = [];
  /** What it has heard of where the holder is. */
  readonly holders: (string | null)[] = [];
  /** Why the holder of a lease can't be followed. */
  refusal: string | null = null;
  /** How long it must take attempts of webhooks to last that others have begun. */
  attemptMs: number | null = null;
  /** For how long attempts of others may still run. */
  quietMs: number | null = null;
  /** For how long it was told last to believe itself. */
  trustMs: number | null = null;
  /** How often it has asked the table. */
  asked = 0;
  readonly board: OwnershipBoard;
  readonly keeper: LeaseKeeper;
  isFrozen = false;
  isCut = false;
  comesLast = false;
  lends = false;
  losesAnswer = false;
  /** How long the table takes to answer. */
  answerMs = 0;
  /** By how much its clocks are off: what it counts of a second, and the date. */
  rate = 1;
  wallOffMs = 0;
  /** For how long it was suspended, which its monotonic clock does not count. */
  suspendedMs = 0;

  constructor(world: World, table: Table, name: string, times: LeaseTiming = timing) {
    this.world = world;
    this.table = table;
    this.name = name;
    this.process = `${name}-process`;
    this.board = new OwnershipBoard(OwnershipBoard.memory(1), {
      monotonic: () => this.moment().monotonicMs,
      wall: () => this.moment().wallMs,
    });
    const lends = () => this.lends;
    this.keeper = new LeaseKeeper({
      get lends() {
        return lends();
      },
      table: table.of(this),
      node: name,
      process: this.process,
      ...times,
      timers: { after: (ms, run) => world.at(world.nowMs + ms / this.rate, this, run) },
      now: () => this.moment(),
      comesLast: () => this.comesLast,
      isTrusted: () => this.board.isTrusted(),
      onTrusted: (sent, ms) => {
        this.trustMs = ms;
        this.board.trust(sent, ms);
      },
      onTaken: ({ epoch, isClean, attemptMsMax, quietMs }) => {
        this.told.push(`taken ${epoch} ${isClean ? 'clean' : 'unclean'}`);
        this.attemptMs = attemptMsMax;
        this.quietMs = quietMs;
      },
      onLost: (why) => this.told.push(why === 'another node has taken it' ? 'lost' : `lost: ${why}`),
      refusalOf: () => this.refusal,
      onRefused: (refusal) => this.told.push(`refused: ${refusal}`),
      onHolder: (address) => this.holders.push(address),
      onWanted: (successor) => this.told.push(`wanted ${successor}`),
      onTrouble: (trouble) => this.told.push(trouble === null ? 'fine' : `trouble: ${trouble}`),
    });
  }

  moment(): Moment {
    const { nowMs } = this.world;
    return {
      monotonicMs: (nowMs - this.suspendedMs) * this.rate,
      wallMs: 1_800_000_000_000 + nowMs + this.wallOffMs,
    };
  }

  get owns(): boolean {
    return this.told.some((word) => word.startsWith('taken')) && this.board.isTrusted();
  }
}

/** Nodes with these names, and what they have in common. */
function nodes<Name extends string>(...names: Name[]) {
  const world = new World();
  const table = new Table();
  const all = names.map((name) => new Node(world, table, name));
  const byName = Object.fromEntries(all.map((node) => [node.name, node])) as Record<Name, Node>;
  return { world, table, all, ...byName };
}

/** Node a, which has the lease, and b, which begins to stand by. */
async function holderAndOther() {
  const made = nodes('a', 'b');
  made.a.keeper.start();
  await made.world.pass(100);
  made.b.keeper.start();
  return made;
}

test('the first node has the lease at once, and the next one takes it when that is silent', async () => {
  const { world, table, a, b } = await holderAndOther();
  assert.deepEqual(a.told, ['taken 1 clean']);
  await world.pass(10_000);
  assert.deepEqual(b.told, []);
  assert(a.owns);
  a.isFrozen = true;
  await world.pass(2_000);
  assert(!a.owns, 'a frozen node does not believe itself for more than two seconds');
  assert(!b.owns);
  await world.pass(1_600);
  assert(b.owns);
  assert.match(table.takeovers[1]!, /^b: a was silent for 2500 ms$/);
  assert.deepEqual(b.told, ['taken 2 unclean']);
  a.isFrozen = false;
  await world.pass(1_000);
  assert.deepEqual([a.told.at(-1), a.trustMs], ['lost', 0]);
});

test('a holder gives up a lease that the table may have forgotten a later one of', async () => {
  const { world, table, a } = await holderAndOther();
  await world.pass(5_000);
  assert.deepEqual(new Set(table.doubts), new Set([false]));
  // Whoever may have had the lease since is asked for before it believes itself again.
  a.isFrozen = true;
  await world.pass(2_100);
  a.isFrozen = false;
  await world.pass(100);
  assert.equal(table.doubts.at(-1), true);
  assert(a.owns);
  await world.pass(5_000);
  assert.equal(table.doubts.at(-1), false);
  table.isForgotten = true;
  await world.pass(600);
  assert.deepEqual(a.told.at(-1), 'lost: another database has noted a later one, or can not be asked');
  assert(!a.owns);
});

test('a holder that is configured to believe itself for longer is waited for longer', async () => {
  const { world, table, b } = nodes('b');
  const a = new Node(world, table, 'a', { ...timing, beatMs: 3_000, trustMs: 10_000, takeMs: 12_500 });
  a.keeper.start();
  await world.pass(100);
  b.keeper.start();
  await world.pass(20_000);
  assert.deepEqual(b.told, [], 'between two beats of the holder more passes than this node would wait');
  a.isFrozen = true;
  for (let ms = 0; ms < 16_000; ms += 100) {
    await world.pass(100);
    assert(!a.owns || !b.owns, `both believe themselves after ${ms} ms`);
  }
  assert(b.owns);
  assert.match(table.takeovers[1]!, /^b: a was silent for 12\d\d\d ms$/);
});

test('a node that lags takes the lease when no other one does', async () => {
  for (const [left, taker] of [
    ['by a freeze', 'c'],
    ['by a stop', 'c'],
    ['to the one that lags', 'b'],
    ['to nobody else', 'b'],
  ] as const) {
    const { world, table, a, b, c } = nodes('a', 'b', 'c');
    for (const node of [a, b]) {
      node.keeper.start();
      await world.pass(100);
    }
    b.comesLast = true;
    if (left !== 'to nobody else') c.keeper.start();
    await world.pass(1_000);
    if (left === 'to the one that lags') table.lease = { ...table.lease!, successor: 'b' };
    if (left === 'by a stop' || left === 'to the one that lags') {
      const stopped = a.keeper.stop();
      await world.pass(500);
      await stopped;
    } else a.isFrozen = true;
    await world.pass(left === 'to nobody else' ? 4_000 : 3_000);
    assert.equal(b.owns || c.owns, left !== 'to nobody else', left);
    await world.pass(2_000);
    assert.deepEqual([table.lease?.node, b.owns, c.owns], [taker, taker === 'b', taker === 'c'], left);
  }
});

test('attempts of webhooks last as long as the holder before or this node lets them', async () => {
  for (const [before, own, attemptMs] of [
    [10_000, 30_000, 30_000],
    [30_000, 10_000, 30_000],
    [null, 10_000, 10_000],
  ] as const) {
    const { world, table, a } = nodes('a');
    a.keeper.start();
    await world.pass(100);
    table.lease = { ...table.lease!, terms: before === null ? {} : { trustMs: 2_000, attemptMs: before } };
    const b = new Node(world, table, 'b', { ...timing, attemptMs: own });
    b.keeper.start();
    a.isFrozen = true;
    await world.pass(6_000);
    assert.equal(b.attemptMs, attemptMs);
  }
});

test('attempts of a holder before the last one may still be under way', async () => {
  const { world, table, b, c } = nodes('b', 'c');
  const a = new Node(world, table, 'a', { ...timing, attemptMs: 30_000 });
  a.keeper.start();
  await world.pass(100);
  c.keeper.start();
  await world.pass(1_000);
  a.isFrozen = true;
  c.isFrozen = true;
  b.keeper.start();
  await world.pass(4_000);
  assert.equal(b.attemptMs, 30_000);
  b.isFrozen = true;
  c.isFrozen = false;
  await world.pass(6_000);
  assert.equal(c.attemptMs, 30_000);
});

test('a node that stops leaves the lease to the next one at once', async () => {
  const { world, a, b } = await holderAndOther();
  await world.pass(3_000);
  const stopped = a.keeper.stop();
  await world.pass(600);
  await stopped;
  assert.deepEqual(b.told, ['taken 2 clean']);
  assert.equal(a.trustMs, 0);
});

test('webhooks wait for attempts that the holder before has left to others, however that one and this are configured', async () => {
  for (const [before, own, quietMs] of [
    [false, false, 0],
    [false, true, 0],
    [true, false, 10_000],
    [true, true, 10_000],
  ] as const) {
    const { world, a, b } = await holderAndOther();
    assert.equal(a.quietMs, 0);
    [a.lends, b.lends] = [before, own];
    const stopped = a.keeper.stop();
    await world.pass(600);
    await stopped;
    assert.deepEqual([b.told, b.quietMs], [['taken 2 clean'], quietMs], `${before}, ${own}`);
  }
});

test('who takes the lease after a short while still waits for attempts of the one before the last', async () => {
  for (const [heldMs, leftMs] of [
    [2_000, 8_000],
    [12_000, 0],
  ] as const) {
    const { world, a, b } = await holderAndOther();
    await world.pass(1_000);
    a.isFrozen = true;
    while (b.quietMs === null) await world.pass(10);
    assert.equal(b.quietMs, 10_000);
    const c = new Node(world, b.table, 'c');
    c.keeper.start();
    await world.pass(heldMs);
    const stopped = b.keeper.stop();
    await world.pass(600);
    await stopped;
    assert.equal(c.told[0], 'taken 3 clean');
    assert(c.quietMs! <= leftMs && c.quietMs! >= leftMs - 100, `${c.quietMs} ms`);
  }
});

test('a release that does not say what it has left is taken to have left attempts', async () => {
  const { world, table, a, b } = await holderAndOther();
  await world.pass(1_000);
  a.isFrozen = true;
  table.lease = { ...table.lease!, isReleased: true, quietMs: null };
  await world.pass(600);
  assert.deepEqual([b.told, b.quietMs], [['taken 2 clean'], 10_000]);
});

test('a node that does not have the lease, or no more, stops without asking for anything', async () => {
  const { world, table, a, b, c } = nodes('a', 'b', 'c');
  a.keeper.start();
  await world.pass(100);
  a.isFrozen = true;
  b.keeper.start();
  await world.pass(4_000);
  a.isFrozen = false;
  c.keeper.start();
  await world.pass(1_000);
  assert.deepEqual([a.told.at(-1), b.told, c.told], ['lost', ['taken 2 unclean'], []]);
  for (const node of [a, c]) {
    const { asked } = node;
    const stopped = node.keeper.stop();
    await world.pass(1_000);
    await stopped;
    assert.deepEqual([node.asked, table.lease?.isReleased], [asked, false]);
  }
});

for (const [when, ms, answeredMs] of [
  ['between two beats', 300, 15],
  ['during a beat', 510, 25],
] as const)
  test(`a node that is told to stop ${when} releases the lease as soon as it is answered, and believes itself no more`, async () => {
    const { world, table, a } = nodes('a');
    a.answerMs = 20;
    a.keeper.start();
    await world.pass(ms);
    let isStopped = false;
    const stopped = a.keeper.stop().then(() => {
      isStopped = true;
    });
    await world.pass(answeredMs);
    assert.deepEqual([table.lease?.isReleased, isStopped, a.owns], [true, false, false]);
    await world.pass(10);
    await stopped;
  });

for (const [when, asks, takers] of [
  ['before it looks at a lease that was left', 0, ['a', 'c']],
  ['while it looks at a lease that was left', 1, ['a', 'c']],
  ['while it takes a lease that was left', 2, ['a', 'b', 'c']],
] as const)
  test(`a node that is told ${when} that it is to stop leaves it to others`, async () => {
    const { world, table, b } = await holderAndOther();
    await world.pass(1_000);
    table.lease = { ...table.lease!, isReleased: true, quietMs: 7_000 };
    b.answerMs = 20;
    const untilAsked = b.asked + asks;
    while (b.asked < untilAsked) await world.pass(5);
    b.keeper.leaveToOthers();
    await world.pass(5_000);
    assert.deepEqual([b.told, b.trustMs, table.lease.isReleased], [[], null, true]);
    const c = new Node(world, table, 'c');
    c.keeper.start();
    await world.pass(200);
    assert.equal(c.quietMs, 7_000);
    assert.equal(b.holders.at(-1), 'c:443', 'what it passes on goes there');
    const stopped = b.keeper.stop();
    await world.pass(200);
    await stopped;
    assert(c.owns);
    assert.deepEqual(
      table.takeovers.map((takeover) => takeover[0]),
      takers,
    );
  });

test('a node that has the lease and is to stop soon keeps it until it stops', async () => {
  const { world, a, b } = await holderAndOther();
  a.keeper.leaveToOthers();
  await world.pass(10_000);
  assert(a.owns);
  const stopped = a.keeper.stop();
  await world.pass(600);
  await stopped;
  assert.deepEqual(b.told, ['taken 2 clean']);
});

test('a lease that is to move goes to the node that was named', async () => {
  const { world, table, a, b, c } = nodes('a', 'b', 'c');
  a.keeper.start();
  await world.pass(100);
  b.keeper.start();
  c.keeper.start();
  table.lease = { ...table.lease!, successor: 'c' };
  await world.pass(600);
  assert.deepEqual(a.told, ['taken 1 clean', 'wanted c']);
  const stopped = a.keeper.stop();
  await world.pass(600);
  await stopped;
  assert.deepEqual([b.told, c.told], [[], ['taken 2 clean']]);
  // One that was named and is not there is waited for as for a silent one.
  table.lease = { ...table.lease!, successor: 'd' };
  const next = c.keeper.stop();
  await world.pass(3_600);
  await next;
  assert.deepEqual(b.told, ['taken 3 clean']);
});

test('a node that can not reach the table believes itself no longer, and goes on when it can', async () => {
  const { world, a } = nodes('a');
  a.keeper.start();
  await world.pass(1_000);
  a.isCut = true;
  await world.pass(2_100);
  assert(!a.owns);
  a.isCut = false;
  await world.pass(200);
  assert(a.owns);
  assert.deepEqual(a.told, ['taken 1 clean', 'trouble: the link is cut', 'fine']);
});

test('a node that the table keeps waiting says so once, whatever it waits for', async () => {
  const { world, table, a } = nodes('a');
  a.answerMs = 10_000;
  a.keeper.start();
  const trouble = 'trouble: there is no answer after 3 s';
  await world.pass(2_900);
  assert.deepEqual(a.told, []);
  await world.pass(200);
  assert.deepEqual(a.told, [trouble]);
  await world.pass(6_000);
  assert.equal(table.lease, null, 'it has not been taken');
  assert.deepEqual(a.told, [trouble]);
  a.answerMs = 0;
  await world.pass(4_000);
  assert.deepEqual(a.told, [trouble, 'taken 1 clean', 'fine']);
  a.answerMs = 10_000;
  await world.pass(3_600);
  assert.equal(a.told.at(-1), trouble, 'a beat waits');
});

test('a node that stands by hears where the holder is, when that changes', async () => {
  const { world, table, b } = await holderAndOther();
  await world.pass(1_000);
  assert.deepEqual(b.holders, ['a:443']);
  table.lease = { ...table.lease!, address: 'a:444' };
  await world.pass(1_000);
  table.lease = { ...table.lease!, isReleased: true, successor: 'c' };
  await world.pass(1_000);
  assert.deepEqual(b.holders, ['a:443', 'a:444', null]);
});

test('a node that can not follow the holder says so once, and does nothing more', async () => {
  const { world, a, b } = nodes('a', 'b');
  a.keeper.start();
  await world.pass(100);
  b.refusal = 'a newer release';
  b.keeper.start();
  await world.pass(100);
  const { asked } = b;
  a.isFrozen = true;
  await world.pass(10_000);
  assert.deepEqual([b.told, b.holders, b.asked], [['refused: a newer release'], [], asked]);
});

test('that the lease is to move is said once', async () => {
  const { world, table, a } = nodes('a');
  a.keeper.start();
  await world.pass(100);
  for (const successor of ['a', null, 'b', 'b']) {
    table.lease = { ...table.lease!, successor };
    await world.pass(1_500);
  }
  assert.deepEqual(a.told, ['taken 1 clean', 'wanted b']);
});

test('a holder beats twice a second, who stands by looks five times as often, and without an answer it is tried again soon', async () => {
  const { world, a, b } = await holderAndOther();
  const asking = async (node: Node) => {
    const before = node.asked;
    await world.pass(5_000);
    return node.asked - before;
  };
  assert.deepEqual([await asking(a), await asking(b)], [10, 50]);
  a.isCut = true;
  await world.pass(1_000);
  assert.equal(await asking(a), 50);
});

test('silence counts only over reads that were answered', async () => {
  const { world, a, b } = await holderAndOther();
  await world.pass(1_000);
  // Nobody reaches the table for a minute.
  a.isCut = b.isCut = true;
  await world.pass(60_000);
  a.isCut = b.isCut = false;
  await world.pass(5_000);
  assert(a.owns);
  assert(!b.owns);
});

test('of the time without answers two beats count', async () => {
  const { world, a, b } = await holderAndOther();
  await world.pass(1_000);
  a.isFrozen = b.isCut = true;
  await world.pass(60_000);
  b.isCut = false;
  await world.pass(1_400);
  assert.equal(b.told.at(-1), 'fine');
  await world.pass(100);
  assert.equal(b.told.at(-1), 'taken 2 unclean');
});

test('a beat that the table has forgotten is not taken for the one that comes in its place', async () => {
  const { world, table, a, b } = await holderAndOther();
  await world.pass(1_000);
  a.isFrozen = true;
  await world.pass(1_800);
  b.isCut = true;
  await world.pass(5_000);
  // A database that lacks the last beat, as after a wrong promotion.
  table.lease = { ...table.lease!, beat: table.lease!.beat - 1 };
  a.isFrozen = false;
  await world.pass(50);
  assert(a.owns);
  b.isCut = false;
  await world.pass(10_000);
  assert(a.owns);
  assert(!b.owns);
});

test('a node whose answer was lost takes the lease again', async () => {
  const { world, table, a } = nodes('a');
  a.answerMs = 10;
  a.keeper.start();
  // The look is answered, and the taking is not, which took place.
  await world.pass(12);
  a.losesAnswer = true;
  await world.pass(10);
  assert.deepEqual(a.told, ['trouble: the answer is lost']);
  assert.equal(table.lease?.epoch, 1);
  assert(!a.owns);
  await world.pass(500);
  assert.deepEqual(a.told.slice(1), ['taken 2 unclean', 'fine']);
  assert(a.owns);
});

test('a machine that was suspended notices by its wall clock', async () => {
  const { world, a, b } = nodes('a', 'b');
  a.keeper.start();
  await world.pass(1_000);
  b.keeper.start();
  await world.pass(1_000);
  a.isFrozen = true;
  await world.pass(10_000);
  a.suspendedMs = 10_000;
  assert(!a.owns, 'its monotonic clock has stood still, and its wall clock has not');
  assert(b.owns);
});

test('at no moment do two nodes believe themselves, whatever happens', async () => {
  let takeovers = 0;
  for (let seed = 1; seed <= 60; seed++) {
    let state = seed * 7_919;
    const chance = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const { world, table, all } = nodes('a', 'b', 'c');
    for (const node of all) {
      node.rate = 1 + (chance(21) - 10) / 500;
      node.wallOffMs = (chance(3) - 1) * 3_600_000;
      node.answerMs = chance(4) * 60;
      node.keeper.start();
    }
    for (let step = 0; step < 240; step++) {
      const node = all[chance(3)]!;
      const what = chance(24);
      if (what === 0) node.isFrozen = !node.isFrozen;
      if (what === 1) node.isCut = !node.isCut;
      if (what === 2) node.losesAnswer = true;
      if (what === 3) for (const each of all) each.isFrozen = each.isCut = false;
      if (what === 4) node.wallOffMs += (chance(3) - 1) * 5_000;
      await world.pass(100 + chance(300));
      const owners = all.filter(({ owns }) => owns).map(({ name }) => name);
      assert(owners.length <= 1, `seed ${seed}, step ${step}: ${owners} believe themselves`);
    }
    takeovers += table.takeovers.length;
  }
  assert(takeovers > 100, `${takeovers} takeovers`);
});

test('who is told looks at the lease at once, and once more when told while it looks', async () => {
  const { world, table, a, b } = await holderAndOther();
  await world.pass(1_000);
  void a.keeper.stop();
  await world.pass(0);
  assert(table.lease?.isReleased);
  assert.deepEqual(b.told, []);
  b.keeper.lookNow();
  await world.pass(0);
  assert.deepEqual(b.told, ['taken 2 clean']);
  b.answerMs = 50;
  const { asked } = b;
  b.keeper.lookNow();
  await world.pass(10);
  b.keeper.lookNow();
  await world.pass(39);
  assert.equal(b.asked, asked + 1, 'one question is asked at a time');
  await world.pass(2);
  assert.equal(b.asked, asked + 2);
});
