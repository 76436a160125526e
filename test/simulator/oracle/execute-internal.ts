// Stands in for `shard/execute-internal.ts`: what pages, members and operators are told is compared with the model.

import type { CommitBatch, ReplyTo } from '../../../src/shard/commit-batch.ts';
import { executeInternal as executeInService } from '../../../src/shard/execute-internal.ts';
import type { InternalAnswer, InternalRequest } from '../../../src/shard/protocol.ts';
import type { ShardState } from '../../../src/shard/shard-state.ts';
import { oracleOfBatch } from './oracle.ts';

export function executeInternal(
  state: ShardState,
  batch: CommitBatch,
  to: ReplyTo,
  request: InternalRequest,
): void {
  const oracle = oracleOfBatch(state, batch);
  oracle?.batches.takes(batch, 0);
  const reply = batch.reply.bind(batch);
  batch.reply = (to, answer: InternalAnswer) => {
    const { settings, ids } = state;
    const asked = { settings, serviceMs: batch.serviceMs, idLeads: ids.leads };
    if (request.kind !== 'command') oracle?.told(request, asked, batch, answer);
    if (oracle === undefined) reply(to, answer);
    else oracle.batches.answers(batch, answer, () => reply(to, answer));
  };
  executeInService(state, batch, to, request);
  batch.reply = reply;
}
