// What is done in a run with nodes: the machines, the links between them and PostgreSQL fail, and clients and operators are there
// right when something goes on again.

import { Random } from './kernel/random.ts';
import type { ActKind, Plan, Settings, Step } from './plan.ts';

/** What a run with nodes injects; each seed has some of them only. */
export const clusterFaultKinds = [
  'kill node',
  'power cut of a node',
  'freeze node',
  'suspend node',
  'stop node',
  'end of a node at a commit',
  'clock of a node set',
  'move the lease',
  'move a partition',
  'partition visits',
  'stuck threads',
  'slow processor',
  'freeze node at a beat',
  'cut link',
  'slow link',
  'broken connections',
  'lost answers',
  'restart PostgreSQL',
  'freeze PostgreSQL',
  'cancel waits',
  'no standby named',
  'promotion',
  'two primaries',
  'wrong promotion',
  'lease forgotten',
  'lost database',
] as const;
export type ClusterFaultKind = (typeof clusterFaultKinds)[number];

/** The others come with the plans that have some. */
type ScatteredFault = Exclude<
  ClusterFaultKind,
  | 'end of a node at a commit'
  | 'move a partition'
  | 'partition visits'
  | 'stuck threads'
  | 'slow processor'
  | 'freeze node at a beat'
  | 'no standby named'
  | 'lease forgotten'
  | 'lost database'
>;

const weights: Readonly<Record<ScatteredFault, number>> = {
  'kill node': 4,
  'power cut of a node': 2,
  'freeze node': 5,
  'suspend node': 2,
  'stop node': 2,
  'clock of a node set': 1,
  'move the lease': 1,
  'cut link': 5,
  'slow link': 2,
  'broken connections': 2,
  'lost answers': 3,
  'restart PostgreSQL': 3,
  'freeze PostgreSQL': 2,
  'cancel waits': 3,
  promotion: 3,
  'two primaries': 2,
  'wrong promotion': 0.5,
};

/** Those after which somebody wakes up who may believe to serve still. */
const wakes: ReadonlySet<ClusterFaultKind> = new Set(['freeze node', 'suspend node', 'cut link']);

/** Those after which a node may not hear from another one. */
const deafens: ReadonlySet<Step['what']> = new Set([...wakes, 'broken connections']);

const clusterShare = 0.2;
const lendingShare = 0.5;

export function hasNodes(seed: string): boolean {
  return new Random(`${seed}/nodes`).chance(clusterShare);
}

/** Settings are those that the seed has without nodes, as far as they go together. */
export function planWithNodes({ seed, settings }: Plan, acts: (random: Random) => ActKind): Plan {
  const random = new Random(`${seed}/nodes and links`);
  const nodes = random.pick([2, 3, 3]);
  const changed: Partial<Settings> = {
    nodes,
    shards: random.pick([1, 1, 2]),
    organizations: random.between(1, 2),
    clocksDiffer: new Random(`${seed}/drift of nodes`).chance(0.5),
    tightLimit: 0,
    archiveAgeMs: 0,
    repeatsEffects: random.chance(0.5),
    receiverTroubleRate: random.pick([0, 0.3, 0.9]),
    receiversAreSlow: new Random(`${seed}/slow receivers`).chance(0.4),
    bankTroubleRate: random.chance(0.5) ? random.unit() * 0.4 : 0,
  };
  const lengthMs = random.between(6_000, 25_000);
  const steps: Omit<Step, 'number'>[] = [];
  const add = (kind: Step['kind'], what: Step['what'], atMs: number) =>
    steps.push({ kind, what, atMs: Math.floor(atMs) });
  for (let i = random.between(1, 3); i > 0; i--) add('act', 'create endpoint', random.below(800));
  for (let i = random.between(25, 60); i > 0; i--) add('act', acts(random), random.below(lengthMs));
  for (let i = random.between(2, 8); i > 0; i--) add('act', 'operator', random.below(lengthMs));
  const scattered = Object.keys(weights) as ScatteredFault[];
  const allowed = scattered.filter(() => random.chance(0.35));
  const chosen = allowed.length > 0 ? allowed : (['kill node', 'freeze node'] as const);
  for (let i = random.between(1, 5); i > 0; i--) {
    const [what, atMs] = [weighted(random, chosen), random.below(lengthMs)];
    add('fault', what, atMs);
    if (!wakes.has(what)) continue;
    // While it is away much is changed, which somebody looks at when it is back.
    for (let j = random.between(3, 8); j > 0; j--)
      add('act', random.pick(changing), atMs + 2_500 + random.below(6_000));
    for (let j = random.between(3, 8); j > 0; j--)
      add('act', random.pick(looking), atMs + 3_000 + random.below(7_000));
  }
  const lending = new Random(`${seed}/lending`);
  if (lending.chance(lendingShare)) {
    Object.assign(changed, { lends: true, shards: lending.pick([2, 2, 3]) });
    for (let i = lending.between(0, 3); i > 0; i--) add('fault', 'move a partition', lending.below(lengthMs));
    // Keys change while an edge may not hear of it.
    for (const { atMs } of steps.filter(({ what }) => deafens.has(what)))
      for (let i = lending.between(2, 4); i > 0; i--)
        add('act', 'operator', atMs + 1_500 + lending.below(5_000));
  }
  const ordered = steps.toSorted((a, b) => a.atMs - b.atMs).map((step, number) => ({ ...step, number }));
  return { seed, settings: { ...settings, ...changed }, steps: ordered };
}

const changing = [
  'create intent',
  'update intent',
  'cancel intent',
  'confirm',
  'refund',
  'operator',
] as const;
const looking = ['retrieve', 'retrieve', 'list', 'operator', 'send again', 'update intent'] as const;

function weighted(random: Random, choices: readonly ScatteredFault[]): ScatteredFault {
  let left = random.unit() * choices.reduce((sum, what) => sum + weights[what], 0);
  for (const what of choices) {
    left -= weights[what];
    if (left < 0) return what;
  }
  return choices[0]!;
}
