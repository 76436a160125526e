// Sends API requests of an organization in test mode for an operator, without a key. They are the same frames that an edge
// sends, so they pass the same gates in the shard, limits included. `payments trigger` uses it.

import { randomFillSync, randomUUID } from 'node:crypto';
import { idPrefixes } from '../contract/id-prefixes.ts';
import { type CommandOperation, routeTable } from '../contract/routes/table.ts';
import { createIdFactory, createRandomText } from '../core/ids.ts';
import { slotOf } from '../core/slot.ts';
import { OperatorFailure } from '../operator/protocol.ts';
import type { OperatorServices } from '../operator/server/services.ts';
import type { ShardClient } from '../shard/client.ts';
import { noVersion, requestFlags } from '../shard/frames.ts';

export function createTestCaller(shardOf: (org: string) => ShardClient): OperatorServices['callApi'] {
  const ids = createIdFactory(createRandomText(randomFillSync));
  return (org, operation: CommandOperation, id, params) => {
    const frame = {
      route: routeTable.findIndex((route) => route.operation === operation),
      flags: requestFlags.hasIdempotencyKey,
      language: 0,
      version: noVersion,
      org,
      requestId: ids.next(idPrefixes.request, slotOf(org), Date.now()),
      id,
      query: '',
      idempotencyKey: randomUUID(),
      body: Buffer.from(JSON.stringify(params)),
    };
    return new Promise((resolve, reject) => {
      shardOf(org).send(frame, (answer) => {
        if (typeof answer === 'string')
          return reject(new OperatorFailure('failed', 'the shard is recovering: try again'));
        const body = JSON.parse(answer.body.toString());
        if (answer.status === 200) resolve(body);
        else reject(new OperatorFailure('refused', body.error.message));
      });
    });
  };
}
