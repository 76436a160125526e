// Requests to the shards: questions, reading records, and commands about a record, whose id tells
// its shard. Each function rejects with an `OperatorFailure` when the shard refuses or is not
// running.

import { type IdKind, idPrefixes, kindOfId } from '../../contract/id-prefixes.ts';
import { listedMax } from '../../contract/limits.ts';
import type { Mode } from '../../contract/vocabulary.ts';
import type { InternalParams } from '../../domain/command.ts';
import { scopeOf } from '../../domain/indexes.ts';
import type { StatementMoneyReview } from '../../domain/received-money.ts';
import type { RecordKind, RecordOf } from '../../domain/record.ts';
import type { Answers, InternalRequest } from '../../shard/protocol.ts';
import { isRefusal, OperatorFailure } from './failures.ts';
import type { OperatorServices } from './services.ts';

/** A question about an organization in one mode. */
type Question = Extract<InternalRequest, { readonly kind: keyof Answers; readonly org: string }>;

export async function ask<Q extends Question>(
  services: Pick<OperatorServices, 'askShard'>,
  question: Q,
): Promise<Answers[Q['kind']]> {
  return JSON.parse((await services.askShard(question.org, question)).body);
}

/** The newest records of an index, or those before `before`, newest first. */
export async function records<R>(
  services: Pick<OperatorServices, 'askShard'>,
  orgOrId: string,
  index: string,
  { limit = listedMax, before }: { readonly limit?: number; readonly before?: string | undefined } = {},
): Promise<R[]> {
  const { body } = await services.askShard(orgOrId, { kind: 'records', index, limit, before });
  return JSON.parse(body);
}

/** An organization's records in some modes, newest first, at most `listedMax` of each mode. */
export async function recordsIn<R extends { readonly id: string }>(
  services: OperatorServices,
  org: string,
  modes: readonly Mode[],
  indexOf: (scope: string) => string,
): Promise<R[]> {
  const lists = await Promise.all(
    modes.map((mode) => records<R>(services, org, indexOf(scopeOf(org, mode === 'live')))),
  );
  return lists.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Throws when the id belongs to another kind of object. */
export function refuseOther(id: string, kind: IdKind): void {
  if (kindOfId(id) === kind) return;
  const what = kind.replaceAll('_', ' ');
  throw new OperatorFailure(
    'refused',
    `${id} is not the id of a ${what}, which starts with ${idPrefixes[kind]}_`,
  );
}

export async function recordOf<K extends RecordKind>(
  services: Pick<OperatorServices, 'askShard'>,
  id: string,
  kind: K,
): Promise<RecordOf<K>> {
  refuseOther(id, kind);
  return JSON.parse((await services.askShard(id, { kind: 'record', id })).body);
}

/** The same; null when there is none. */
export async function findRecord<K extends RecordKind>(
  services: Pick<OperatorServices, 'askShard'>,
  id: string,
  kind: K,
): Promise<RecordOf<K> | null> {
  try {
    return await recordOf(services, id, kind);
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** What time it is for the shard of an organization or an id. */
export async function nowOf(
  services: Pick<OperatorServices, 'askShard'>,
  orgOrId: string,
): Promise<Answers['now']> {
  return JSON.parse((await services.askShard(orgOrId, { kind: 'now' })).body);
}

/** What the shards answer to the commands of which operators read the answer. */
interface CommandAnswers {
  create_payment_link: { readonly id: string };
  resend_failed: { readonly resent: number; readonly after: string | null };
  review_statement_money: StatementMoneyReview;
  send_sample: { readonly event: string; readonly delivery: string };
}

/** Runs a command about an object, or in a scope about none yet; resolves once it is durable. */
export async function command<O extends keyof InternalParams>(
  services: OperatorServices,
  id: string,
  operation: O,
  params: InternalParams[O],
  scope?: { readonly org: string; readonly livemode: boolean },
): Promise<O extends keyof CommandAnswers ? CommandAnswers[O] : unknown> {
  const { author: cause, language } = services;
  const request = {
    kind: 'command',
    operation,
    id,
    params,
    language,
    cause,
    ...(scope && { scope }),
  } as const;
  return JSON.parse((await services.askShard(id, request)).body);
}

/** The organization that is named, or to which something belongs that is named. Never rejects. */
export async function organizationNamed(
  services: OperatorServices,
  named: readonly string[],
): Promise<string | null> {
  for (const text of named) {
    const org = await ownerOf(services, text).catch(() => null);
    if (org !== null) return org;
  }
  return null;
}

async function ownerOf(services: OperatorServices, text: string): Promise<string | null> {
  const { directory } = services;
  const kind = kindOfId(text);
  if (kind === 'organization') return directory.organization(text).id;
  if (kind === 'request') return null;
  if (kind !== undefined) return (await recordOf(services, text, kind)).org;
  const asking = directory.organizations().find((each) => each.limitRequests.some(({ id }) => id === text));
  return asking?.id ?? directory.key(text).org;
}
