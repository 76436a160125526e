// What payment networks post to the service. A callback is verified with the organization's
// credentials, and becomes a command that is journaled like any other; the network is answered when
// that is durable. Nothing in a callback is believed before.

import { kindOfId } from '../contract/id-prefixes.ts';
import { type Mode, modeOf, type PaymentMethodType } from '../contract/vocabulary.ts';
import type { OnVisitFailed } from '../core/visit-failure.ts';
import { causes } from '../domain/cause.ts';
import type { InternalOperation } from '../domain/command.ts';
import { cashIndex } from '../domain/indexes.ts';
import type { StoredRecord } from '../domain/record.ts';
import type { CallbackRequest, InternalAnswer, InternalRequest } from '../shard/protocol.ts';
import type { ReportRefused } from './http-contract.ts';
import type { Networks, Received, Reply, Report, TakenCallback } from './network.ts';

export interface CallbackOptions {
  readonly networks: Networks;
  /** Queues a request of this thread; resolves with its answer when that is durable. */
  readonly ask: (request: InternalRequest) => Promise<InternalAnswer>;
  /** Whether the shard knows an organization. */
  readonly knows: (org: string) => boolean;
  readonly onVisitFailed: OnVisitFailed;
}

/** In the form that the contract with integrators gives refusals. */
const noOrganization: Reply = {
  status: 404,
  contentType: 'application/json',
  body: JSON.stringify({
    error: 'unknown_organization',
    message: 'there is no such organization: give the money back',
  } satisfies ReportRefused),
};
/**
 * The report can't be verified now. It may be about money that was taken while the network was
 * connected, so it must not be refused for good.
 */
const notConnected: Reply = {
  status: 503,
  contentType: 'text/plain; charset=utf-8',
  body: 'no payment network is connected here now: nothing is stored, send the same message again later\n',
};

/**
 * A bug has met what was posted. Nothing is stored, so a genuine report is not lost when it is sent
 * again.
 */
const notRead: Reply = {
  status: 500,
  contentType: 'text/plain; charset=utf-8',
  body: 'the service failed to read this: nothing is stored, send the same message again later\n',
};

export async function takeCallback(
  request: CallbackRequest,
  options: CallbackOptions,
): Promise<TakenCallback> {
  const { org, mode, connector } = request;
  if (!options.knows(org)) return { reply: noOrganization, outcome: 'refused', isNew: false };
  const posting = options.networks.posting(org, mode, connector);
  const report = readReport(posting, request, options);
  if (report === undefined) return { reply: notConnected, outcome: 'not_connected', isNew: false };
  if ('status' in report) return { reply: report, outcome: 'refused', isNew: false };
  // A network decides nothing of a method that goes through another one, or through none now.
  if (posting[methodOf(report)] === null)
    return { reply: report.reply('later', null), outcome: 'not_connected', isNew: false };
  const { outcome, isNew, charge } = await store(report, request, options);
  return { reply: report.reply(outcome, charge), outcome, isNew };
}

function readReport(
  { card, cash }: ReturnType<Networks['posting']>,
  { signature, body }: CallbackRequest,
  { onVisitFailed }: CallbackOptions,
): Report | Reply | undefined {
  try {
    return (card ?? cash)?.readCallback?.({ signature, body });
  } catch (error) {
    onVisitFailed(error, 'network_callback', null);
    return notRead;
  }
}

function methodOf({ about }: Report): PaymentMethodType {
  return 'cashNumber' in about ? 'cash' : 'card';
}

interface Stored {
  readonly outcome: Received;
  readonly isNew: boolean;
}

const tellsNothing: ReadonlySet<Received> = new Set(['repeated', 'too_many', 'unknown']);
const later: Stored = { outcome: 'later', isNew: true };
const unknown: Stored = { outcome: 'unknown', isNew: false };

/** Has what is reported stored, if it is about a charge of the organization. */
async function store(
  report: Report,
  { org, mode }: CallbackRequest,
  options: CallbackOptions,
): Promise<Stored & { readonly charge: string | null }> {
  const holder = await holderOf(report, options);
  if (holder === 'later') return { ...later, charge: null };
  if (holder === null || !isOf(holder, org, mode)) return { ...unknown, charge: null };
  // The code is not issued yet. The organization's own network may say so without end, so it counts.
  if (holder.kind === 'network_call') return { ...later, isNew: false, charge: null };
  if (holder.kind !== 'charge' || holder.method !== methodOf(report)) return { ...unknown, charge: null };
  const answer = await options.ask({
    kind: 'command',
    ...commandOf(report),
    id: holder.id,
    language: 'en',
    cause: causes.network,
  });
  return { ...storedOf(answer), charge: holder.id };
}

function commandOf({ says }: Report): { operation: InternalOperation; params: object } {
  if (says.result === 'paid') return { operation: 'receive_money', params: says.money };
  const { decline_code, mayTryAgain } = says;
  return { operation: 'receive_decline', params: { decline_code, mayTryAgain } };
}

/**
 * The charge that the report is about, or the call that issues its code. `later`: the shard can't
 * say now.
 */
async function holderOf({ about }: Report, { ask }: CallbackOptions): Promise<StoredRecord | 'later' | null> {
  if ('cashNumber' in about) {
    const answer = await ask({ kind: 'records', index: cashIndex(about.cashNumber), limit: 1 });
    if (!answer.ok) return 'later';
    const [holder = null]: (StoredRecord | null)[] = JSON.parse(answer.body);
    return holder;
  }
  if (kindOfId(about.charge) !== 'charge') return null;
  const answer = await ask({ kind: 'record', id: about.charge });
  if (answer.ok) return JSON.parse(answer.body);
  return answer.code === 'resource_missing' ? null : 'later';
}

function isOf(record: StoredRecord, org: string, mode: Mode): boolean {
  return record.org === org && modeOf(record.livemode) === mode;
}

function storedOf(answer: InternalAnswer): Stored {
  if (!answer.ok) return answer.code === 'resource_missing' ? unknown : later;
  const { received, again = false }: { received: Received; again?: boolean } = JSON.parse(answer.body);
  return { outcome: received, isNew: !again && !tellsNothing.has(received) };
}
