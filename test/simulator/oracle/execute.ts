// Stands in for `shard/execute.ts`: what each request comes to, and what its answer must say, is known beside the shard.

import type { CommitBatch, ReplyTo } from '../../../src/shard/commit-batch.ts';
import { execute as executeInService } from '../../../src/shard/execute.ts';
import type { RequestFrame } from '../../../src/shard/frames.ts';
import type { ShardState } from '../../../src/shard/shard-state.ts';
import { oracleOfBatch } from './oracle.ts';

export function execute(state: ShardState, batch: CommitBatch, to: ReplyTo, frame: RequestFrame): void {
  const run = () => executeInService(state, batch, to, frame);
  const oracle = oracleOfBatch(state, batch);
  oracle?.batches.takes(batch, frame.body.length);
  if (oracle === undefined) run();
  else oracle.requests.execute(frame, to.peer, batch, state, run);
}
