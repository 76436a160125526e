// The endpoints that fail, of all shards. A shard that is away or waits for its disk is left out,
// so that `payments status` says so in time.

import { within } from '../core/scheduler.ts';
import { presentEndpoint } from '../operator/use-cases/present.ts';
import type { ShardClient } from '../shard/client.ts';
import type { FailingEndpoints } from '../shard/endpoint-health.ts';
import type { Failing, StatusOptions } from './status.ts';

export function failingEndpoints(clients: readonly Pick<ShardClient, 'ask'>[]): StatusOptions['failing'] {
  return async (limit, withinMs) => {
    const answers = await Promise.all(
      clients.map((client) => within(withinMs, client.ask({ kind: 'failing_endpoints', limit }))),
    );
    const told = answers.flatMap((answer): FailingEndpoints[] =>
      answer?.ok ? [JSON.parse(answer.body)] : [],
    );
    return joined(told, limit);
  };
}

function joined(told: readonly FailingEndpoints[], limit: number): Failing {
  const listed = told.flatMap((each) => each.listed).sort((a, b) => sinceMs(a) - sinceMs(b));
  return {
    count: told.reduce((total, { count }) => total + count, 0),
    listed: listed.slice(0, limit).map(({ endpoint, now }) => presentEndpoint(endpoint, now)),
  };
}

function sinceMs({ now }: FailingEndpoints['listed'][number]): number {
  return now.health?.failingSinceMs ?? 0;
}
