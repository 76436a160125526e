// The end of a run: everything is healed, and it is looked whether all is there.

import { keepDisk, useTools } from './tools/tools.ts';
import { auditAnswers, auditDamaged, auditRecordsAtEnd } from './world/audit-end.ts';
import type { Cluster } from './world/cluster.ts';
import { auditDayCap } from './world/day-cap.ts';
import { keepShard } from './world/earlier-shard.ts';
import type { Healing } from './world/healing.ts';
import { payAtLastMoment } from './world/last-moment.ts';
import { auditLater, hasLater, verifyWhatIsLeft } from './world/later.ts';
import { lookAtEndpoints } from './world/look-around.ts';
import { auditDamage } from './world/scrubbing.ts';
import { settleAll } from './world/settled-calls.ts';
import type { World } from './world/world.ts';

/** The time in which everything that was asked, owed and begun must be done once nothing is injected any more. */
const healingMs = 600_000;
/** What is older than this was noted: a write that was begun while the disk was slow takes up to 38 seconds. */
const notedMs = 45_000;
const followedMs = 10_000;
const glanceMs = 5;

export async function heal(healing: Healing): Promise<void> {
  const { world, host, clients, operators, shops, until } = healing;
  const { simulation, judge } = world;
  world.note('everything is healed');
  world.isHealed = true;
  world.machine.slowness = 1;
  world.machine.volume.isFull = false;
  world.machine.volume.isLow = false;
  world.machine.isLying = false;
  world.machine.faults.length = 0;
  world.machine.endsAt = null;
  world.clocks.correct();
  const earlier = keepShard(world);
  const kept = keepDisk(world);
  const endMs = simulation.nowMs + healingMs;
  if (world.settings.forgetsCalls && !world.isDamaged)
    clients.run(() => settleAll({ ...healing, service: () => host.service }));
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
  clients.run(() => lookAtEndpoints({ ...healing, service: () => host.service }));
  await until(endMs + healingMs, () => clients.outstanding === 0);
  await until(
    endMs + healingMs,
    seldom(world, () => host.isIdle),
  );
  const waiting = host.service?.waiting ?? 0;
  judge.check('what waits is bounded', waiting === 0, () => `${waiting} wait that were answered`);
  for (const limits of clients.limits.values()) limits.audit();
  if (judge.finding === null) await auditDayCap(healing);
  if (judge.finding === null) await payAtLastMoment(healing);
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
  if (judge.finding === null && hasLater(simulation.seed)) {
    await auditLater(healing);
    await verifyWhatIsLeft(healing);
  }
  // Once more as it is left: all that was told must be there after a stop and a start.
  host.stop();
  await until(simulation.nowMs + healingMs, () => host.isReady && host.starts > 1);
  if (judge.finding === null)
    judge.check('the service starts on what a crash leaves', host.isReady, () => 'it does not start again');
  host.end();
}

/** The same of a cluster: in the end every mirror has what the log has, and another node takes over. */
export async function healCluster(healing: Healing<Cluster>): Promise<void> {
  const { world, host: cluster, clients, operators, shops, until } = healing;
  const { simulation, judge } = world;
  world.note('everything is healed');
  world.isHealed = true;
  cluster.heal();
  const endMs = simulation.nowMs + healingMs;
  // Also after a wrong promotion: where it has lost nothing that a node has, the service goes on.
  if (world.settings.forgetsCalls)
    clients.run(() => settleAll({ ...healing, service: () => cluster.service }));
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
    clients.run(() => lookAtEndpoints({ ...healing, service: () => cluster.service }));
    await until(endMs + healingMs, () => clients.outstanding === 0);
    await until(endMs + healingMs, isIdle);
    if (judge.finding === null) await auditDayCap(healing);
    // A partition may be on its way to another node.
    await until(
      simulation.nowMs + healingMs,
      seldom(world, () => cluster.isReady && cluster.isIdle),
    );
    if (judge.finding === null) auditRecordsAtEnd(world, clients, cluster.records());
  }
  if (judge.finding === null) await auditMirrors(healing);
  // With nodes that takes several times as long: in some of these runs only.
  const isLater = hasLater(simulation.seed) && world.settings.pastNoonMs !== undefined;
  if (judge.finding === null && !world.isDamaged && isLater) await auditLater(healing);
  const { serving, starts } = cluster;
  cluster.stop();
  await until(
    simulation.nowMs + healingMs,
    () => isTold() || (cluster.starts > starts && cluster.isReady && cluster.serving !== serving),
  );
  if (judge.finding === null)
    judge.check(
      'the service starts on what a crash leaves',
      isTold() || cluster.isReady,
      () => 'no node takes over',
    );
  cluster.end();
}

/** Nothing happens any more but what the clock does: soon every node has all of the log. */
async function auditMirrors({ world, host: cluster, until }: Healing<Cluster>): Promise<void> {
  const { simulation, judge } = world;
  await until(simulation.nowMs + followedMs, () => cluster.strayMirror === null);
  judge.check('a mirror holds what the log holds', cluster.strayMirror === null, () => cluster.strayMirror!);
}

/** Asks now and then, because to ask after each task takes long. */
function seldom({ simulation }: World, isSo: () => boolean): () => boolean {
  let nextMs = 0;
  return () => {
    if (simulation.nowMs < nextMs) return false;
    nextMs = simulation.nowMs + glanceMs;
    return isSo();
  };
}
