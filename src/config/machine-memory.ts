// The memory of the machine, and the share of it that each shard gets unless configured.

import { totalmem } from 'node:os';
import { memoryShares, shardMibMin } from '../shard/memory.ts';
import type { Config } from './config-schema.ts';
import { ConfigError } from './settings.ts';

const mib = 1024 * 1024;
/** A larger heap keeps more records in memory, and has longer pauses. */
const defaultShardMibMax = 1024;

/** The memory that the process may use: the machine's, or the limit of its container. */
export function machineBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}

/**
 * The configuration with the sizes of a shard's heap and of its mailbox filled in: all shards
 * together get a quarter of the machine. Throws `ConfigError` when the configured sizes are more
 * than the machine has.
 */
export function withShardMemory(config: Config, shards: number, bytes: number): Config {
  const share = Math.floor(bytes / mib / 4 / shards);
  const shardMib = config.memory.shardMib || Math.min(Math.max(share, shardMibMin), defaultShardMibMax);
  const { mailboxBytesMax, mailboxRequestsMax } = memoryShares(shardMib);
  const mailbox = {
    ...config.mailbox,
    requestsMax: config.mailbox.requestsMax || mailboxRequestsMax,
    mibMax: config.mailbox.mibMax || mailboxBytesMax / mib,
  };
  if (config.memory.shardMib !== 0) refuseTooMuch(shardMib, mailbox.mibMax, shards, bytes);
  return { ...config, memory: { shardMib }, mailbox };
}

function refuseTooMuch(shardMib: number, mailboxMib: number, shards: number, bytes: number): void {
  const { outboxBytesMax, answersBytesMax } = memoryShares(shardMib);
  const needed = shards * ((shardMib + mailboxMib) * mib + outboxBytesMax + answersBytesMax);
  if (needed <= bytes) return;
  const inMib = (count: number) => `${Math.floor(count / mib)} MiB`;
  throw new ConfigError(
    `PAYMENTS_MEMORY_SHARD_MIB is ${shardMib}: with ${shards} shards that comes to ${inMib(needed)}, and the machine has ` +
      `${inMib(bytes)}: set a smaller one, or 0`,
  );
}
