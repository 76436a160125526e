// Sends requests of the API to the shards for those who have no key: a member in the dashboard, and
// an operator in test mode (`payments trigger`). They are the same frames that an edge sends, so
// they pass the same gates in the shard; only a member's spend no limits. What an edge refuses
// because of the organization is refused here. Commands are in the request logs, like those that
// came with a key.

import { randomFillSync } from 'node:crypto';
import {
  errorBody,
  overloaded,
  type Refusal,
  refuse,
  statusOf,
  unavailable,
} from '../../contract/errors/table.ts';
import { idPrefixes } from '../../contract/id-prefixes.ts';
import type { Route } from '../../contract/routes/route.ts';
import { routeTable } from '../../contract/routes/table.ts';
import { languages } from '../../contract/vocabulary.ts';
import { elementAt } from '../../core/assert.ts';
import { createIdFactory, createRandomText } from '../../core/ids.ts';
import { slotOf } from '../../core/slot.ts';
import type { Organization } from '../../directory/organization.ts';
import type { AnsweredRequest } from '../../request-logs/entry.ts';
import type { ShardClient } from '../../shard/client.ts';
import { answerFlags, noVersion, requestFlags } from '../../shard/frames.ts';
import type { ApiAnswer, ApiCall, OperatorServices } from './services.ts';

const noBody = Buffer.alloc(0);

interface ApiCallerOptions {
  readonly baseUrl: string;
  readonly shardOf: (org: string) => ShardClient;
  readonly organizationOf: (org: string) => Pick<Organization, 'status' | 'liveActivated'>;
  /** Called with each command that was answered. */
  readonly onAnswered: (org: string, answered: AnsweredRequest) => void;
}

/** The answer to a call, with what only the request logs tell of it. */
interface Answer {
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;
  readonly originalRequest: string;
}

export function createApiCaller(options: ApiCallerOptions): OperatorServices['callApi'] {
  const { baseUrl, shardOf, organizationOf, onAnswered } = options;
  const ids = createIdFactory(createRandomText(randomFillSync));

  return async (call: ApiCall): Promise<ApiAnswer> => {
    const { org, livemode, operation, language } = call;
    const atMs = Date.now();
    const requestId = ids.next(idPrefixes.request, slotOf(org), atMs);
    const number = routeTable.findIndex((each) => each.operation === operation);
    const route = elementAt(routeTable, number);
    const frame = frameOf(call, number, requestId);
    const refused = (refusal: Refusal): Answer => ({
      status: statusOf(refusal),
      body: errorBody(refusal, { language, requestId, baseUrl }),
      replayed: false,
      originalRequest: '',
    });
    const refusal = refusalFor(route, organizationOf(org), livemode);
    const sent = refusal === null ? await send(shardOf(org), frame, refused) : refused(refusal);
    const body = JSON.parse(sent.body);
    const answer: ApiAnswer =
      sent.status === 200 ? { ok: true, body } : { ok: false, status: sent.status, error: body.error };
    if (route.kind === 'command') {
      onAnswered(org, {
        ...sent,
        answeredAtMs: Date.now(),
        durationMs: Date.now() - atMs,
        requestId,
        livemode,
        address: call.address,
        key: call.member,
        routeNumber: number,
        method: route.method,
        path: route.path.replace('{id}', frame.id),
        query: frame.query,
        objectId: frame.id,
        idempotencyKey: call.idempotencyKey,
        version: undefined,
        code: answer.ok ? null : answer.error.code,
        requestBody: frame.body,
        answerBody: sent.body,
      });
    }
    return answer;
  };
}

function frameOf(call: ApiCall, route: number, requestId: string) {
  const { org, livemode, id = '', query = {}, params, idempotencyKey, language, member } = call;
  const flags =
    (livemode ? requestFlags.livemode : 0) |
    (idempotencyKey === undefined ? 0 : requestFlags.hasIdempotencyKey) |
    (member === null ? 0 : requestFlags.byMember);
  return {
    route,
    flags,
    language: languages.indexOf(language),
    version: noVersion,
    org,
    requestId,
    id,
    query: new URLSearchParams(query).toString(),
    idempotencyKey: idempotencyKey ?? '',
    member: member ?? '',
    body: params === undefined ? noBody : Buffer.from(JSON.stringify(params)),
  };
}

function send(
  shard: ShardClient,
  frame: ReturnType<typeof frameOf>,
  refused: (refusal: Refusal) => Answer,
): Promise<Answer> {
  return new Promise((resolve) => {
    shard.send(frame, (answer) => {
      if (typeof answer === 'string')
        return resolve(refused(answer === 'overloaded' ? overloaded : unavailable));
      const { status, flags, originalRequest } = answer;
      const replayed = (flags & answerFlags.replayed) !== 0;
      // The body is a view of a buffer that is used again.
      resolve({ status, body: answer.body.toString(), replayed, originalRequest });
    });
  });
}

/**
 * Why a request is refused before it is sent. An organization that is not active can still be
 * looked at.
 */
function refusalFor(
  { kind, testOnly }: Route,
  { status, liveActivated }: Pick<Organization, 'status' | 'liveActivated'>,
  livemode: boolean,
): Refusal | null {
  if (testOnly && livemode) return refuse('test_mode_only');
  if (kind !== 'command') return null;
  if (status !== 'active') return refuse('account_inactive');
  return livemode && !liveActivated ? refuse('live_mode_not_activated') : null;
}
