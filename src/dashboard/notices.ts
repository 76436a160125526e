// Mails to members about what needs somebody: an open review, an endpoint that has failed for an
// hour, live mode activated, a request for a limit answered. What there is to tell is compared with
// what was told.

import type { Language } from '../contract/vocabulary.ts';
import { noticeRowPrefix } from '../directory/directory.ts';
import { type Member, wantsNotices } from '../directory/members.ts';
import type { Organization } from '../directory/organization.ts';
import { fieldIndex, scopeOf } from '../domain/indexes.ts';
import type { ReviewRecord } from '../domain/record.ts';
import { letterOf } from '../mail/letters.ts';
import type { QueuedMail } from '../mail/outbox.ts';
import type { OperatorServices } from '../operator/use-cases/services.ts';
import { ask, records } from '../operator/use-cases/shard-records.ts';
import { MailRounds, type MailRoundsOptions, nothing, wantedMs } from './mail-rounds.ts';
import { mayDo, type Permission } from './people/roles.ts';

const noticeKinds = ['activated', 'limit', 'review', 'failing'] as const;
type NoticeKind = (typeof noticeKinds)[number];

/** The page that each leads to, and the permission that it needs. */
const pages = {
  activated: { path: 'home', permission: 'payments.read' },
  limit: { path: 'limits', permission: 'developers.read' },
  review: { path: 'reviews', permission: 'payments.read' },
  failing: { path: 'webhooks', permission: 'developers.read' },
} as const satisfies Record<NoticeKind, { readonly path: string; readonly permission: Permission }>;

/** What the members of an organization were told so far. */
interface Told {
  readonly org: string;
  readonly activated: boolean;
  /** The newest decision about a limit, Unix milliseconds. */
  readonly decidedMs: number;
  /** The newest review; '' when none was. */
  readonly review: string;
  /** When members were told of a failing endpoint, by its id. */
  readonly endpoints: Readonly<Record<string, number>>;
  /** When the last mail of each kind was queued. */
  readonly lastMs: Readonly<Partial<Record<NoticeKind, number>>>;
}

const lookMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** The language of members who have chosen none. */
const usualLanguage: Language = 'fr';

export class Notices extends MailRounds<Told> {
  constructor(options: MailRoundsOptions) {
    super(options, noticeRowPrefix, lookMs);
  }

  override async look(): Promise<void> {
    if (this.options.isPaused()) return;
    const { directory, now } = this.options.services;
    const active = directory.organizations().filter(({ status }) => status === 'active');
    const begun = active.filter(({ id }) => !this.rows.has(id));
    const rows = new Map(begun.map((each) => [each.id, toldSoFar(each, now())]));
    await this.attempt('', 'begin', () => this.write(rows, () => nothing));
    const members = membersByOrganization(directory.members.all());
    for (const { id } of active) {
      if (this.stopped) return;
      if (this.rows.has(id)) await this.#lookAt(id, members.get(id) ?? []);
    }
  }

  /** News from the directory goes out even while a shard does not answer. */
  async #lookAt(org: string, members: readonly Member[]): Promise<void> {
    for (const kind of noticeKinds) {
      const wanting = members.filter((member) => wants(member, org, kind));
      await this.attempt(org, kind, () => this.#tell(kind, this.rows.get(org)!, wanting));
    }
  }

  async #tell(kind: NoticeKind, told: Told, members: readonly Member[]): Promise<void> {
    const { directory, now } = this.options.services;
    const nowMs = now();
    if ((told.lastMs[kind] ?? Number.NEGATIVE_INFINITY) + hourMs > nowMs) return;
    const organization = directory.organization(told.org);
    const news = await this.#newsOf(kind, organization, told, members.length > 0);
    if (news === null) return;
    const next = { ...told, ...news, lastMs: { ...told.lastMs, [kind]: nowMs } };
    await this.#queue(kind, organization, members, next);
  }

  /** What changes in `told` with the news of a kind; null without news. */
  async #newsOf(
    kind: NoticeKind,
    organization: Organization,
    told: Told,
    isWanted: boolean,
  ): Promise<Partial<Told> | null> {
    if (kind === 'activated')
      return organization.liveActivated && !told.activated ? { activated: true } : null;
    if (kind === 'limit') return newDecision(organization, told);
    // A shard is asked only when a member wants its news.
    if (!organization.liveActivated || !isWanted) return null;
    return kind === 'review' ? this.#newReview(told) : this.#newFailing(told);
  }

  /** When today's bounds leave room for no mail, nothing is written, and it is tried later. */
  async #queue(
    kind: NoticeKind,
    { id, name, liveActivated }: Organization,
    members: readonly Member[],
    told: Told,
  ): Promise<void> {
    const { baseUrl, now } = this.options.services;
    const link = `${baseUrl}/dashboard/${id}/${liveActivated ? 'live' : 'test'}/${pages[kind].path}`;
    const letters = members.map(({ email, notices }) =>
      letterOf(kind, email, notices?.language ?? usualLanguage, { organization: name, link }),
    );
    const about = { org: id, isNewcomer: !liveActivated, kind: 'notice', link: null } as const;
    await this.write(new Map([[told.org, told]]), () =>
      letters.length === 0
        ? nothing
        : this.options.outbox.plan(letters, { ...about, expiresMs: now() + wantedMs }),
    );
  }

  /** The newest review of the last day, unless it was told; older ones may predate mails. */
  async #newReview({ org, review }: Told): Promise<Partial<Told> | null> {
    const { services } = this.options;
    const index = fieldIndex('review', scopeOf(org, true), 'open', 'true');
    const [newest] = await records<ReviewRecord>(services, org, index, { limit: 1 });
    const isNews =
      newest !== undefined && newest.id > review && newest.created * 1000 > services.now() - dayMs;
    return isNews ? { review: newest.id } : null;
  }

  /** The endpoints that have failed for an hour and were not told in the last day. */
  async #newFailing({ org, endpoints: told }: Told): Promise<Partial<Told> | null> {
    const { services } = this.options;
    const nowMs = services.now();
    const listed = await ask(services, { kind: 'endpoint_health', org, livemode: true });
    const lately = Object.fromEntries(Object.entries(told).filter(([, ms]) => ms > nowMs - dayMs));
    const found = listed.filter(({ id, enabled, health }) => {
      const sinceMs = health?.failingSinceMs ?? null;
      return enabled && sinceMs !== null && sinceMs <= nowMs - hourMs && !Object.hasOwn(lately, id);
    });
    if (found.length === 0) return null;
    return { endpoints: { ...lately, ...Object.fromEntries(found.map(({ id }) => [id, nowMs])) } };
  }
}

/** Whether the recipient of a queued notice still wants it. */
export function isNoticeWanted(
  { org, to, expiresMs }: Pick<QueuedMail, 'org' | 'to' | 'expiresMs'>,
  { members, store }: OperatorServices['directory'],
): boolean {
  const member = members.findByEmail(to);
  const role = org === null ? undefined : member?.roles[org];
  if (member === undefined || role === undefined) return false;
  return wantsNotices(member, role) && store.now() < expiresMs;
}

function wants(member: Member, org: string, kind: NoticeKind): boolean {
  const role = member.roles[org];
  return role !== undefined && wantsNotices(member, role) && mayDo(role, pages[kind].permission);
}

/** What counts as told at first: for an organization older than a day, all that is so now. */
function toldSoFar(organization: Organization, nowMs: number): Told {
  const isNew = organization.created * 1000 > nowMs - dayMs;
  return {
    org: organization.id,
    activated: !isNew && organization.liveActivated,
    decidedMs: isNew ? 0 : nowMs,
    review: '',
    endpoints: {},
    lastMs: {},
  };
}

function newDecision({ limitRequests }: Organization, { decidedMs }: Told): Partial<Told> | null {
  const newest = Math.max(0, ...limitRequests.map(({ decision }) => decision?.atMs ?? 0));
  return newest > decidedMs ? { decidedMs: newest } : null;
}

function membersByOrganization(members: readonly Member[]): ReadonlyMap<string, Member[]> {
  const byOrganization = new Map<string, Member[]>();
  for (const member of members)
    for (const org of Object.keys(member.roles)) {
      const known = byOrganization.get(org);
      if (known === undefined) byOrganization.set(org, [member]);
      else known.push(member);
    }
  return byOrganization;
}
