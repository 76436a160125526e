// The operators' commands, connected to the running process.

import type { Registry } from 'prom-client';
import type { Config } from '../config/config-schema.ts';
import { messageOf } from '../contract/errors/table.ts';
import { kindOfId } from '../contract/id-prefixes.ts';
import { elementAt } from '../core/assert.ts';
import { slotOfId } from '../core/ids.ts';
import { type CompactShard, compactShards } from '../data-folder/compact-folder.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import { DataFolderError } from '../data-folder/data-folder-error.ts';
import { missing } from '../domain/find.ts';
import { listenSecret } from '../edge/api/stream-sources.ts';
import { createApiCaller } from '../operator/use-cases/api-caller.ts';
import { OperatorFailure } from '../operator/use-cases/failures.ts';
import type { CompactItem, OperatorServices, ShardAnswer } from '../operator/use-cases/services.ts';
import { askNoLogs } from '../request-logs/client.ts';
import type { InternalRequest, OpenCall } from '../shard/protocol.ts';
import { shardOfSlot } from '../shard/shard-map.ts';
import { toldMetrics } from '../telemetry/metrics.ts';
import { AskedHolds } from '../threads/checkpoint-holds.ts';
import { ConfiguredNetworks, createSend, networkAddressFaultOf } from '../threads/networks.ts';
import type { Supervisor } from '../threads/supervisor.ts';
import { ThreadFailure } from '../threads/thread.ts';

/** What the process gives as it is. */
type Given = Pick<
  OperatorServices,
  'baseUrl' | 'directory' | 'secrets' | 'mail' | 'config' | 'checks' | 'status' | 'resume'
>;

interface Parts {
  readonly supervisor: Supervisor;
  readonly active: Config;
  readonly metrics: () => Promise<Registry>;
}

export function operatorServices(
  given: Given,
  { supervisor, active, metrics }: Parts,
): Omit<OperatorServices, 'author' | 'language'> {
  const { baseUrl, directory, secrets } = given;
  const { clients, requestLogs } = supervisor;
  const holds = new AskedHolds();
  const networks = new ConfiguredNetworks({ config: active, secrets, send: createSend(active) });

  async function askShard(orgOrId: string, request: InternalRequest): Promise<ShardAnswer> {
    const shard = kindOfId(orgOrId) === 'organization' ? supervisor.shardOf(orgOrId) : shardOfId(orgOrId);
    const answer = await elementAt(clients, shard).ask(request);
    if (answer.ok) return answer;
    // A shard that is restarting comes back, so a client that follows its events waits for it.
    throw new OperatorFailure(answer.code === 'api_error' ? 'failed' : 'refused', answer.message);
  }

  function shardOfId(id: string): number {
    const slot = slotOfId(id);
    if (slot < 0) throw new OperatorFailure('refused', messageOf(missing('object', id, null), 'en'));
    return shardOfSlot(slot, clients.length);
  }

  return {
    ...given,
    now: Date.now,
    networkAddressFault: networkAddressFaultOf(active),
    async checkNetwork(org, mode, method) {
      networks.put(org, directory.organization(org).connectors);
      await networks.of(org, mode)[method]?.check?.();
    },
    async openNetworkCalls(org, limit) {
      const asked = org === null ? clients : [elementAt(clients, supervisor.shardOf(org))];
      const answers = await Promise.all(
        asked.map((client) => client.handOver({ kind: 'open_network_calls', org, limit })),
      );
      return answers.flatMap((answer): OpenCall[] => {
        if (answer.ok) return JSON.parse(answer.body);
        // No calls would look as if all were settled.
        throw new OperatorFailure('failed', `the open calls of a shard are not known: ${answer.message}`);
      });
    },
    async settleNetworkCall(id, outcome, cause) {
      const request = { kind: 'settle_network_call', id, outcome, cause } as const;
      const answer = await elementAt(clients, shardOfId(id)).handOver(request);
      if (answer.ok) return JSON.parse(answer.body);
      throw new OperatorFailure('failed', `${id} was not settled: ${answer.message}`);
    },
    listenSecret: async (org) => listenSecret(await directory.listenKey(), org),
    metrics: async () => toldMetrics(await metrics()),
    compact: () => compactServed(supervisor.folder, (shard, report) => supervisor.compact(shard, report)),
    holdCheckpoint: (shard, signal) => holdServed(supervisor, holds, shard, signal),
    requestLogs: requestLogs?.ask ?? askNoLogs,
    askShard,
    callApi: createApiCaller({
      baseUrl,
      shardOf: (org) => elementAt(clients, supervisor.shardOf(org)),
      organizationOf: (org) => directory.organization(org),
      onAnswered: (org, answered) => requestLogs?.put(org, answered),
    }),
  };
}

/** Compacts the running service's shards. */
async function* compactServed(folder: DataFolder, compact: CompactShard): AsyncGenerator<CompactItem> {
  try {
    yield* compactShards(folder, compact);
  } catch (error) {
    throw asRefusal(error);
  }
}

async function* holdServed(supervisor: Supervisor, holds: AskedHolds, shard: number, signal: AbortSignal) {
  const keeper = shard < supervisor.folder.shards ? supervisor.keeperOf(shard) : null;
  if (keeper === null) throw new OperatorFailure('refused', `shard ${shard} does not serve now`);
  try {
    yield* holds.hold(keeper, shard, signal);
  } catch (error) {
    throw asRefusal(error);
  }
}

function asRefusal(error: unknown): unknown {
  const isExpected = error instanceof DataFolderError || error instanceof ThreadFailure;
  return isExpected ? new OperatorFailure('refused', error.message) : error;
}
