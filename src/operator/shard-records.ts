// What operators' commands ask of the shards: records as they are stored, and commands about one of them. An id finds
// its shard; each function rejects with an `OperatorFailure` when the shard refuses or is away.

import type { InternalParams } from '../domain/command.ts';
import { listedMax, OperatorFailure } from './operator-protocol.ts';
import type { OperatorServices } from './operator-services.ts';

/** The newest records of an index, newest first, at most `listedMax`. */
export async function records<R>(services: OperatorServices, orgOrId: string, index: string): Promise<R[]> {
  const { body } = await services.askShard(orgOrId, { kind: 'records', index, limit: listedMax });
  return JSON.parse(body) as R[];
}

/** The record with this id; `what` it is to be, and the `prefix` of such ids, are for whoever asks for another kind. */
export async function recordOf<R>(
  services: OperatorServices,
  id: string,
  prefix: string,
  what: string,
): Promise<R> {
  if (!id.startsWith(prefix))
    throw new OperatorFailure('refused', `${id} is no ${what}: its id starts with ${prefix}`);
  return JSON.parse((await services.askShard(id, { kind: 'record', id })).body) as R;
}

/** Runs a command about the object with this id; settles with its answer when that is durable. */
export async function command<O extends keyof InternalParams>(
  services: OperatorServices,
  id: string,
  operation: O,
  params: InternalParams[O],
): Promise<unknown> {
  const request = { kind: 'command', operation, id, params, language: 'en' } as const;
  return JSON.parse((await services.askShard(id, request)).body);
}
