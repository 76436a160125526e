// What is done to the service in a run: its settings and its steps, made from the seed before the run begins. A step says
// when and what; whom it concerns follows from its own number and from what is there by then. So a step can be left out and
// the others still mean something, which is how a trace is made shorter.

import type { ClientBounds } from '../../src/shard/lane.ts';
import { type ClusterFaultKind, hasNodes, planWithNodes } from './cluster-plan.ts';
import { Random } from './kernel/random.ts';
import {
  withAloneServers,
  withCancelsAmidPayments,
  withCrowdedOutboxes,
  withDamage,
  withDeadEdges,
  withEndsAmidWork,
  withEndsAtCommits,
  withExportsAndLimits,
  withFailingReceivers,
  withForgottenCalls,
  withFrozenBeats,
  withFullDisks,
  withHostedCards,
  withInvitations,
  withLateDecisions,
  withLaterStart,
  withLinks,
  withOddBodies,
  withOddities,
  withOvertakenOwners,
  withPacedReceivers,
  withPeople,
  withReaders,
  withRefusedOutcomes,
  withSlowProcessors,
  withStuckThreads,
  withTools,
  withTwoDatabases,
  withVisits,
} from './plan-additions.ts';

/** What a run injects; each seed has some of them only, so that no fault always hides another one. */
export const faultKinds = [
  'kill',
  'kill in the middle',
  'power cut',
  'power cut in the middle',
  'end at a commit',
  'end amid work',
  'failed commit',
  'full disk',
  'low disk at an outcome',
  'slow disk',
  'dead shard thread',
  'overtaken owner',
  'stop',
  'reshard',
  'clock set',
  'suspended',
  'dead webhook thread',
  'dead edge thread',
  'lying sync',
  'backup',
  'restore elsewhere',
  'lost machine',
  'damage',
  'read the logs',
  'compact',
  'scrub',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** What clients, customers and operators do. */
export const actKinds = [
  'create intent',
  'create session',
  'create customer',
  'create endpoint',
  'create link',
  'open link',
  'change link',
  'confirm',
  'pay by card',
  'choose method',
  'abandon charge',
  'complete charge',
  'fail charge',
  'pay cash',
  'update intent',
  'cancel intent',
  'expire session',
  'update customer',
  'delete customer',
  'refund',
  'decide refund',
  'decide review',
  'change endpoint',
  'delete endpoint',
  'retrieve',
  'list',
  'send again',
  'use a key again',
  'reach for another',
  'flood',
  'crowd',
  'read on',
  'odd request',
  'look around',
  'export',
  'change limit',
  'bad request',
  'odd body',
  'whole payment',
  'cancel amid payment',
  'send in other words',
  'operator',
  'invite people',
  'member',
  'settle call',
] as const;
export type ActKind = (typeof actKinds)[number];

export interface Step {
  readonly atMs: number;
  readonly kind: 'act' | 'fault';
  readonly what: ActKind | FaultKind | ClusterFaultKind;
  /** Where the step's own chance comes from. */
  readonly number: number;
}

export interface Settings {
  /** The nodes that share the service over PostgreSQL; 0: the data folder alone has everything. */
  readonly nodes: number;
  /** The node that has the lease has the others run shards; plans from before that don't say. */
  readonly lends?: boolean;
  /** The first partition whose log a second database has; plans from before that don't say, and have one. */
  readonly secondFrom?: number;
  /** A call that is sent twice has two effects at the networks of live mode. */
  readonly repeatsEffects: boolean;
  readonly shards: number;
  readonly organizations: number;
  readonly checkpointIntervalMs: number;
  readonly segmentBytesMax: number;
  /** With more than that, segments go early and the stored responses in them move to the checkpoint. */
  readonly logBytesMax: number;
  /** Shares of the memory: small ones make evictions and checkpoints frequent. */
  readonly cacheBytesMax: number;
  readonly checkpointBytes: number;
  readonly unwrittenBytesMax: number;
  /** The requests a minute that the first organization may send in live mode; 0: as many as others. */
  readonly tightLimit: number;
  /** What the first organization may send on a day of test mode, once everything is healed; 0: it is not tried. */
  readonly dayCap: number;
  /** The age at which the log is archived; 0: it is not archived. */
  readonly archiveAgeMs: number;
  /** What may wait for a shard at the edge; null: more than anybody sends. */
  readonly bounds: ClientBounds | null;
  /** When the run begins, after noon; plans from before that don't say. */
  readonly pastNoonMs?: number;
  /** How fast the clocks run wrong. */
  readonly drift: number;
  /** The clocks of each node and server run wrong in their own way, too; plans from before that don't say. */
  readonly clocksDiffer?: boolean;
  /** How often a message between a client and the service is lost. */
  readonly lossRate: number;
  /** How often a call to a network goes wrong. */
  readonly bankTroubleRate: number;
  /** Of some calls it can't tell any more how they ended, and a person finds out; plans from before that don't say. */
  readonly forgetsCalls?: boolean;
  /** Some of what it decides later it decides after minutes; plans from before that don't say. */
  readonly decidesLate?: boolean;
  /** In live mode customers type their cards on the network's page. */
  readonly hasHostedCards: boolean;
  /** How often a receiver of webhooks fails. */
  readonly receiverTroubleRate: number;
  /** Those that fail are slow, all of them. */
  readonly receiversAreSlow: boolean;
  /** Each of them takes as long for whatever is sent to it; plans from before that don't say. */
  readonly receiversHavePaces?: boolean;
  /** What webhook threads may have of a shard; plans from before that don't say, and have room for all. */
  readonly outboxBytesMax?: number;
  /** Those that fail answer with an error, and few attempts are kept; plans from before that don't say. */
  readonly receiversRefuse?: boolean;
  /** How many attempts a webhook thread makes at once; plans from before that don't say. */
  readonly attemptsAtOnce?: number;
}

export interface Plan {
  readonly seed: string;
  readonly settings: Settings;
  readonly steps: readonly Step[];
}

const acts: readonly (readonly [weight: number, what: ActKind])[] = [
  [14, 'create intent'],
  [4, 'create session'],
  [3, 'create customer'],
  [2, 'create endpoint'],
  [12, 'confirm'],
  [9, 'pay by card'],
  [3, 'choose method'],
  [2, 'abandon charge'],
  [6, 'complete charge'],
  [2, 'fail charge'],
  [2, 'pay cash'],
  [6, 'update intent'],
  [3, 'cancel intent'],
  [1, 'expire session'],
  [2, 'update customer'],
  [1, 'delete customer'],
  [9, 'refund'],
  [3, 'decide refund'],
  [2, 'change endpoint'],
  [1, 'delete endpoint'],
  [6, 'retrieve'],
  [5, 'list'],
  [6, 'send again'],
  [2, 'use a key again'],
  [2, 'reach for another'],
  [1, 'flood'],
  [3, 'operator'],
];

/** The others come with the plans that have some. */
type ScatteredFault = Exclude<
  FaultKind,
  | 'dead edge thread'
  | 'lying sync'
  | 'backup'
  | 'restore elsewhere'
  | 'lost machine'
  | 'overtaken owner'
  | 'end at a commit'
  | 'end amid work'
  | 'low disk at an outcome'
  | 'read the logs'
  | 'compact'
  | 'scrub'
>;
const faultWeights: Readonly<Record<ScatteredFault, number>> = {
  kill: 3,
  'kill in the middle': 4,
  'power cut': 3,
  'power cut in the middle': 4,
  'failed commit': 3,
  'full disk': 1,
  'slow disk': 1,
  'dead shard thread': 2,
  stop: 1,
  reshard: 2,
  'clock set': 2,
  suspended: 1,
  'dead webhook thread': 1,
  damage: 1,
};

export function planOf(seed: string): Plan {
  if (!hasNodes(seed)) return planWithoutNodes(seed);
  const plan = planWithNodes(planWithoutCrowds(seed), (random) => weighted(random, acts));
  const disturbed = withSlowProcessors(withAloneServers(withFrozenBeats(withStuckThreads(plan))));
  const ended = withForgottenCalls(withEndsAtCommits(disturbed));
  const visited = withVisits(withInvitations(withCancelsAmidPayments(ended)));
  return withTwoDatabases(withLaterStart(withPacedReceivers(visited)));
}

export function planWithoutNodes(seed: string): Plan {
  const plan = withOvertakenOwners(withCrowds(planWithoutCrowds(seed)));
  const odd = withOddities(withReaders(withDamage(withHostedCards(withLinks(plan)))));
  const limited = withExportsAndLimits(withTools(odd));
  const ended = withFullDisks(withEndsAmidWork(withEndsAtCommits(limited)));
  const forgetful = withRefusedOutcomes(withForgottenCalls(ended));
  const decided = withCancelsAmidPayments(withLateDecisions(forgetful));
  const crowded = withPacedReceivers(withFailingReceivers(withCrowdedOutboxes(decided)));
  return withPeople(withLaterStart(withDeadEdges(withOddBodies(crowded))));
}

export type NewStep = Omit<Step, 'number'>;

/** The steps that there are keep their numbers. */
export function withSteps(plan: Plan, added: readonly NewStep[]): Plan {
  const numbered = added.map((step, i) => ({ ...step, number: plan.steps.length + i }));
  return { ...plan, steps: inOrder([...plan.steps, ...numbered]) };
}

function planWithoutCrowds(seed: string): Plan {
  const random = new Random(`${seed}/plan`);
  const sometimes = (probability: number, value: number) => (random.chance(probability) ? value : 0);
  const segmentBytesMax = Math.floor(random.skewed(20_000, 150_000));
  const settings: Settings = {
    nodes: 0,
    repeatsEffects: false,
    shards: random.between(1, 3),
    organizations: random.between(1, 3),
    checkpointIntervalMs: Math.floor(random.skewed(100, 6_000)),
    segmentBytesMax,
    logBytesMax: random.chance(0.6) ? Math.floor(segmentBytesMax * random.skewed(1, 4)) : 1e12,
    cacheBytesMax: Math.floor(random.skewed(4_000, 4_000_000)),
    checkpointBytes: Math.floor(random.skewed(1_500, 300_000)),
    unwrittenBytesMax: Math.floor(random.skewed(150_000, 4_000_000)),
    tightLimit: sometimes(0.3, random.between(30, 90)),
    dayCap: dayCapOf(new Random(`${seed}/day cap`)),
    archiveAgeMs: 0,
    bounds: null,
    drift: sometimes(0.5, (random.unit() - 0.5) * 0.002),
    lossRate: sometimes(0.6, random.unit() * 0.15),
    bankTroubleRate: sometimes(0.7, random.unit() * 0.4),
    hasHostedCards: false,
    receiverTroubleRate: sometimes(0.7, random.unit() * 0.5),
    receiversAreSlow: false,
  };
  const plan = { seed, settings, steps: withLies(stepsOf(random), random) };
  if (!random.chance(backedUpShare)) return plan;
  const archiveAgeMs = Math.floor(random.skewed(200, 10_000));
  return { seed, settings: { ...settings, archiveAgeMs }, steps: withBackups(plan.steps, random) };
}

function dayCapOf(random: Random): number {
  return random.chance(0.2) ? random.between(1, 30) : 0;
}

/** In some runs there are backups and an archive, which take their time. */
const backedUpShare = 0.2;
const lyingShare = 0.04;

const crowdedShare = 0.2;

/**
 * In some runs little may wait for a shard, and crowds come: mostly while the disk is slow, and now and then the power fails
 * meanwhile.
 */
function withCrowds(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/crowds`);
  if (!random.chance(crowdedShare)) return plan;
  const requests = random.between(20, 60);
  const bounds: ClientBounds = {
    sentMax: random.between(2, 16),
    sentBytesMax: random.between(4_000, 40_000),
    queue: {
      requests,
      bytes: requests * random.between(1_200, 3_000),
      organizationShare: random.pick([1, 1, 0.7]),
    },
  };
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = [];
  const add = (kind: Step['kind'], what: Step['what'], atMs: number) =>
    added.push({ atMs: Math.floor(atMs), kind, what });
  for (let i = random.between(1, 4); i > 0; i--) {
    const atMs = random.below(endMs);
    if (random.chance(0.7)) add('fault', 'slow disk', atMs);
    add('act', 'crowd', atMs + random.below(300));
    if (random.chance(0.5))
      add('fault', random.pick(['kill', 'power cut'] as const), atMs + random.skewed(150, 4_000));
  }
  const organizations = Math.max(2, plan.settings.organizations);
  const shards = random.chance(0.7) ? 1 : plan.settings.shards;
  const settings = { ...plan.settings, organizations, shards, bounds };
  return withSteps({ ...plan, settings }, added);
}

/** A backup early and others later, restores of them, and mostly the loss of the machine near the end. */
function withBackups(steps: readonly Step[], random: Random): Step[] {
  const endMs = steps.at(-1)!.atMs;
  let number = steps.length;
  const added: Step[] = [];
  const add = (what: FaultKind, atMs: number) =>
    added.push({ atMs: Math.floor(atMs), kind: 'fault', what, number: number++ });
  add('backup', random.below(endMs / 2));
  for (let i = random.between(0, 2); i > 0; i--) add('backup', random.below(endMs));
  for (let i = random.between(1, 3); i > 0; i--) add('restore elsewhere', endMs * (1 - random.unit() / 2));
  if (random.chance(0.6)) add('lost machine', endMs * (1 - random.unit() / 4));
  return inOrder([...steps, ...added]);
}

/** In few runs the disk says once that it has synced, and has not. */
function withLies(steps: readonly Step[], random: Random): readonly Step[] {
  if (!random.chance(lyingShare)) return steps;
  const atMs = random.below(steps.at(-1)!.atMs);
  return inOrder([...steps, { atMs, kind: 'fault', what: 'lying sync', number: steps.length }]);
}

function inOrder(steps: readonly Step[]): Step[] {
  return steps.toSorted((a, b) => a.atMs - b.atMs || a.number - b.number);
}

function stepsOf(random: Random): Step[] {
  const lengthMs = random.skewed(800, 30_000);
  const steps: Step[] = [];
  let number = 0;
  const add = (kind: Step['kind'], what: Step['what'], atMs: number) =>
    steps.push({ atMs: Math.floor(atMs), kind, what, number: number++ });
  // Something to begin with, so that few steps are for nothing.
  for (let i = random.between(0, 3); i > 0; i--) add('act', 'create endpoint', random.below(1_000));
  for (let i = random.between(25, 90); i > 0; i--) add('act', weighted(random, acts), random.below(lengthMs));
  const allowed = Object.keys(faultWeights).filter((kind): kind is ScatteredFault =>
    random.chance(kind === 'damage' ? 0.09 : 0.45),
  );
  const weights = allowed.map((kind) => [faultWeights[kind], kind] as const);
  if (weights.length > 0) {
    for (let i = random.between(0, 9); i > 0; i--)
      add('fault', weighted(random, weights), random.below(lengthMs));
  }
  return inOrder(steps);
}

function weighted<T>(random: Random, choices: readonly (readonly [weight: number, what: T])[]): T {
  let left = random.unit() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, what] of choices) {
    left -= weight;
    if (left < 0) return what;
  }
  return choices[0]![1];
}
