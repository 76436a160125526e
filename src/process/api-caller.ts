// Sends requests of the API to the shards for those who have no key: a member in the dashboard, and an operator in test mode
// (`payments trigger`). They are the same frames that an edge sends, so they pass the same gates in the shard; only a
// member's spend no limits. What an edge refuses because of the organization is refused here.

import { randomFillSync } from 'node:crypto';
import {
  errorBody,
  overloaded,
  type Refusal,
  refuse,
  statusOf,
  unavailable,
} from '../contract/errors/table.ts';
import { idPrefixes } from '../contract/id-prefixes.ts';
import type { Route } from '../contract/routes/route.ts';
import { routeTable } from '../contract/routes/table.ts';
import { languages } from '../contract/vocabulary.ts';
import { createIdFactory, createRandomText } from '../core/ids.ts';
import { slotOf } from '../core/slot.ts';
import type { Organization } from '../directory/organization.ts';
import type { ApiCall, ApiOutcome, OperatorServices } from '../operator/server/services.ts';
import type { ShardClient } from '../shard/client.ts';
import { noVersion, requestFlags } from '../shard/frames.ts';

const noBody = Buffer.alloc(0);

export function createApiCaller(
  baseUrl: string,
  shardOf: (org: string) => ShardClient,
  organizationOf: (org: string) => Pick<Organization, 'status' | 'liveActivated'>,
): OperatorServices['callApi'] {
  const ids = createIdFactory(createRandomText(randomFillSync));

  return (call: ApiCall): Promise<ApiOutcome> => {
    const { org, livemode, operation, id = '', query = {}, params, idempotencyKey, language, member } = call;
    const requestId = ids.next(idPrefixes.request, slotOf(org), Date.now());
    const route = routeTable.findIndex((each) => each.operation === operation);
    const flags =
      (livemode ? requestFlags.livemode : 0) |
      (idempotencyKey === undefined ? 0 : requestFlags.hasIdempotencyKey) |
      (member === null ? 0 : requestFlags.byMember);
    const frame = {
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
    const refused = (refusal: Refusal): ApiOutcome => {
      const body = JSON.parse(errorBody(refusal, { language, requestId, baseUrl }));
      return { ok: false, status: statusOf(refusal), error: body.error };
    };
    const refusal = refusalFor(routeTable[route]!, organizationOf(org), livemode);
    if (refusal !== null) return Promise.resolve(refused(refusal));
    return new Promise((resolve) => {
      shardOf(org).send(frame, (answer) => {
        if (typeof answer === 'string')
          return resolve(refused(answer === 'overloaded' ? overloaded : unavailable));
        const body = JSON.parse(answer.body.toString());
        if (answer.status === 200) resolve({ ok: true, body });
        else resolve({ ok: false, status: answer.status, error: body.error });
      });
    });
  };
}

/** Why a request is refused before it is sent. An organization that is not active can still be looked at. */
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
