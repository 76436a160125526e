// The cap of a day counts on when the service starts again: what was used up stays used up until midnight.

import { moroccoDayAt } from '../../../src/core/morocco-day.ts';
import { withDailyCap } from '../../../src/directory/organization.ts';
import type { Clients, Shop } from './clients.ts';
import { asked, type Healing } from './healing.ts';

/** Counts are written once a second. */
const writtenMs = 4_000;
const settleMs = 60_000;
const lifted = 1_000_000;

export async function auditDayCap(healing: Healing): Promise<void> {
  const { world, host, clients, operators, shops, until } = healing;
  const { settings, simulation, clocks, judge } = world;
  const { dayCap } = settings;
  if (dayCap === 0) return;
  const shop = shops[0]!;
  const done = (work: () => Promise<unknown>) => asked(healing, 10 * settleMs, work);
  const capAt = (requests: number, paymentCreations = lifted) =>
    operators.run((directory) =>
      directory.changeOrganization(shop.org, (each) =>
        withDailyCap(each, 'test', { requests, paymentCreations }),
      ),
    );
  const isRefused = async () => (await clients.get(shop, '/v1/account')) === null;
  await done(() => capAt(dayCap));
  let admitted = 0;
  await done(async () => {
    while (admitted <= dayCap && !(await isRefused())) admitted++;
  });
  judge.check(
    'limits are never exceeded',
    admitted <= dayCap,
    () => `more than ${dayCap} are admitted on a day`,
  );
  const day = moroccoDayAt(clocks.wall());
  await until(simulation.nowMs + writtenMs, () => false);
  host.crash(false, 100);
  await until(simulation.nowMs + settleMs, () => host.isReady);
  await done(async () => {
    const isHeld = (await isRefused()) || moroccoDayAt(clocks.wall()) !== day;
    judge.check('limits are never exceeded', isHeld, () => `a cap of ${dayCap} a day is lifted by a start`);
  });
  await done(() => capAt(lifted, dayCap));
  await done(async () => {
    let made = 0;
    while (made <= dayCap && (await makesIntent(clients, shop))) made++;
    judge.check('limits are never exceeded', made <= dayCap, () => `more than ${dayCap} are made on a day`);
  });
  await done(() => capAt(lifted));
  await until(simulation.nowMs + 10 * settleMs, () => host.isIdle);
  // What is done last is appended a moment later.
  await until(simulation.nowMs + 1_000, () => false);
}

/** Nobody waits until midnight. */
async function makesIntent(clients: Clients, shop: Shop): Promise<boolean> {
  const params = { amount: 20_000, currency: 'mad' };
  return (await clients.post(shop, '/v1/payment_intents', params, { isCreation: true })) !== null;
}
