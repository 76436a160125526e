// The faults of runs with nodes: of the nodes, of the links between them and PostgreSQL, and of PostgreSQL. Whatever goes on
// again after a while is a disturbance, too.

import type { ClusterFaultKind } from '../cluster-plan.ts';
import { Random } from '../kernel/random.ts';
import type { Lane } from '../kernel/simulation.ts';
import type { PostgresServer } from '../postgresql/server.ts';
import type { PostgresServers } from '../postgresql/servers.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './cluster-node.ts';
import { timing } from './timing.ts';
import type { World } from './world.ts';

interface Fault {
  readonly world: World;
  readonly cluster: Cluster;
  readonly random: Random;
}

export function injectInCluster(
  world: World,
  cluster: Cluster,
  what: ClusterFaultKind,
  number: number,
): void {
  if (world.isHealed) return;
  const random = new Random(`${world.simulation.seed}/fault ${number}`);
  world.happened.add(`fault: ${what}`);
  cluster.disturbed();
  faults[what]({ world, cluster, random });
}

/** Something happens later, unless everything is healed by then. */
function later({ world, cluster }: Fault, ms: number, action: () => void): void {
  const { simulation } = world;
  const lane = simulation.lane('fault');
  simulation.after(lane, ms, () => {
    simulation.cut(lane);
    if (world.isHealed) return;
    cluster.disturbed();
    action();
  });
}

/** Mostly the node that serves. */
function nodeOf({ cluster, random }: Fault): ClusterNode {
  return (random.chance(0.7) ? cluster.serving : null) ?? random.pick(cluster.nodes);
}

/** Whoever has waited so long for the standbys asks once more whether they are named. */
const waitedMs = 150;

/** Such a node, and another one. */
function twoNodes(fault: Fault): readonly [string, string] {
  const { cluster, random } = fault;
  const { name } = nodeOf(fault).machine;
  const others = cluster.nodes.map(({ machine }) => machine.name).filter((each) => each !== name);
  return [name, random.pick(others)];
}

/** One of the databases. */
function databaseOf({ cluster, random }: Fault): PostgresServers {
  const { all, first } = cluster.databases;
  return all.length === 1 ? first : random.pick(all);
}

const downMs = (random: Random) => Math.floor(random.skewed(100, 15_000));
/** Less than the service may take to be back. */
const stuckMsMax = 4_400;
/** Longer than nodes take to notice whatever they do. */
const lostMs = [8_000, 25_000] as const;
/** Also for longer than attempts of the node before keep the other one from its own. */
const visitMs = [1_500, 14_000] as const;
/** After that a standby is promoted, once the primary is gone. */
const promotedMsMax = 4_000;
const awayMs = (random: Random) => random.skewed(300, 10_000);

function freeze(fault: Fault, isSuspended: boolean): void {
  nodeOf(fault).freeze(awayMs(fault.random), isSuspended);
}

/**
 * The threads of the lease and of the shards stand still, and others send them what they believe to be in time. The shards go on
 * when another node has taken over, and hear of that a little later.
 */
function stickThreads(fault: Fault): void {
  const { world, cluster, random } = fault;
  const node = cluster.serving;
  const lanes = node?.service?.lanesOfOwner;
  if (node === null || lanes === undefined) return;
  const { lease, shards } = lanes;
  const stick = (threads: readonly Lane[], isStuck: boolean) => {
    for (const thread of threads) thread.isStuck = isStuck;
    world.note(`${node.machine.name}: ${threads.length} threads ${isStuck ? 'stand still' : 'go on'}`);
  };
  stick([...lease, ...shards], true);
  const takenMs = random.between(timing.takeMs + timing.beatMs, stuckMsMax);
  later(fault, takenMs, () => stick(shards, false));
  later(fault, takenMs + random.between(5, 500), () => stick(lease, false));
}

/** The threads of a node go on slowly, each in its turn, and the others wait for them. */
function slowDown(fault: Fault): void {
  const { world, random } = fault;
  const { machine } = nodeOf(fault);
  machine.restMs = random.skewed(0.3, 15);
  world.note(`${machine.name} is slow: a thread rests for ${machine.restMs.toFixed(1)} ms after each task`);
  later(fault, random.between(1_000, stuckMsMax), () => {
    machine.restMs = 0;
    world.note(`${machine.name} is as fast as it was`);
  });
}

/** The node that serves is frozen while a beat is answered, and goes on with the answer when another node has taken over. */
function freezeAtBeat({ world, cluster, random }: Fault): void {
  const takenMs = random.between(timing.takeMs + timing.beatMs, stuckMsMax);
  cluster.databases.first.primary.atBeat = (name) => {
    if (world.isHealed) return;
    cluster.disturbed();
    cluster.named(name)!.freeze(takenMs, false);
  };
}

/**
 * An operator has a partition run on another node for a while, and then again where it ran before, which may have kept some of it:
 * mostly on the node that serves, whose webhook threads go on meanwhile.
 */
function visit(fault: Fault): void {
  const { world, cluster, random } = fault;
  const here = cluster.serving?.service?.owned ?? [];
  const partition = here.length > 0 ? random.pick(here)[0] : random.below(world.settings.shards);
  const home = cluster.runs(partition)?.service;
  const others = cluster.nodes.flatMap(({ service }) =>
    service === null || service === home ? [] : [service],
  );
  if (!home || others.length === 0) return;
  const { primary } = cluster.databases.of(partition);
  primary.wantAt(partition, random.pick(others).process);
  later(fault, random.between(...visitMs), () =>
    cluster.databases.of(partition).primary.wantAt(partition, home.process),
  );
}

/** One way or both, between a node and PostgreSQL mostly. */
function cutLink(fault: Fault): void {
  const { world, cluster, random } = fault;
  const { links, serving } = cluster;
  const servers = databaseOf(fault);
  const [node, other] = twoNodes(fault);
  const places = servers.all.map(({ name }) => name);
  const ways: (readonly [string, string])[] = [];
  const kind = random.pick(['primary', 'all', 'all', 'node', 'node', 'standbys'] as const);
  if (kind === 'primary') ways.push([node, servers.primary.name]);
  else if (kind === 'all') for (const place of places) ways.push([node, place]);
  else if (kind === 'node') ways.push([node, other]);
  else for (const { name } of servers.standbys) ways.push([servers.primary.name, name]);
  const which = random.pick(['there', 'back', 'both'] as const);
  const cut = ways.flatMap(([from, to]) => [
    ...(which === 'back' ? [] : [[from, to] as const]),
    ...(which === 'there' ? [] : [[to, from] as const]),
  ]);
  const cutFor = (ms: number) => {
    cluster.disturbed();
    world.note(`cut: ${cut.map((way) => way.join(' to ')).join(', ')}`);
    for (const [from, to] of cut) links.cut(from, to);
    later(fault, ms, () => {
      for (const [from, to] of cut) links.heal(from, to);
      world.note(`no longer cut: ${cut.map((way) => way.join(' to ')).join(', ')}`);
    });
  };
  const ms = awayMs(random);
  if (serving?.machine.name !== node || random.chance(0.5)) {
    cutFor(ms);
    return;
  }
  // What the node has just sent to its log arrives when another one has taken over.
  const takenMs = timing.takeMs + random.between(1_000, 3_000);
  serving.machine.atAppend = () => {
    if (!world.isHealed) cutFor(Math.max(ms, takenMs));
  };
}

/** A link between two nodes is reset, of which one of them hears at once. */
function resetLink(fault: Fault): void {
  const { world, cluster } = fault;
  const [node, other] = twoNodes(fault);
  world.note(`the link from ${node} to ${other} is reset`);
  cluster.links.reset(node, other);
}

function restart(fault: Fault, server: PostgresServer, isSilent: boolean, afterMs: number): void {
  fault.world.note(`PostgreSQL ${server.name} ends${isSilent ? ' with its machine' : ''}`);
  server.crash(isSilent);
  later(fault, afterMs, () => {
    fault.world.note(`PostgreSQL ${server.name} starts`);
    server.start();
  });
}

/** The primary goes, or nobody reaches it; a standby is promoted; later the old one is back, and then follows the new one. */
function promote(fault: Fault, servers: PostgresServers, gone: 'ends' | 'stays', isWrong: boolean): void {
  const { world, cluster, random } = fault;
  const old = servers.primary;
  if (!old.isRunning || old.isFrozen) return;
  if (gone === 'stays') old.isFrozen = true;
  else old.crash(random.chance(0.5));
  world.note(`PostgreSQL ${old.name} ${gone === 'stays' ? 'is frozen' : 'ends'}`);
  later(fault, random.skewed(200, promotedMsMax), () => {
    const acknowledged = old.acknowledged;
    if (servers.primary !== old || servers.promote(random, isWrong) === null) {
      old.isFrozen = false;
      return old.start();
    }
    const { primary } = servers;
    const isLost = acknowledged > primary.log.length;
    world.note(`PostgreSQL ${primary.name} is promoted${isLost ? ', and lacks what was acknowledged' : ''}`);
    if (isLost) {
      world.happened.add('a wrong promotion');
      cluster.lost(servers);
      world.isForgetful = !world.isDamaged;
      world.isDamaged = true;
    }
    later(fault, random.skewed(200, 6_000), () => {
      world.note(`PostgreSQL ${old.name} is back, as the primary that it was`);
      old.isFrozen = false;
      old.start();
      later(fault, random.skewed(500, 4_000), () => {
        if (servers.primary === old) return;
        world.note(`PostgreSQL ${old.name} follows ${servers.primary.name}`);
        old.followAnew(servers.primary);
      });
    });
  });
}

/** The standby that is promoted in so long lacks what comes from now on. */
function promoteWrongly(fault: Fault, servers: PostgresServers, inMs: number): void {
  const { links } = fault.cluster;
  const { primary } = servers;
  const [first] = servers.standbys;
  if (first === undefined) return;
  links.cut(primary.name, first.name);
  later(fault, inMs, () => {
    promote(fault, servers, 'ends', true);
    // What was sent to it must not arrive before.
    later(fault, promotedMsMax, () => links.heal(primary.name, first.name));
  });
}

const faults: Readonly<Record<ClusterFaultKind, (fault: Fault) => void>> = {
  'kill node': (fault) => nodeOf(fault).crash(false, downMs(fault.random)),
  'end of a node at a commit'(fault) {
    const path = fault.random.pick(['/state/', '/state/', '/log/', '/directory/']);
    nodeOf(fault).crashAtCommit(path, fault.random.between(1, 4), fault.random.chance(0.4));
  },
  'power cut of a node': (fault) => nodeOf(fault).crash(true, downMs(fault.random)),
  'freeze node': (fault) => freeze(fault, false),
  'suspend node': (fault) => freeze(fault, true),
  'freeze node at a beat': freezeAtBeat,
  'stuck threads': stickThreads,
  'slow processor': slowDown,
  'stop node': (fault) => nodeOf(fault).stop(),
  'clock of a node set'(fault) {
    const { random } = fault;
    nodeOf(fault).machine.clocks.step(
      (random.chance(0.5) ? 1 : -1) * Math.floor(random.skewed(10, 3_600_000)),
    );
  },
  'move the lease'({ cluster, random }) {
    cluster.databases.first.primary.nameSuccessor(random.pick(cluster.nodes).machine.name);
  },
  /** An operator has a partition run on a node, or anywhere. */
  'move a partition'({ world, cluster, random }) {
    const node = random.pick([null, ...cluster.nodes]);
    const partition = random.below(world.settings.shards);
    cluster.databases.of(partition).primary.wantAt(partition, node?.service?.process ?? null);
  },
  'partition visits': visit,
  'cut link': cutLink,
  'slow link'(fault) {
    const { cluster, random } = fault;
    const name = random.pick([nodeOf(fault).machine.name, databaseOf(fault).primary.name]);
    cluster.links.slow(name, random.skewed(5, 200));
    later(fault, awayMs(random), () => cluster.links.slow(name, 1));
  },
  'broken connections'(fault) {
    const { world, cluster, random } = fault;
    if (world.settings.lends && random.chance(0.5)) return resetLink(fault);
    const [node, other] = twoNodes(fault);
    cluster.links.breakSilently(databaseOf(fault).primary.name, node, 0.5);
    if (random.chance(0.5)) cluster.links.breakSilently(node, other, 0.5);
    else cluster.links.breakSilently(other, node, 0.5);
  },
  'lost answers'(fault) {
    const { cluster, random } = fault;
    for (const session of databaseOf(fault).primary.sessions)
      if (random.chance(0.5)) session.losesAnswer = true;
    const { links } = cluster;
    const [node, other] = twoNodes(fault);
    links.loseAnswers(node, other, 0.7);
    later(fault, awayMs(random), () => links.loseAnswers(node, other, 0));
  },
  'restart PostgreSQL'(fault) {
    const { random } = fault;
    const servers = databaseOf(fault);
    const server = random.chance(0.7) ? servers.primary : random.pick(servers.all);
    restart(fault, server, random.chance(0.3), random.skewed(100, 5_000));
  },
  'freeze PostgreSQL'(fault) {
    const { random } = fault;
    const server = random.pick(databaseOf(fault).all);
    server.isFrozen = true;
    later(fault, awayMs(random), () => {
      server.isFrozen = false;
    });
  },
  'cancel waits'(fault) {
    const { world, cluster, random } = fault;
    const { links } = cluster;
    const servers = databaseOf(fault);
    const { primary } = servers;
    // Something waits for the standbys, because none of them answers.
    for (const { name } of servers.standbys) links.cut(primary.name, name);
    later(fault, random.skewed(20, 2_000), () => {
      world.note(`${primary.cancelWaits()} waits are cancelled at PostgreSQL ${primary.name}`);
      const goesOn = () => {
        for (const { name } of servers.all) links.heal(primary.name, name);
      };
      // Mostly the primary is gone before they are there again.
      if (random.chance(0.5)) promote(fault, servers, 'ends', false);
      later(fault, random.skewed(50, 5_000), goesOn);
    });
  },
  'no standby named'(fault) {
    const { world, cluster, random } = fault;
    const { links } = cluster;
    const servers = databaseOf(fault);
    const { primary } = servers;
    const heal = () => {
      for (const { name } of servers.all) links.heal(primary.name, name);
      servers.nameStandbys(primary);
    };
    // None is left: whoever takes their names away has waited for them, and so has what is asked of the primary.
    for (const { name } of servers.standbys) links.cut(primary.name, name);
    const remove = () => {
      if (primary.waitMs < waitedMs) return later(fault, waitedMs, remove);
      world.note(`PostgreSQL ${primary.name} waits for no standby any more`);
      primary.nameStandbys('');
      // What it alone has can be seen there for a while; mostly it is gone before the standbys are back.
      if (random.chance(0.7))
        later(fault, random.skewed(1, 2_000), () => {
          if (servers.primary === primary) promote(fault, servers, 'ends', false);
        });
      later(fault, random.skewed(50, 5_000), heal);
    };
    later(fault, random.skewed(waitedMs, 2_000), remove);
  },
  promotion: (fault) => promote(fault, databaseOf(fault), 'ends', false),
  'two primaries': (fault) => promote(fault, databaseOf(fault), 'stays', false),
  'wrong promotion': (fault) => promoteWrongly(fault, databaseOf(fault), fault.random.skewed(300, 4_000)),
  /** The lease is taken while the node that serves is frozen, of which the standby has nothing that is promoted then. */
  'lease forgotten'(fault) {
    freezeAtBeat(fault);
    promoteWrongly(fault, fault.cluster.databases.first, timing.takeMs + fault.random.between(700, 2_500));
  },
  /** For long nobody reaches a database, or nothing answers there. */
  'lost database'(fault) {
    const { world, cluster, random } = fault;
    const { links, nodes } = cluster;
    const { all } = databaseOf(fault);
    const ms = random.between(...lostMs);
    const names = all.map(({ name }) => name).join(', ');
    if (random.chance(0.5)) {
      for (const server of all) restart(fault, server, random.chance(0.5), ms + random.below(1_000));
      return;
    }
    const ways = nodes.flatMap(({ machine }) => all.map(({ name }) => [machine.name, name] as const));
    world.note(`nobody reaches PostgreSQL ${names}`);
    for (const [node, server] of ways) links.cut(node, server);
    later(fault, ms, () => {
      world.note(`PostgreSQL ${names} is reached again`);
      for (const [node, server] of ways) links.heal(node, server);
    });
  },
};
