// Requests of an organization for a higher rate limit, which operators decide. They are pure
// functions on the organization, which has its requests as a field. For each bucket and mode at
// most one request is open. An approval activates the limit in the same change.

import { limitPerMinuteMax } from '../contract/limits.ts';
import { activeLimits } from '../domain/active-limits.ts';
import {
  checkedText,
  type LimitDecision,
  type LimitRequest,
  type LimitWish,
  modesOf,
  stateOf,
} from './limit-request.ts';
import { type Organization, unlessClosed, withLimit } from './organization.ts';
import { DirectoryRefusal } from './refusal.ts';

/** How many requests that were decided an organization keeps. */
const decidedKept = 20;
/** The organization with one more open request. Throws `DirectoryRefusal`. */
export function withLimitRequest(
  organization: Organization,
  wish: LimitWish,
  asked: { readonly id: string; readonly by: string },
  nowMs: number,
): Organization {
  const { bucket, untilMs } = wish;
  const reason = checkedText(wish.reason);
  if (reason === '') throw new DirectoryRefusal('say why the limit is needed', 'reason_missing');
  if (untilMs !== null && untilMs <= nowMs) {
    throw new DirectoryRefusal('the end of the limit has passed already: name a later one', 'end_passed');
  }
  const wanted = modesOf(wish);
  for (const mode of wanted) {
    const { perMinute } = activeLimits(organization.limits[mode], mode, nowMs).buckets[bucket];
    if (wish.perMinute <= perMinute || wish.perMinute > limitPerMinuteMax) {
      throw new DirectoryRefusal(
        `ask for more than the active limit, which is ${perMinute} a minute in ${mode} mode, and at most for ${limitPerMinuteMax}`,
        'limit_not_higher',
      );
    }
  }
  const isSame = (request: LimitRequest) =>
    request.decision === null &&
    request.bucket === bucket &&
    modesOf(request).some((mode) => wanted.includes(mode));
  const open = organization.limitRequests.find(isSame);
  if (open !== undefined) {
    throw new DirectoryRefusal(
      `${open.id} asks for this bucket and mode already, and is open`,
      'request_open',
    );
  }
  const request: LimitRequest = { ...wish, ...asked, reason, createdMs: nowMs, decision: null };
  return withRequests(organization, [request, ...organization.limitRequests]);
}

/**
 * The organization with the limit of a request active; `changed` is what the operator grants
 * instead of what was asked for. Throws `DirectoryRefusal`.
 */
export function approve(
  organization: Organization,
  id: string,
  changed: { readonly perMinute?: number | undefined; readonly untilMs?: number | null | undefined },
  note: string,
  nowMs: number,
): Organization {
  const request = openRequest(organization, id);
  const { perMinute = request.perMinute, untilMs = request.untilMs } = changed;
  const limit = { perMinute, untilMs };
  const raised = modesOf(request).reduce(
    (each, mode) => withLimit(each, mode, request.bucket, { ...limit, source: 'custom' }, nowMs),
    organization,
  );
  return decided(raised, request, { atMs: nowMs, granted: limit, note: checkedText(note) });
}

/** The organization with a request denied. Throws `DirectoryRefusal`. */
export function deny(organization: Organization, id: string, note: string, nowMs: number): Organization {
  const decision = { atMs: nowMs, granted: null, note: checkedText(note) };
  return decided(organization, openRequest(organization, id), decision);
}

function openRequest({ limitRequests }: Organization, id: string): LimitRequest {
  const request = limitRequests.find((each) => each.id === id);
  if (request === undefined) throw new DirectoryRefusal('there is no such request for a limit');
  if (request.decision === null) return request;
  throw new DirectoryRefusal(`request ${id} was ${stateOf(request)} already`);
}

function decided(organization: Organization, request: LimitRequest, decision: LimitDecision): Organization {
  const requests = organization.limitRequests.map((each) =>
    each.id === request.id ? { ...request, decision } : each,
  );
  return withRequests(organization, requests);
}

/** Newest first: all that are open, and the newest of the others. */
function withRequests(organization: Organization, requests: readonly LimitRequest[]): Organization {
  const old = requests.filter(({ decision }) => decision !== null).slice(decidedKept);
  const limitRequests = requests.filter((request) => !old.includes(request));
  return { ...unlessClosed(organization), limitRequests };
}
