// The API in front of one shard, without a directory: a key is the id of the organization that it opens.

import { type Answered, Api } from '../../src/edge/api/api.ts';
import type { KeyRing } from '../../src/edge/api/authenticate.ts';
import { EventStreams } from '../../src/edge/api/event-stream.ts';
import { UsedKeys } from '../../src/edge/api/used-keys.ts';
import type { ShardClient } from '../../src/shard/client.ts';

export function trustingApi(shard: ShardClient, onAnswered: (answered: Answered) => void = () => {}): Api {
  const keyRing = {
    authenticate: (key: string) => ({ org: key, livemode: false, secret: true, tellAtMs: Infinity }),
  } as unknown as KeyRing;
  return new Api({
    keyRing,
    isTrusted: () => true,
    shards: [shard],
    baseUrl: 'https://pay.test',
    clock: Date.now,
    onAnswered,
    usedKeys: new UsedKeys(),
    wantsAddress: () => false,
    logsUnanswered: () => true,
    addressOf: () => '',
    onRefusedKey: () => {},
    eventStreams: new EventStreams(),
    listenKey: Buffer.alloc(32),
    askLogs: async () => null,
  });
}
