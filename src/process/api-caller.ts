// Sends requests of the API to the shards for those who have no key: a member in the dashboard, and an operator in test mode
// (`payments trigger`). They are the same frames that an edge sends, so they pass the same gates in the shard; only a
// member's spend no limits.

import { randomFillSync } from 'node:crypto';
import { errorBody, overloaded, type Refusal, statusOf, unavailable } from '../contract/errors/table.ts';
import { idPrefixes } from '../contract/id-prefixes.ts';
import { routeTable } from '../contract/routes/table.ts';
import { languages } from '../contract/vocabulary.ts';
import { createIdFactory, createRandomText } from '../core/ids.ts';
import { slotOf } from '../core/slot.ts';
import type { ApiCall, ApiOutcome, OperatorServices } from '../operator/server/services.ts';
import type { ShardClient } from '../shard/client.ts';
import { noVersion, requestFlags } from '../shard/frames.ts';

const noBody = Buffer.alloc(0);

export function createApiCaller(
  baseUrl: string,
  shardOf: (org: string) => ShardClient,
): OperatorServices['callApi'] {
  const ids = createIdFactory(createRandomText(randomFillSync));

  return (call: ApiCall): Promise<ApiOutcome> => {
    const { org, livemode, operation, id = '', query = {}, params, idempotencyKey, language, member } = call;
    const requestId = ids.next(idPrefixes.request, slotOf(org), Date.now());
    const flags =
      (livemode ? requestFlags.livemode : 0) |
      (idempotencyKey === undefined ? 0 : requestFlags.hasIdempotencyKey) |
      (member === null ? 0 : requestFlags.byMember);
    const frame = {
      route: routeTable.findIndex((route) => route.operation === operation),
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
