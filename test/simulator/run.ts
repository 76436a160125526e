// One run: plays a plan against the service on the simulated machine, restarts what crashes, and in the end heals everything
// and looks whether all is there. The same plan gives the same run, to the last byte of its trace.

import { activate, withLimit, withMethods } from '../../src/directory/organization.ts';
import type { ClusterFaultKind } from './cluster-plan.ts';
import { heal, healCluster } from './heal.ts';
import { type Counts, Finding } from './kernel/findings.ts';
import type { ActKind, FaultKind } from './plan.ts';
import { type Plan, planOf } from './plan.ts';
import { type ActContext, act } from './world/acts.ts';
import { Clients, type Shop } from './world/clients.ts';
import { Cluster } from './world/cluster.ts';
import { injectInCluster } from './world/cluster-faults.ts';
import { resetRequestIds } from './world/edge.ts';
import { inject } from './world/faults.ts';
import type { Until } from './world/healing.ts';
import { Host } from './world/host.ts';
import { Limits } from './world/limits.ts';
import { Operators } from './world/operators.ts';
import { World } from './world/world.ts';

export interface Outcome {
  readonly plan: Plan;
  readonly finding: Finding | null;
  readonly digest: string;
  readonly reached: Counts;
  readonly happened: Counts;
  readonly tasks: number;
  readonly lines: readonly string[];
}

const setUpMs = 30_000;
const methodsOn = { card: true, cash: true };

/** Plays a plan. With `isKept` the trace is kept. */
export async function run(plan: Plan = planOf('0'), isKept = false): Promise<Outcome> {
  resetRequestIds();
  const world = new World(plan.seed, plan.settings, isKept);
  const strays = (error: unknown) => {
    if ((error as Error).name === 'MachineDown') return;
    const what = `nobody takes ${(error as Error).stack ?? error}`;
    world.judge.found(new Finding('the service fails of what failed, and of nothing else', what));
  };
  process.on('unhandledRejection', strays);
  try {
    await play(world, plan);
  } catch (error) {
    world.judge.found(
      new Finding('the service fails of what failed, and of nothing else', (error as Error).stack!),
    );
  } finally {
    process.off('unhandledRejection', strays);
  }
  const { judge, happened, trace, simulation } = world;
  for (const { struck } of world.machines) happened.addAll(struck);
  if (judge.finding !== null) world.note(`FOUND: ${judge.finding.assertion}: ${judge.finding.message}`);
  const { finding, reached } = judge;
  return {
    plan,
    finding,
    digest: trace.digest,
    reached,
    happened,
    tasks: simulation.tasks,
    lines: trace.lines,
  };
}

async function play(world: World, plan: Plan): Promise<void> {
  const { simulation, judge } = world;
  const host = world.hasNodes ? new Cluster(world) : new Host(world);
  const service = () => host.service;
  const clients = new Clients(world, service);
  const operators = new Operators(world, clients, service);
  const until: Until = (untilMs, isDone) =>
    simulation.run(
      untilMs,
      () => judge.finding !== null || isDone(),
      () => host.afterTask(),
    );
  host.onShardStart = () => {
    for (const limits of clients.limits.values()) limits.started();
  };
  host.start();
  await until(setUpMs, () => host.isReady);
  const shops: Shop[] = [];
  clients.run(async () => {
    for (let i = 0; i < plan.settings.organizations; i++) shops.push(...(await openShops(operators, i)));
    await tighten(world, clients, operators, shops[1]!);
  });
  await until(setUpMs, () => clients.outstanding === 0);
  if (host instanceof Cluster) host.watch.askFor(shops.filter(({ livemode }) => !livemode));
  const beganMs = simulation.nowMs;
  const asking = { world, clients, operators, shops };
  const context: ActContext = { ...asking, service };
  // An operator sits at the machine, where there is one.
  const lane = simulation.lane('plan', world.hasNodes ? null : world.machine);
  for (const { atMs, kind, what, number } of plan.steps) {
    simulation.after(lane, atMs, () => {
      world.note(`step ${number}: ${what}`);
      if (kind === 'act') act(context, what as ActKind, number);
      else if (host instanceof Cluster) injectInCluster(world, host, what as ClusterFaultKind, number);
      else inject(world, host, what as FaultKind, number);
    });
  }
  await until(beganMs + (plan.steps.at(-1)?.atMs ?? 0) + 1_000, () => false);
  if (host instanceof Cluster) await healCluster({ ...asking, host, until });
  else await heal({ ...asking, host, until });
}

/** An organization with both modes on, and a key for each. */
async function openShops(operators: Operators, i: number): Promise<Shop[]> {
  const made = await operators.run((directory) =>
    directory.createOrganization(`Shop ${i}`, ['test', 'live']),
  );
  const { organization, keys } = made!;
  await operators.run((directory) => directory.changeOrganization(organization.id, activate));
  await operators.run((directory) =>
    directory.changeOrganization(organization.id, (each) => withMethods(each, 'live', methodsOn)),
  );
  return [
    { org: organization.id, livemode: false, apiKey: keys.test.secret },
    { org: organization.id, livemode: true, apiKey: keys.live.secret },
  ];
}

/** Some runs have an organization with a low limit, which is watched. */
async function tighten(world: World, clients: Clients, operators: Operators, shop: Shop): Promise<void> {
  const { tightLimit: perMinute } = world.settings;
  if (perMinute === 0) return;
  const limit = { perMinute, source: 'custom', untilMs: null } as const;
  await operators.run((directory) =>
    directory.changeOrganization(shop.org, (each, nowMs) => withLimit(each, 'live', 'all', limit, nowMs)),
  );
  clients.limits.set(shop.apiKey, new Limits(world, perMinute));
}
