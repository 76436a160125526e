// One run: plays a plan against the service on the simulated machine, restarts what crashes, and in the end heals everything
// and looks whether all is there. The same plan gives the same run, to the last byte of its trace.

import { activate, withLimit, withMethods } from '../../src/directory/organization.ts';
import type { ClusterFaultKind } from './cluster-plan.ts';
import { type Counts, Finding } from './kernel/findings.ts';
import type { ActKind, FaultKind } from './plan.ts';
import { type Plan, planOf } from './plan.ts';
import { keepDisk, useTools } from './tools/tools.ts';
import { type ActContext, act } from './world/acts.ts';
import { auditAnswers, auditDamaged, auditRecordsAtEnd } from './world/audit-end.ts';
import { Clients, type Shop } from './world/clients.ts';
import { Cluster } from './world/cluster.ts';
import { injectInCluster } from './world/cluster-faults.ts';
import { auditDayCap } from './world/day-cap.ts';
import { keepShard } from './world/earlier-shard.ts';
import { inject } from './world/faults.ts';
import { Host } from './world/host.ts';
import { payAtLastMoment } from './world/last-moment.ts';
import { auditLater, hasLater } from './world/later.ts';
import { Limits } from './world/limits.ts';
import { Operators } from './world/operators.ts';
import { auditDamage } from './world/scrubbing.ts';
import { resetRequestIds } from './world/service.ts';
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
/** The time in which everything that was asked, owed and begun must be done once nothing is injected any more. */
const healingMs = 600_000;
/** What is older than this was noted: a write that was begun while the disk was slow takes up to 38 seconds. */
const notedMs = 45_000;
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
  const until = (untilMs: number, isDone: () => boolean) =>
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
  const beganMs = simulation.nowMs;
  const context: ActContext = { world, clients, operators, shops, service };
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
  if (host instanceof Cluster) await healCluster(world, host, clients, operators, shops, until);
  else await heal(world, host, clients, operators, shops, until);
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

/** The same of a cluster: in the end every mirror has what the log has, and another node takes over. */
async function healCluster(
  world: World,
  cluster: Cluster,
  clients: Clients,
  operators: Operators,
  shops: readonly Shop[],
  until: (untilMs: number, isDone: () => boolean) => Promise<boolean>,
): Promise<void> {
  const { simulation, judge } = world;
  world.note('everything is healed');
  world.isHealed = true;
  cluster.heal();
  const endMs = simulation.nowMs + healingMs;
  // Of what a wrong promotion has lost nobody can say more than that it is told.
  const isTold = () => world.isDamaged && cluster.nodes.some(({ refusal }) => refusal !== null);
  await until(endMs, () => isTold() || (clients.outstanding === 0 && cluster.isReady));
  if (judge.finding !== null || isTold()) return cluster.end();
  judge.check(
    'whatever was asked is answered in the end',
    clients.outstanding === 0 && cluster.isReady,
    () => (cluster.isReady ? `${clients.outstanding} requests have no answer` : 'no node serves'),
  );
  const isIdle = seldom(world, () => cluster.isIdle);
  await until(endMs, () => isTold() || isIdle());
  if (isTold()) return cluster.end();
  judge.check(
    'whatever was asked is answered in the end',
    cluster.isIdle,
    () => `${cluster.openWork} are open still`,
  );
  if (!world.isDamaged) {
    clients.run(() => auditAnswers(world, clients, operators, shops));
    await until(endMs + healingMs, () => clients.outstanding === 0);
    await until(endMs + healingMs, isIdle);
    if (judge.finding === null) auditRecordsAtEnd(world, clients, cluster.records());
  }
  if (judge.finding === null) await auditMirrors(world, cluster, until);
  const { serving, starts } = cluster;
  cluster.stop();
  await until(
    simulation.nowMs + healingMs,
    () => cluster.starts > starts && cluster.isReady && cluster.serving !== serving,
  );
  if (judge.finding === null)
    judge.check('the service starts on what a crash leaves', cluster.isReady, () => 'no node takes over');
  cluster.end();
}

const glanceMs = 5;

/** Asks now and then, because to ask after each task takes long. */
function seldom({ simulation }: World, isSo: () => boolean): () => boolean {
  let nextMs = 0;
  return () => {
    if (simulation.nowMs < nextMs) return false;
    nextMs = simulation.nowMs + glanceMs;
    return isSo();
  };
}

const followedMs = 10_000;

/** Nothing happens any more but what the clock does: soon every node has all of the log. */
async function auditMirrors(
  { simulation, judge }: World,
  cluster: Cluster,
  until: (untilMs: number, isDone: () => boolean) => Promise<boolean>,
): Promise<void> {
  await until(simulation.nowMs + followedMs, () => cluster.strayMirror === null);
  judge.check('a mirror holds what the log holds', cluster.strayMirror === null, () => cluster.strayMirror!);
}

async function heal(
  world: World,
  host: Host,
  clients: Clients,
  operators: Operators,
  shops: readonly Shop[],
  until: (untilMs: number, isDone: () => boolean) => Promise<boolean>,
): Promise<void> {
  const { simulation, judge } = world;
  world.note('everything is healed');
  world.isHealed = true;
  world.machine.slowness = 1;
  world.machine.volume.isFull = false;
  world.machine.isLying = false;
  world.machine.faults.length = 0;
  world.clocks.correct();
  const earlier = keepShard(world);
  const kept = host.isRestoring ? null : keepDisk(world);
  const endMs = simulation.nowMs + healingMs;
  if (world.isDamaged) await until(endMs, auditDamage(world));
  await until(endMs, () => clients.outstanding === 0 && host.isReady);
  const isDown = () => world.isDamaged && !host.isReady;
  if (judge.finding !== null || isDown()) return;
  judge.check('whatever was asked is answered in the end', clients.outstanding === 0 && host.isReady, () =>
    host.isReady ? `${clients.outstanding} requests have no answer` : 'the service does not start',
  );
  if (world.isDamaged) {
    // Memory has what was there before the damage, so it is left and the disk is read.
    host.crash(false, 100);
    await until(endMs, () => host.isReady);
    clients.run(() => auditDamaged(world, clients, shops));
    await until(endMs + healingMs, () => clients.outstanding === 0 || isDown());
    return;
  }
  const isIdle = () => host.isIdle && world.hostedCards?.isIdle !== false;
  await until(endMs, seldom(world, isIdle));
  judge.check('whatever was asked is answered in the end', isIdle(), () => `${host.openWork} are open still`);
  clients.run(() => auditAnswers(world, clients, operators, shops));
  await until(endMs + healingMs, () => clients.outstanding === 0);
  await until(
    endMs + healingMs,
    seldom(world, () => host.isIdle),
  );
  const waiting = host.service?.waiting ?? 0;
  judge.check('what waits is bounded', waiting === 0, () => `${waiting} wait that were answered`);
  for (const limits of clients.limits.values()) limits.audit();
  if (judge.finding === null) await auditDayCap(world, host, clients, operators, shops[0]!, until);
  if (judge.finding === null) await payAtLastMoment(world, host, clients, shops[0]!, until);
  // What came due meanwhile may be under way.
  await until(
    simulation.nowMs + healingMs,
    seldom(world, () => host.isIdle),
  );
  if (judge.finding === null) auditRecordsAtEnd(world, clients, host.records());
  if (judge.finding === null && earlier?.isOlder()) {
    await until(simulation.nowMs + notedMs, () => false);
    host.putBack(earlier);
    await until(simulation.nowMs + healingMs, () => host.isReady);
  }
  if (judge.finding === null && kept !== null)
    await until(simulation.nowMs + healingMs, useTools(world, kept));
  if (judge.finding === null && hasLater(world)) await auditLater(world, host, clients, until);
  // Once more as it is left: all that was told must be there after a stop and a start.
  host.stop();
  await until(simulation.nowMs + healingMs, () => host.isReady && host.starts > 1);
  if (judge.finding === null)
    judge.check('the service starts on what a crash leaves', host.isReady, () => 'it does not start again');
  host.end();
}
