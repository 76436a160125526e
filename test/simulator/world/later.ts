// What must hold hours and weeks after a run: a key is bound to its request for a day and free afterwards, also when the
// service was started again meanwhile; and when events are past their retention no delivery waits for one of them. In some
// runs the wall clock is put forward for good, or back, and lists are followed; in some an endpoint is disabled while much waits
// for it; in some merchants go on between, checkpoints are compacted, and the service is killed in the middle of what is under way.

import { believedAfterMs } from '../../../src/core/service-clock.ts';
import type { StoredRecord } from '../../../src/domain/record.ts';
import { ofKind } from '../../domain/invariants.ts';
import { Random } from '../kernel/random.ts';
import type { ActKind } from '../plan.ts';
import { act, tell } from './acts.ts';
import type { Time } from './clients.ts';
import { useUpDay } from './day-cap.ts';
import { followLists } from './followed-lists.ts';
import { asked, type Healing, type Until } from './healing.ts';
import type { Host } from './host.ts';
import { lookAtEndpoints } from './look-around.ts';
import type { Runs } from './runs.ts';
import type { World } from './world.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/**
 * The service keeps keys for a day, by a clock that may run wrong by minutes. Two starts among several nodes take a quarter of
 * an hour.
 */
const boundMs = 23.5 * hourMs;
/** Keys go by hours, and segments of the log stay an hour longer than needed: a key is free before its hour is gone. */
const freeMs = 24.5 * hourMs;
/** Events are kept for 30 days in the simulator, and up to a hundredth of that longer. */
const eventsGoneMs = 31 * dayMs;
const earlyMs = 29 * dayMs;
const settleMs = 60_000;
/** What merchants do hours later. Nothing of it is about what is old. */
const later: readonly ActKind[] = [
  'create intent',
  'create intent',
  'confirm',
  'pay by card',
  'complete charge',
  'refund',
  'create customer',
  'create endpoint',
  'change endpoint',
  'delete endpoint',
];
/** What is made before the clock is put back, and then. */
const made: readonly ActKind[] = ['create intent', 'create intent', 'create customer', 'refund'];
/** Steps of a plan have smaller numbers. */
const firstNumber = 100_000;
const busyShare = 0.3;
const putBackShare = 0.4;
const putForwardShare = 0.3;
const anotherDayShare = 0.3;
const waitingShare = 0.1;
const enabledShare = 0.3;
const verifiedShare = 0.25;
/** By then what was due has expired. A start with much of that goes on without a pause, so time would stand still here. */
const soonMs = 3_000;
const writtenMs = 1_000;

/** Not in every run, because it takes as long as the run itself. */
export function hasLater(seed: string): boolean {
  return new Random(`${seed}/later`).chance(0.4);
}

export async function auditLater(healing: Healing<Runs>): Promise<void> {
  const { world, host, clients, until } = healing;
  const { simulation, clocks, judge } = world;
  await leaveWaiting(healing);
  const aheadMs = await putForward(healing);
  const random = new Random(`${simulation.seed}/later times`);
  const beganMs = simulation.nowMs;
  const busy = new Random(`${simulation.seed}/busy later times`);
  // With nodes each start takes minutes, and keys are bound for a day.
  const isBusy = !world.hasNodes && busy.chance(busyShare);
  let number = firstNumber;
  const context = { ...healing, service: () => host.service };
  /** Merchants go on, and the service may be killed meanwhile. */
  const work = async () => {
    if (!isBusy || busy.chance(0.3)) return;
    for (let i = busy.between(1, 30); i > 0; i--) act(context, busy.pick(later), number++);
    if (busy.chance(0.5)) {
      await until(simulation.nowMs + busy.skewed(10, 3_000), () => clients.outstanding === 0);
      await restart(false);
    }
    await until(simulation.nowMs + 5 * settleMs, () => clients.outstanding === 0 && host.isIdle);
  };
  const restart = async (withPower: boolean) => {
    if (isBusy && busy.chance(0.4)) {
      host.compact();
      await until(simulation.nowMs + busy.skewed(100, 5_000), () => false);
    }
    host.crash(withPower, 100);
    await until(simulation.nowMs + settleMs, () => host.isReady);
    // On another machine only the wall clock tells how long nobody served, and it is not believed at once.
    if (world.hasNodes) await until(simulation.nowMs + believedAfterMs + settleMs, () => false);
  };
  const pass = async (ms: number) => {
    if (random.chance(0.4)) await restart(random.chance(0.5));
    // What is being written is on disk by then.
    await until(simulation.nowMs + writtenMs, () => false);
    simulation.nowMs += ms;
    // Wall clocks of several machines are kept right meanwhile.
    for (const { clocks } of world.machines) clocks.correct();
    clocks.step(aheadMs);
    world.note(`${(ms / hourMs).toFixed(1)} hours pass`);
    // All links have lapsed meanwhile, and what was lent comes to other machines.
    if (world.settings.lends) await until(simulation.nowMs + believedAfterMs, () => false);
    // What became due meanwhile is under way.
    if (isBusy && busy.chance(0.5)) {
      await until(simulation.nowMs + busy.skewed(soonMs, settleMs), () => false);
      await restart(false);
    }
    await until(simulation.nowMs + settleMs, () => false);
    await asked(healing, settleMs, () => lookAtEndpoints(context));
    // Not with the power: after that the service can't know how long it was off.
    if (random.chance(0.4)) await restart(false);
  };
  const useKeys = (isFree: boolean, time: Time) =>
    asked(healing, 10 * settleMs, () => clients.reuseKeys(isFree, time));
  /** The oldest key of a time was used less than a day ago. */
  const whileBound = async (time: Time, meanwhile: () => Promise<void>) => {
    const oldestMs = Math.min(time.toMs, ...clients.keysOf(time).map((keyed) => keyed.beganMs));
    const leftMs = boundMs - (simulation.nowMs - oldestMs);
    if (leftMs <= 0) return;
    await pass(random.pick([Math.min(leftMs, hourMs), leftMs, leftMs]));
    await meanwhile();
    await useKeys(false, time);
  };
  /** Every key of a time was used more than a day ago, the newest ones less than 25 hours. */
  const onceFree = async (time: Time) => {
    await pass(time.toMs + freeMs - simulation.nowMs);
    await useKeys(true, time);
  };
  const run = { fromMs: 0, toMs: beganMs };
  await whileBound(run, work);
  await listAfterStep(healing, () => number++);
  const freeFromMs = simulation.nowMs;
  await onceFree(run);
  await work();
  const workedMs = simulation.nowMs;
  if (isBusy) {
    // What was used first a day later has a day of its own.
    const since = { fromMs: freeFromMs, toMs: workedMs };
    await whileBound(since, async () => {});
    await onceFree(since);
  }
  // What has ended on another day is still listed then, and goes in its own time.
  const onAnotherDay = new Random(`${simulation.seed}/another day`).chance(anotherDayShare)
    ? await useUpDay(healing)
    : null;
  await pass(earlyMs);
  await onAnotherDay?.();
  await pass(eventsGoneMs - earlyMs);
  const goneBy = (ms: number) => auditRetention(world, host.records(), ms + world.clocks.startMs);
  // A mark that came after the run is older than the retention by now.
  if (isBusy && judge.finding === null) goneBy(beganMs);
  // Events are counted from the mark that comes after them.
  await pass(eventsGoneMs);
  await until(simulation.nowMs + settleMs, () => host.isIdle);
  if (judge.finding === null) goneBy(isBusy ? workedMs : beganMs);
  if (isBusy)
    judge.check(
      'whatever was asked is answered in the end',
      clients.outstanding === 0 && host.isIdle,
      () => `${clients.outstanding} requests and ${host.openWork} others are open still`,
    );
}

/** Nothing is missed of what is gone, nor once the folder is laid out for another number of shards. */
export async function verifyWhatIsLeft({ world, host, until }: Healing<Host>): Promise<void> {
  const { simulation, judge } = world;
  const random = new Random(`${simulation.seed}/verified`);
  if (judge.finding !== null || !random.chance(verifiedShare)) return;
  if (random.chance(0.7)) {
    host.reshard(random.between(1, 4));
    await until(simulation.nowMs + settleMs, () => host.isReady);
  }
  host.verify();
  await until(simulation.nowMs + settleMs, () => host.isReady);
}

/**
 * Much waits for an endpoint that does not answer and is disabled then: it waits until its events are gone, or goes on as soon
 * as the endpoint is enabled.
 */
async function leaveWaiting(healing: Healing<Runs>): Promise<void> {
  const { world, host, clients, shops, until } = healing;
  const { simulation, receivers } = world;
  const random = new Random(`${simulation.seed}/left waiting`);
  const isLeft = random.chance(waitingShare);
  const isEnabledAgain = new Random(`${simulation.seed}/enabled again`).chance(enabledShare);
  if (!isLeft && !isEnabledAgain) return;
  const shop = random.pick(shops);
  receivers.areAway = true;
  await asked(healing, 10 * settleMs, async () => {
    const endpoint = { url: 'https://hooks.example/away', enabled_events: ['*'] };
    const made = await clients.post(shop, '/v1/webhook_endpoints', endpoint, { isCreation: true });
    if (made?.status !== 200) return;
    for (let i = random.between(1, 12); i > 0; i--)
      await clients.post(
        shop,
        '/v1/payment_intents',
        { amount: 20_000, currency: 'mad' },
        { isCreation: true },
      );
    const change = (disabled: boolean) => {
      const changed = { disabled, metadata: { changed: 'yes' } };
      return clients.post(shop, `/v1/webhook_endpoints/${JSON.parse(made.text).id}`, changed);
    };
    await change(true);
    if (!isLeft) await change(false);
  });
  receivers.areAway = false;
  await until(simulation.nowMs + settleMs, () => host.isIdle);
}

/**
 * Somebody puts the wall clock forward, for good: by how much. The service follows it, and keeps what it has by the time that
 * passes.
 */
async function putForward({ world, until }: Healing<Runs>): Promise<number> {
  const { simulation, clocks } = world;
  const random = new Random(`${simulation.seed}/clock put forward`);
  if (world.hasNodes || !random.chance(putForwardShare)) return 0;
  const byMs = Math.floor(random.skewed(2 * believedAfterMs, 20 * hourMs));
  clocks.step(byMs);
  world.note('the wall clock is put forward');
  await follow(world, until);
  return byMs;
}

/** The service has noticed a step of the wall clock by the time that minutes pass, and follows. */
async function follow({ simulation }: World, until: Until): Promise<void> {
  await until(simulation.nowMs + writtenMs, () => false);
  simulation.nowMs += believedAfterMs;
  await until(simulation.nowMs + writtenMs, () => false);
}

/**
 * Somebody puts the wall clock back, and the service follows it: what is made from then on was created before what was made last,
 * and comes after it. So it is listed, also by the time at which it was created.
 */
async function listAfterStep(healing: Healing<Runs>, nextNumber: () => number): Promise<void> {
  const { world, host, clients, shops, until } = healing;
  const { simulation, clocks } = world;
  const random = new Random(`${simulation.seed}/clock put back`);
  if (world.hasNodes || !random.chance(putBackShare)) return;
  const make = async () => {
    for (let i = random.between(2, 8); i > 0; i--)
      act({ ...healing, service: () => host.service }, random.pick(made), nextNumber());
    await until(simulation.nowMs + settleMs, () => clients.outstanding === 0 && host.isIdle);
  };
  await make();
  clocks.step(-Math.floor(random.skewed(2 * believedAfterMs, 6 * hourMs)));
  world.note('the wall clock is put back');
  await follow(world, until);
  await make();
  if (clients.links.length > 0) await makeLinks(healing, nextNumber);
  await asked(healing, 10 * settleMs, async () => {
    for (const shop of shops) await followLists(world, clients, shop, random, 0.9);
  });
}

/** A link that is made then lasts as long as any other, although its end lies before the time that has passed. */
async function makeLinks(healing: Healing<Runs>, nextNumber: () => number): Promise<void> {
  const { world, host, clients, until } = healing;
  const service = () => host.service;
  for (let i = 0; i < 3; i++) act({ ...healing, service }, 'create link', nextNumber());
  await until(world.simulation.nowMs + settleMs, () => clients.outstanding === 0 && host.isIdle);
  await asked(healing, settleMs, async () => {
    for (const { id, shop } of clients.links)
      await tell({ service, clients, shop }, { kind: 'view_link', id });
  });
}

function auditRetention({ judge }: World, records: ReadonlyMap<string, StoredRecord>, beganMs: number): void {
  const left = ofKind(records, 'event').find((event) => event.created * 1_000 <= beganMs);
  judge.check('what is past its retention goes', left === undefined, () => `${left!.id} is there still`);
  const waiting = ofKind(records, 'delivery').find(
    ({ status, event }) => status === 'pending' && !records.has(event),
  );
  judge.check(
    'what is past its retention goes',
    waiting === undefined,
    () => `${waiting!.id} waits, and its event ${waiting!.event} is gone`,
  );
}
