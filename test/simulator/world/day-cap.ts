// The counts of a day go on when a shard is started again, wherever that is: what was used up stays used up until midnight,
// and no longer.

import { moroccoDayAt } from '../../../src/core/morocco-day.ts';
import { withDailyCap } from '../../../src/directory/organization.ts';
import type { LimitLevels } from '../../../src/shard/protocol.ts';
import { Random } from '../kernel/random.ts';
import { tell } from './acts.ts';
import type { Clients, Shop } from './clients.ts';
import { asked, type Healing } from './healing.ts';
import type { Operators } from './operators.ts';
import type { Runs } from './runs.ts';

/** Counts are written once a second. */
const writtenMs = 4_000;
const settleMs = 60_000;
const againMs = 50;
const lifted = 1_000_000;

export async function auditDayCap(healing: Healing<Runs>): Promise<void> {
  const { world, host, clients, operators, shops, until } = healing;
  const { settings, simulation, clocks, judge } = world;
  const { dayCap } = settings;
  if (dayCap === 0) return;
  const shop = shops[0]!;
  const random = new Random(`${simulation.seed}/starts within a day`);
  const done = (work: () => Promise<unknown>) => asked(healing, 10 * settleMs, work);
  const capAt = (requests: number, paymentCreations: number) =>
    changeCap(operators, shop, { requests, paymentCreations });
  const isAsked = async () => (await clients.get(shop, '/v1/account')) !== null;
  const isMade = () => makesIntent(clients, shop);
  for (const [what, isAdmitted] of [
    ['requests', isAsked],
    ['creations', isMade],
  ] as const) {
    let admitted = 0;
    await done(async () => {
      const most = (await countedToday(healing, shop))[what] + dayCap;
      await (what === 'requests' ? capAt(most, lifted) : capAt(lifted, most));
      while (admitted <= dayCap && (await isAdmitted())) admitted++;
    });
    judge.check(
      'limits are never exceeded',
      admitted <= dayCap,
      () => `${dayCap} ${what} are left of a day, and more are admitted`,
    );
    const day = moroccoDayAt(clocks.wall());
    await until(simulation.nowMs + writtenMs, () => false);
    await until(simulation.nowMs + settleMs, host.startAnew(shop.org, random));
    await done(async () => {
      const isHeld = !(await isAdmitted()) || moroccoDayAt(clocks.wall()) !== day;
      judge.check('limits are never exceeded', isHeld, () => `a start gives more ${what} on a day`);
    });
  }
  await done(() => capAt(lifted, lifted));
  await until(simulation.nowMs + 10 * settleMs, () => host.isIdle);
  // What is done last is appended a moment later.
  await until(simulation.nowMs + 1_000, () => false);
}

/** What may be made on a day is used up. Resolves with what looks, on another day, whether something can be made again. */
export async function useUpDay(healing: Healing<Runs>): Promise<() => Promise<void>> {
  const { world, clients, operators, shops } = healing;
  const shop = shops[0]!;
  const done = (work: () => Promise<unknown>) => asked(healing, 10 * settleMs, work);
  await done(async () => {
    const { creations } = await countedToday(healing, shop);
    await changeCap(operators, shop, { requests: lifted, paymentCreations: creations + 1 });
    for (let made = 0; made < 2 && (await makesIntent(clients, shop)); ) made++;
  });
  return async () => {
    await done(() => makesIntent(clients, shop));
    // Where two servers send the same, one of them may be refused because the other one has made it.
    const isMade = clients.keyed.at(-1)?.answered?.status === 200;
    world.judge.check(
      'nobody is refused within the limits',
      isMade || world.judge.finding !== null,
      () => 'what was made on a day counts on another one',
    );
    await done(() => changeCap(operators, shop, { requests: lifted, paymentCreations: lifted }));
  };
}

function changeCap(
  operators: Operators,
  shop: Shop,
  cap: { readonly requests: number; readonly paymentCreations: number },
) {
  return operators.run((directory) =>
    directory.changeOrganization(shop.org, (each) => withDailyCap(each, 'test', cap)),
  );
}

/** Asks until there is an answer. */
async function countedToday({ host, clients, world }: Healing<Runs>, shop: Shop) {
  const { org } = shop;
  while (world.judge.finding === null) {
    const asking = { service: () => host.service, clients, shop };
    const told = await tell(asking, { kind: 'limit_levels', org, livemode: false });
    if (told !== null) return (JSON.parse(told) as LimitLevels).today!;
    await clients.wait(againMs);
  }
  return { requests: 0, creations: 0 };
}

/** Nobody waits until midnight. */
async function makesIntent(clients: Clients, shop: Shop): Promise<boolean> {
  const params = { amount: 20_000, currency: 'mad' };
  return (await clients.post(shop, '/v1/payment_intents', params, { isCreation: true })) !== null;
}
