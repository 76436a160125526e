// The memory of the machine, and the share of it that each shard gets unless configured.

import { totalmem } from 'node:os';
import { memoryShares, shardMibMin } from '../shard/memory.ts';
import { ConfigError } from './config.ts';
import type { Config } from './config-schema.ts';

const mib = 1024 * 1024;
/** A larger heap keeps more records in memory, and has longer pauses. */
const defaultShardMibMax = 1024;

/** The memory that the process may use: the machine's, or the limit of its container. */
export function machineBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}

/**
 * The configuration with the size of a shard's heap filled in: all shards together get a quarter of the machine. Throws
 * `ConfigError` when the configured size is more than the machine has.
 */
export function withShardMemory(config: Config, shards: number, bytes: number): Config {
  const { shardMib } = config.memory;
  if (shardMib !== 0) {
    refuseTooMuch(shardMib, shards, bytes);
    return config;
  }
  const share = Math.floor(bytes / mib / 4 / shards);
  return { ...config, memory: { shardMib: Math.min(Math.max(share, shardMibMin), defaultShardMibMax) } };
}

function refuseTooMuch(shardMib: number, shards: number, bytes: number): void {
  const { mailboxBytesMax, outboxBytesMax, answersBytesMax } = memoryShares(shardMib);
  const needed = shards * (shardMib * mib + mailboxBytesMax + outboxBytesMax + answersBytesMax);
  if (needed <= bytes) return;
  const inMib = (count: number) => `${Math.floor(count / mib)} MiB`;
  throw new ConfigError(
    `PAYMENTS_MEMORY_SHARD_MIB is ${shardMib}: with ${shards} shards that comes to ${inMib(needed)}, and the machine has ` +
      `${inMib(bytes)}: set a smaller one, or 0`,
  );
}
