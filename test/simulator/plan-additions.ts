// What is added to the plans of some seeds. Each addition has a chance of its own, so that the other seeds, and all else in a
// plan, stay as they were.

import { Random } from './kernel/random.ts';
import { type ActKind, type NewStep, type Plan, withSteps } from './plan.ts';
import { hasLater } from './world/later.ts';

/** Between `least` and `most` steps, at any time of the run. */
function atAnyTime(
  plan: Plan,
  random: Random,
  [least, most]: readonly [number, number],
  step: () => Omit<NewStep, 'atMs'>,
): NewStep[] {
  const endMs = plan.steps.at(-1)!.atMs;
  return Array.from({ length: random.between(least, most) }, () => ({
    atMs: random.below(endMs),
    ...step(),
  }));
}

/** Between `least` and `most` acts of some kinds, from a time on. */
function actsFrom(
  fromMs: number,
  withinMs: number,
  random: Random,
  [least, most]: readonly [number, number],
  kinds: readonly ActKind[],
): NewStep[] {
  return Array.from({ length: random.between(least, most) }, () => ({
    kind: 'act' as const,
    what: random.pick(kinds),
    atMs: fromMs + random.below(withinMs),
  }));
}

const damagedShare = 0.08;

/** In some runs several values are damaged. */
export function withDamage(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/damage`);
  if (!random.chance(damagedShare)) return plan;
  const added = atAnyTime(plan, random, [1, 4], () => ({ kind: 'fault', what: 'damage' }));
  return withSteps(plan, added);
}

/** While the disk is slow somebody reads on, and when something was damaged. */
export function withReaders(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/readers`);
  const added = plan.steps
    .filter(({ what }) => what === 'slow disk' || what === 'damage')
    .map(({ atMs }) => ({
      atMs: atMs + random.below(1_000),
      kind: 'act' as const,
      what: 'read on' as const,
    }));
  return withSteps(plan, added);
}

const hostedShare = 0.25;

/** In some runs the card network of live mode has a page of its own, and customers go there more often. */
export function withHostedCards(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/hosted cards`);
  if (!random.chance(hostedShare)) return plan;
  const added = atAnyTime(plan, random, [5, 25], () => ({
    kind: 'act',
    what: random.pick(['pay by card', 'pay by card', 'confirm', 'decide review'] as const),
  }));
  return withSteps({ ...plan, settings: { ...plan.settings, hasHostedCards: true } }, added);
}

const overtakenShare = 0.1;

/** In some runs the last write of a shard's thread arrives behind the first one of its successor, some times. */
export function withOvertakenOwners(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/overtaken owners`);
  if (!random.chance(overtakenShare)) return plan;
  const added = atAnyTime(plan, random, [1, 4], () => ({ kind: 'fault', what: 'overtaken owner' }));
  return withSteps(plan, added);
}

const stuckShare = 0.35;

/** In some runs with nodes threads stand still while requests come, which are executed when another node has taken over. */
export function withStuckThreads(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/stuck threads`);
  if (!random.chance(stuckShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = [];
  // What receivers keep waiting is under way still when another node has taken over.
  const settings = random.chance(0.5)
    ? { ...plan.settings, receiverTroubleRate: 0.9, receiversAreSlow: true }
    : plan.settings;
  for (let i = random.between(1, 2); i > 0; i--) {
    const stuckMs = Math.floor(endMs * Math.sqrt(random.unit()));
    added.push({ atMs: stuckMs, kind: 'fault', what: 'stuck threads' });
    for (let j = random.between(3, 6); j > 0; j--) {
      const what = random.pick([
        'create intent',
        'update intent',
        'confirm',
        'cancel intent',
        'refund',
        'retrieve',
        'retrieve',
        'list',
      ] as const);
      added.push({ atMs: stuckMs + random.below(1_500), kind: 'act', what });
    }
  }
  return withSteps({ ...plan, settings }, added);
}

const frozenShare = 0.3;

/** In some runs with nodes the one that serves is frozen while a beat of its is answered. */
export function withFrozenBeats(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/frozen beats`);
  if (!random.chance(frozenShare)) return plan;
  const added = atAnyTime(plan, random, [1, 2], () => ({ kind: 'fault', what: 'freeze node at a beat' }));
  return withSteps(plan, added);
}

const linkedShare = 0.25;

/** In some runs there are payment links, which customers open more often than they pay. */
export function withLinks(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/links`);
  if (!random.chance(linkedShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const what = () =>
    random.pick([
      ...(['open link', 'open link', 'open link', 'open link', 'change link'] as const),
      ...(['choose method', 'choose method', 'complete charge', 'pay cash', 'pay by card'] as const),
    ]);
  const add = (kind: ActKind, atMs: number) => ({ atMs: Math.floor(atMs), kind: 'act' as const, what: kind });
  const made = Array.from({ length: random.between(1, 3) }, () =>
    add('create link', random.below(endMs / 3)),
  );
  const used = Array.from({ length: random.between(8, 40) }, () => add(what(), random.below(endMs)));
  return withSteps(plan, [...made, ...used]);
}

const oddShare = 0.6;

/** In most runs there are requests as few clients send them, and people look around. */
export function withOddities(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/oddities`);
  if (!random.chance(oddShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const what = () =>
    random.pick([
      ...(['odd request', 'odd request', 'odd request', 'odd request', 'whole payment'] as const),
      ...(['look around', 'look around', 'bad request', 'send in other words'] as const),
    ]);
  const added = Array.from({ length: random.between(3, 16) }, () => ({
    // There is more to be odd about once something is there.
    atMs: Math.floor(endMs * Math.sqrt(random.unit())),
    kind: 'act' as const,
    what: what(),
  }));
  return withSteps(plan, added);
}

const toolsShare = 0.3;
const backedUpToolsShare = 0.7;

/** In some runs operators use their tools, and the scrubber reads what is stored. */
export function withTools(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/tools`);
  if (!random.chance(plan.settings.archiveAgeMs > 0 ? backedUpToolsShare : toolsShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const added = Array.from({ length: random.between(2, 6) }, () => ({
    atMs: Math.floor(endMs * Math.sqrt(random.unit())),
    kind: 'fault' as const,
    what: random.pick(['read the logs', 'compact', 'scrub'] as const),
  }));
  return withSteps(plan, added);
}

const edgelessShare = 0.08;

/** In some runs the edge's thread ends some times, while members export what there is. */
export function withDeadEdges(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/dead edges`);
  if (!random.chance(edgelessShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = [];
  for (let i = random.between(1, 3); i > 0; i--) {
    const atMs = random.below(endMs);
    added.push({ kind: 'fault', what: 'dead edge thread', atMs });
    added.push(...actsFrom(atMs - 1_500, 3_000, random, [2, 4], ['export', 'export', 'retrieve', 'list']));
  }
  return withSteps(plan, added);
}

const limitedShare = 0.3;

/** In some runs members export what there is, and operators change limits for a while, of which people want to know. */
export function withExportsAndLimits(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/exports and limits`);
  if (!random.chance(limitedShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const what = () => random.pick(['export', 'change limit', 'look around', 'bad request'] as const);
  const added = Array.from({ length: random.between(3, 12) }, () => ({
    atMs: random.below(endMs),
    kind: 'act' as const,
    what: what(),
  }));
  return withSteps(plan, added);
}

const endsShare = 0.15;

/** In some runs the process ends right at a commit, some times: between two that belong together, if there are such. */
export function withEndsAtCommits(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/ends at commits`);
  if (!random.chance(endsShare)) return plan;
  const what = plan.settings.nodes > 0 ? 'end of a node at a commit' : 'end at a commit';
  const added = atAnyTime(plan, random, [2, 6], () => ({ kind: 'fault', what }));
  return withSteps(plan, added);
}

const amidShare = 0.08;

/** In some runs the process ends while something is under way that was begun by then, and goes on with it after the start. */
export function withEndsAmidWork(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/ends amid work`);
  if (!random.chance(amidShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = [];
  const add = (kind: ActKind, atMs: number) => added.push({ kind: 'act', what: kind, atMs });
  for (let i = random.between(1, 3); i > 0; i--) add('create endpoint', random.below(1_000));
  for (let i = random.between(1, 4); i > 0; i--) {
    const atMs = Math.floor(endMs * Math.sqrt(random.unit()));
    added.push({ kind: 'fault', what: 'end amid work', atMs });
    for (const what of ['delete endpoint', 'confirm', 'refund'] as const)
      add(what, atMs + random.below(2_000));
  }
  // Something waits for an endpoint that is deleted.
  const receiverTroubleRate = Math.max(plan.settings.receiverTroubleRate, 0.5);
  return withSteps({ ...plan, settings: { ...plan.settings, receiverTroubleRate } }, added);
}

const fullShare = 0.06;

/** In some runs the disk is full when networks answer, and receivers. */
export function withFullDisks(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/full disks`);
  if (!random.chance(fullShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = [];
  for (let i = random.between(1, 4); i > 0; i--) {
    const atMs = Math.floor(endMs * Math.sqrt(random.unit()));
    added.push({ kind: 'fault', what: 'full disk', atMs: atMs + random.below(500) });
    const kinds = ['create intent', 'confirm', 'confirm', 'pay by card', 'refund'] as const;
    added.push(...actsFrom(atMs, 500, random, [2, 5], kinds));
  }
  return withSteps(plan, added);
}

const slowShare = 0.25;

/** In some runs with nodes the processor of one is slow for seconds, while others ask much of it. */
export function withSlowProcessors(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/slow processors`);
  if (!random.chance(slowShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = [];
  for (let i = random.between(1, 2); i > 0; i--) {
    const atMs = random.below(endMs);
    added.push({ kind: 'fault', what: 'slow processor', atMs });
    const kinds = ['create intent', 'confirm', 'refund', 'retrieve', 'operator'] as const;
    added.push(...actsFrom(atMs, 3_000, random, [3, 8], kinds));
  }
  return withSteps(plan, added);
}

const aloneShare = 0.15;

/** In some runs somebody has a primary of PostgreSQL acknowledge what no standby has. */
export function withAloneServers(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/alone servers`);
  if (!random.chance(aloneShare)) return plan;
  return withSteps(
    plan,
    atAnyTime(plan, random, [1, 2], () => ({ kind: 'fault', what: 'no standby named' })),
  );
}

const forgottenShare = 0.15;

/** In some runs networks can't tell how calls ended, and operators find out and settle them. */
export function withForgottenCalls(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/forgotten calls`);
  if (!random.chance(forgottenShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const what = () =>
    random.pick(['settle call', 'settle call', 'settle call', 'pay by card', 'refund'] as const);
  const added: NewStep[] = Array.from({ length: random.between(5, 14) }, () => ({
    atMs: Math.floor(endMs * Math.sqrt(random.unit())),
    kind: 'act',
    what: what(),
  }));
  if (plan.settings.nodes === 0)
    added.push(...atAnyTime(plan, random, [1, 3], () => ({ kind: 'fault', what: 'end amid work' })));
  const settings = {
    ...plan.settings,
    forgetsCalls: true,
    // Whether a call may be under way is known after seconds then.
    repeatsEffects: true,
    bankTroubleRate: Math.max(plan.settings.bankTroubleRate, 0.3),
  };
  return withSteps({ ...plan, settings }, added);
}

const refusedShare = 0.5;

/** In half of these runs the shards refuse writes when networks say how calls have ended, and operators settle calls right after that. */
export function withRefusedOutcomes(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/refused outcomes`);
  if (plan.settings.forgetsCalls !== true || !random.chance(refusedShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = [];
  for (let i = random.between(1, 2); i > 0; i--) {
    const atMs = Math.floor(endMs * Math.sqrt(random.unit()));
    added.push({ kind: 'fault', what: 'low disk at an outcome', atMs });
    added.push(...actsFrom(atMs, 1_000, random, [2, 5], ['confirm', 'pay by card', 'refund', 'settle call']));
    added.push(...actsFrom(atMs + 6_000, 10_000, random, [6, 12], ['settle call']));
  }
  return withSteps(plan, added);
}

const lateShare = 0.12;

/** In some runs networks take minutes to decide, and a payment may be over by then. */
export function withLateDecisions(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/late decisions`);
  if (!random.chance(lateShare)) return plan;
  const added = atAnyTime(plan, random, [8, 20], () => ({
    kind: 'act',
    what: random.pick(['confirm', 'pay by card', 'pay by card', 'refund'] as const),
  }));
  return withSteps({ ...plan, settings: { ...plan.settings, decidesLate: true } }, added);
}

const canceledShare = 0.1;

/** In some runs merchants cancel while money is on its way, and networks say late what became of it. */
export function withCancelsAmidPayments(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/cancels amid payments`);
  if (!random.chance(canceledShare)) return plan;
  const added = atAnyTime(plan, random, [2, 8], () => ({ kind: 'act', what: 'cancel amid payment' }));
  const bankTroubleRate = Math.max(plan.settings.bankTroubleRate, 0.3);
  return withSteps({ ...plan, settings: { ...plan.settings, bankTroubleRate } }, added);
}

const oddBodyShare = 0.25;

/** In some runs there are bodies with almost too much in them, and too much. */
export function withOddBodies(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/odd bodies`);
  if (!random.chance(oddBodyShare)) return plan;
  return withSteps(
    plan,
    atAnyTime(plan, random, [1, 4], () => ({ kind: 'act', what: 'odd body' })),
  );
}

const crowdedShare = 0.1;

/** In some runs there is room for few deliveries at once, and much is to be delivered. */
export function withCrowdedOutboxes(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/crowded outboxes`);
  if (!random.chance(crowdedShare)) return plan;
  const added = actsFrom(0, 1_000, random, [2, 6], ['create endpoint']);
  const outboxBytesMax = Math.floor(random.skewed(3_000, 60_000));
  return withSteps({ ...plan, settings: { ...plan.settings, outboxBytesMax } }, added);
}

const failingShare = 0.1;

/** In some runs most receivers answer with errors, and many deliveries go to them. */
export function withFailingReceivers(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/failing receivers`);
  if (!random.chance(failingShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const receiverTroubleRate = 0.5 + random.unit() / 2;
  const failing = { receiverTroubleRate, receiversAreSlow: false, receiversRefuse: true };
  const settings = { ...plan.settings, ...failing, organizations: 1 };
  const added = [
    ...actsFrom(0, 1_000, random, [4, 8], ['create endpoint']),
    ...actsFrom(1_000, endMs, random, [10, 30], ['whole payment', 'whole payment', 'look around']),
  ];
  return withSteps({ ...plan, settings }, added);
}

const pacedShare = 0.15;

/** In some runs each receiver takes as long for whatever is sent to it, and members look how it fares. */
export function withPacedReceivers(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/paced receivers`);
  if (!random.chance(pacedShare)) return plan;
  const added = atAnyTime(plan, random, [2, 5], () => ({ kind: 'act', what: 'look around' }));
  return withSteps({ ...plan, settings: { ...plan.settings, receiversHavePaces: true } }, added);
}

const peopleShare = 0.12;
/** A session that was not used for so long is noted as used again. */
const unusedMs = 61_000;

/** In some runs members come, sign in and go, also after a while, and the process ends right at a commit now and then. */
export function withPeople(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/people`);
  if (!random.chance(peopleShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const act = { kind: 'act', what: 'member' } as const;
  const added: NewStep[] = atAnyTime(plan, random, [20, 60], () => act);
  for (let i = random.between(10, 30); i > 0; i--)
    added.push({ ...act, atMs: endMs + unusedMs + random.below(5_000) });
  if (random.chance(0.5))
    added.push(...atAnyTime(plan, random, [1, 5], () => ({ kind: 'fault', what: 'end at a commit' })));
  return withSteps(plan, added);
}

const laterStartShare = { withNodes: 0.25, otherwise: 0.75 };
const hourMs = 3_600_000;

/** Many runs in which it is looked a day later do not begin right with an hour, because keys are kept by hours. */
export function withLaterStart(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/later start`);
  const share = plan.settings.nodes > 0 ? laterStartShare.withNodes : laterStartShare.otherwise;
  if (!hasLater(plan.seed) || !random.chance(share)) return plan;
  return { ...plan, settings: { ...plan.settings, pastNoonMs: random.below(hourMs) } };
}

const invitedShare = 0.15;

/** In some runs with nodes people are invited into organizations, many more than there is else in the directory. */
export function withInvitations(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/invitations`);
  if (!random.chance(invitedShare)) return plan;
  const added = atAnyTime(plan, random, [3, 8], () => ({ kind: 'act', what: 'invite people' }));
  return withSteps(plan, added);
}

const visitedShare = 0.2;

/**
 * In some runs a partition that is lent comes back. Much is on its way when it goes, and merchants delete endpoints meanwhile for
 * which much waits.
 */
export function withVisits(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/visits`);
  if (plan.settings.lends !== true || !random.chance(visitedShare)) return plan;
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = actsFrom(0, 1_000, random, [3, 6], ['create endpoint']);
  for (let i = random.between(1, 2); i > 0; i--) {
    const atMs = random.between(2_000, endMs);
    added.push(...actsFrom(atMs - 2_000, 2_000, random, [10, 20], ['create intent', 'whole payment']));
    added.push({ kind: 'fault', what: 'partition visits', atMs });
    added.push(...actsFrom(atMs + 300, 4_000, random, [1, 4], ['delete endpoint', 'create intent']));
  }
  const receiversAreSlow = random.chance(0.5);
  const settings = { ...plan.settings, receiverTroubleRate: 0.9, receiversAreSlow, attemptsAtOnce: 40 };
  return withSteps({ ...plan, settings }, added);
}

const secondShare = 0.5;

/** In some runs with nodes a second database has the logs of the last partitions. Mostly one of the two is away for long, or forgets. */
export function withTwoDatabases(plan: Plan): Plan {
  const random = new Random(`${plan.seed}/two databases`);
  const { shards } = plan.settings;
  if (shards < 2 || !random.chance(secondShare)) return plan;
  const secondFrom = random.between(1, shards - 1);
  const endMs = plan.steps.at(-1)!.atMs;
  const added: NewStep[] = [];
  const add = (what: NewStep['what'], atMs: number, kind: NewStep['kind'] = 'fault') =>
    added.push({ kind, what, atMs: Math.floor(atMs) });
  if (random.chance(0.6)) {
    const atMs = random.below(endMs);
    add('lost database', atMs);
    // Nodes come and go meanwhile.
    for (let i = random.between(0, 2); i > 0; i--) {
      const what = random.pick(['kill node', 'freeze node', 'stop node', 'move the lease'] as const);
      add(what, atMs + random.below(5_000));
    }
    for (let i = random.between(3, 8); i > 0; i--)
      add(random.pick(['create intent', 'confirm', 'retrieve'] as const), atMs + random.below(12_000), 'act');
  }
  if (random.chance(0.2)) add('lease forgotten', random.below(endMs));
  return withSteps({ ...plan, settings: { ...plan.settings, secondFrom } }, added);
}
