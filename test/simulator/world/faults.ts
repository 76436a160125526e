// The faults that a plan injects. Each is counted, and does its part by the machine, the clocks or the host.

import type { Shard } from '../../../src/shard/shard.ts';
import { damageSomething } from '../disk/damage.ts';
import { placeOf } from '../disk/machine.ts';
import { Random } from '../kernel/random.ts';
import type { FaultKind } from '../plan.ts';
import type { Host } from './host.ts';
import type { ShardThread } from './shard-thread.ts';
import { webhookThreads } from './webhook-thread.ts';
import type { World } from './world.ts';

/** Steps of the wall clock together stay below this, or idempotency keys would be forgotten by a clock that is believed. */
const offMsMax = 6 * 3_600_000;

export function inject(world: World, host: Host, what: FaultKind, number: number): void {
  if (world.isHealed) return;
  const random = new Random(`${world.simulation.seed}/fault ${number}`);
  world.happened.add(`fault: ${what}`);
  faults[what]({ world, host, random });
}

interface Fault {
  readonly world: World;
  readonly host: Host;
  readonly random: Random;
}

/** Something that lasts, on the lane of nobody. */
function later(world: World, ms: number, action: () => void): void {
  const lane = world.simulation.lane('fault');
  world.simulation.after(lane, ms, () => {
    world.simulation.cut(lane);
    action();
  });
}

/** Does something when it is so, at the latest after some milliseconds. */
function when(world: World, isSo: () => boolean, withinMs: number, action: () => void): void {
  const untilMs = world.simulation.nowMs + withinMs;
  const look = () => {
    if (!isSo() && world.simulation.nowMs < untilMs) later(world, 0.5, look);
    else action();
  };
  look();
}

/** The thread of some shard, if that has recovered. */
function threadIn({ host, random }: Fault): ShardThread | undefined {
  const { shards = [] } = host.service ?? {};
  const thread = shards[random.below(shards.length || 1)];
  return thread?.shard && thread;
}

/** A shard's thread ends, mostly while a write is on its way. */
function endShard({ world, host, random }: Fault): void {
  const { machine } = world;
  const { service } = host;
  const number = random.below(service?.shards.length || 1);
  const thread = service?.shards[number];
  if (!thread) {
    world.happened.add('no shard to end');
    return;
  }
  const isWriting = () => [...machine.pending].some(({ lane }) => lane === thread.lane);
  when(world, isWriting, random.chance(0.7) ? 1_500 : 0, () =>
    service!.shardEnded(number, thread, new Error('the thread ends')),
  );
}

/**
 * A shard's thread ends while it writes a batch, which arrives behind the first one of its successor. Then that one ends, too, and
 * the next one has to do with what is on the disk.
 */
function overtakeShard({ world, host, random }: Fault): void {
  const { machine } = world;
  const { service } = host;
  const number = random.below(service?.shards.length || 1);
  const thread = service?.shards[number];
  if (!thread) {
    world.happened.add('no shard to end');
    return;
  }
  const ends = new Error('the thread ends');
  const isWriting = () => [...machine.pending].some(({ lane, rows }) => lane === thread.lane && rows === 1);
  when(world, isWriting, 3_000, () => {
    service!.shardEnded(number, thread, ends, true);
    const hasArrived = () => !machine.isOvertaking;
    when(world, hasArrived, 5_000, () =>
      later(world, random.skewed(0.1, 300), () => {
        const successor = service!.shards[number];
        if (successor) service!.shardEnded(number, successor, ends);
      }),
    );
  });
}

/** What waits for an endpoint that was deleted is being ended. */
const isDraining = ({ state }: Shard) => state.outboxes.draining.size > 0;
/** A network owes an outcome. The disk is not asked: nobody runs there who could. */
const isCalling = ({ state }: Shard) => [...state.openCalls.all()].length > 0;

/** Whether a shard is at something. */
function isAnywhere(host: Host, isUnderWay: (shard: Shard) => boolean): boolean {
  return host.service?.shards.some((thread) => thread?.shard && isUnderWay(thread.shard)) ?? false;
}

const downMs = (random: Random) => Math.floor(random.skewed(20, 20_000));

const faults: Readonly<Record<FaultKind, (fault: Fault) => void>> = {
  kill: ({ host, random }) => host.crash(false, downMs(random)),
  'power cut': ({ host, random }) => host.crash(true, downMs(random)),
  'kill in the middle': ({ host, random }) => host.crashIn(Math.floor(random.skewed(1, 600)), false),
  'power cut in the middle': ({ host, random }) => host.crashIn(Math.floor(random.skewed(1, 600)), true),
  'end at a commit'({ host, random }) {
    const path = random.pick(['/state/', '/state/', '/log/', '/directory/']);
    host.crashAtCommit(path, random.between(1, 4), random.chance(0.4));
  },
  'end amid work'(fault) {
    const { world, host, random } = fault;
    const { repeatsEffects } = world.settings;
    const isUnderWay = repeatsEffects ? isCalling : random.pick([isDraining, isDraining, isCalling]);
    const isSo = () => isAnywhere(host, isUnderWay);
    // A call that is on its way may arrive when the next process asks about it.
    const goneMs = repeatsEffects ? random.skewed(20, 300) : downMs(random);
    when(world, isSo, 5_000, () =>
      later(world, random.skewed(0.1, 50), () => host.crash(random.chance(0.4), goneMs)),
    );
  },
  'failed commit'({ world, random }) {
    world.machine.faults.push({
      fault: random.chance(0.8) ? 'io-error' : 'full',
      isWritten: random.chance(0.4),
      poisons: random.chance(0.5),
      path: random.pick(['/log/', '/log/', '/state/', '/directory/', '/']),
    });
  },
  'full disk'({ world, random }) {
    world.machine.volume.isFull = true;
    later(world, random.skewed(500, 10_000), () => {
      world.machine.volume.isFull = false;
    });
  },
  'low disk at an outcome'({ world, host, random }) {
    when(
      world,
      () => isAnywhere(host, isCalling),
      5_000,
      () => {
        if (world.isHealed) return;
        world.machine.volume.isLow = true;
        // So long that what is tried again waits for longer than operators do.
        later(world, random.between(6_000, 12_000), () => {
          world.machine.volume.isLow = false;
        });
      },
    );
  },
  'slow disk'({ world, random }) {
    world.machine.slowness = random.skewed(10, 1_500);
    later(world, random.skewed(500, 12_000), () => {
      world.machine.slowness = 1;
    });
  },
  'dead shard thread': endShard,
  'overtaken owner': overtakeShard,
  stop: ({ host }) => host.stop(),
  reshard({ host, random }) {
    host.reshard(random.between(1, 4));
    // Now and then it is killed on its way.
    if (random.chance(0.5)) host.crashIn(Math.floor(random.skewed(1, 4_000)), random.chance(0.5));
  },
  'clock set'({ world, random }) {
    const byMs = (random.chance(0.5) ? 1 : -1) * Math.floor(random.skewed(10, offMsMax));
    if (Math.abs(world.clocks.offMs + byMs) > offMsMax) return;
    world.clocks.step(byMs);
  },
  suspended({ world, random }) {
    // The process is stopped while time passes.
    world.simulation.nowMs += random.skewed(1_000, 3_600_000);
  },
  'dead edge thread': ({ host }) => host.service?.restartEdge(),
  'dead webhook thread': ({ host, random }) => host.service?.restartWebhooks(random.below(webhookThreads)),
  'lying sync'({ world, host, random }) {
    const { machine } = world;
    machine.isLying = true;
    later(world, random.skewed(300, 8_000), () => {
      machine.isLying = false;
      if (!world.isHealed && random.chance(0.7)) host.crash(true, downMs(random));
    });
  },
  backup({ host }) {
    if (host.isReady) host.backups.begin();
  },
  'restore elsewhere': ({ host, random }) => host.backups.restoreElsewhere(random),
  'lost machine': ({ host }) => host.lose(),
  'read the logs'({ host, random }) {
    if (host.isReady) host.backups.readLogs(random);
  },
  compact: (fault) => threadIn(fault)?.compact(),
  scrub: (fault) => threadIn(fault)?.scrub(),
  damage({ world, random }) {
    const place = damageSomething(world.machine.volume, random);
    if (place === null) return;
    world.happened.add(`damage: ${place.how} of the ${placeOf(place.path)}`);
    world.damages.push(place);
    world.isDamaged = true;
    world.isForgetful = false;
    world.note(`damaged: ${place.how} in ${place.path} ${place.row}`);
  },
};
