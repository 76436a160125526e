// A node that stands by hosts for the one that has the lease. It begins when it is seen to have the
// same secrets key, because what it runs needs that, and so does the link.

import { setTimeout as wait } from 'node:timers/promises';
import type { NodeIdentity } from '../cluster/node.ts';
import { linkKeyOf } from '../cluster/node-tls.ts';
import { canShare, type Relay } from '../cluster/relay.ts';
import { environmentOf } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import { firstDatabaseOf } from '../config/postgresql.ts';
import { sizedFor } from '../config/sizing.ts';
import { defined, elementAt } from '../core/assert.ts';
import { lazily } from '../core/lazily.ts';
import type { DataFolder } from '../data-folder/data-folder.ts';
import { requireKeysOf } from '../data-folder/secrets-key.ts';
import { keyCheckRow, keyCheckValueIn } from '../directory/key-check.ts';
import { OwnershipBoard } from '../journal/ownership.ts';
import { createReread } from '../lifecycle/reread.ts';
import { directoryRowIn } from '../postgresql/directory-rows.ts';
import { Hosting } from '../threads/hosting.ts';
import type { HostingThreadData } from '../threads/lending-protocol.ts';
import { metricsOfThreads } from '../threads/metrics-of-threads.ts';
import type { WaitingThreads } from '../threads/thread-kinds.ts';
import { type Owning, type RequiredThread, requireThread } from './owning.ts';

const hostingEntry = new URL('../threads/hosting-thread.ts', import.meta.url);
const keyRetryMs = 1_000;

/**
 * This node's secrets keys, once they are seen to be the service's; null: it can't be seen now.
 * Rejects with `ConfigError` when they are others.
 */
export async function keysOfService(config: Config): Promise<readonly string[] | null> {
  const options = defined(firstDatabaseOf(config), 'nodes share a service over PostgreSQL');
  const row = await directoryRowIn(options, keyCheckRow);
  return row instanceof Uint8Array
    ? requireKeysOf(keyCheckValueIn(row), config, environmentOf(process.env))
    : null;
}

export interface HostedHereOptions {
  readonly identity: NodeIdentity;
  /** The thread that stands by. */
  readonly standby: RequiredThread;
  /** The shards whose files that one has found whole. */
  readonly whole: Set<number>;
  readonly threads: WaitingThreads;
  /** It takes the connections that no edge of this node takes. */
  readonly relay: Pick<Relay, 'listen' | 'rest'>;
  /** This node's secrets keys, if they were seen to be the service's already. */
  readonly keys: readonly string[] | null;
  /** Hears that this node's files of a partition are damaged. */
  readonly onDamaged: (partition: number) => void;
}

export class HostedHere {
  readonly #owning: Owning;
  readonly #identity: NodeIdentity;
  readonly #keys: readonly string[] | null;
  readonly #trust: SharedArrayBuffer;
  /** How many edges this node runs. */
  readonly #edges: number;
  readonly #hosting: Hosting;
  readonly #reread: ReturnType<typeof createReread>;
  readonly #onHangup = () => void this.#reread.request();
  #link: RequiredThread | null = null;
  #isStopping = false;
  /** Resolves when everything has ended that runs here. */
  readonly stop = lazily(async () => {
    this.#isStopping = true;
    process.off('SIGHUP', this.#onHangup);
    await this.#hosting.stop();
    await this.#link?.stop();
  });

  constructor(owning: Owning, folder: DataFolder, options: HostedHereOptions) {
    const { identity, keys, relay, ...hosting } = options;
    const { config, load, port, ending, logger, closers } = owning;
    // The node that has the lease archives what others run for it.
    const hosted = (config: Config): Config => ({
      ...sizedFor(config, folder.shards),
      logArchive: { ...config.logArchive, dir: null },
    });
    this.#owning = owning;
    this.#identity = identity;
    this.#keys = keys;
    this.#trust = OwnershipBoard.untrusted(folder.shards);
    this.#edges = canShare ? hosted(config).edges : 0;
    const onListening = (isListening: boolean) => {
      if (isListening) void relay.rest();
      else if (!this.#isStopping) relay.listen().catch(ending.reject);
    };
    const apply = () => {
      this.#link?.ask('reread', { config: this.#reread.active }).catch(() => {});
      return this.#hosting.reread();
    };
    this.#reread = createReread(config, { load, apply, logger });
    this.#hosting = new Hosting({
      ...hosting,
      config: () => hosted(this.#reread.active),
      port,
      folder,
      trust: this.#trust,
      logger,
      onListening,
    });
    process.on('SIGHUP', this.#onHangup);
    ending.onNotice(() => this.#hosting.announceStop());
    closers.push(this.stop);
  }

  /** The configuration as it was read last. */
  get config(): Config {
    return this.#reread.active;
  }

  /** Never resolves. Rejects with `ConfigError` when this node has another secrets key. */
  async run(): Promise<never> {
    const { config } = this.#owning;
    const keys = this.#keys ?? (await this.#sameKeys());
    if (config.cluster.link !== null && !this.#isStopping) {
      const data: HostingThreadData = {
        config: this.config,
        identity: this.#identity,
        key: linkKeyOf(elementAt(keys, 0)),
        edges: this.#edges,
        trust: this.#trust,
      };
      this.#link = requireThread(this.#owning, 'the hosting thread', hostingEntry, data, (news) => {
        if (news.type === 'lent') this.#hosting.take(news);
      });
    }
    return new Promise(() => {});
  }

  async #sameKeys(): Promise<readonly string[]> {
    const { config, closers } = this.#owning;
    const stopping = new AbortController();
    closers.push(async () => stopping.abort());
    for (;;) {
      await wait(keyRetryMs, undefined, stopping);
      const keys = await keysOfService(config);
      if (keys !== null) return keys;
    }
  }

  /** The metrics of its threads, as prom-client's JSON. */
  async metrics(): Promise<readonly object[]> {
    return [...(await this.#hosting.metrics()), ...(await metricsOfThreads([this.#link]))];
  }
}
