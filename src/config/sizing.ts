// The values of the configuration that depend on the machine, where none are configured.

import { availableParallelism } from 'node:os';
import { shardsMax } from '../shard/shard-map.ts';
import { type Config, edgesMax, webhookThreadsMax } from './config-schema.ts';
import { openFilesMax, withinOpenFiles } from './descriptors.ts';
import { machineBytes, withShardMemory } from './machine-memory.ts';

/** Fills them in for a folder with this many shards. Throws `ConfigError`. */
export function sizedFor(config: Config, shards: number): Config {
  const threaded = withThreads(config, availableParallelism());
  return withinOpenFiles(withShardMemory(threaded, shards, machineBytes()), shards, openFilesMax());
}

/**
 * Edges take a third of a create's processor time, which is about one core in four beside the
 * shards' commits. A payment's deliveries take as much as its requests do at the edge.
 */
const coresPerThread = 4;

/** Fills in the numbers of edges and of webhook threads: a quarter of the cores each. */
export function withThreads(config: Config, cores: number): Config {
  const share = Math.max(1, Math.floor(cores / coresPerThread));
  return {
    ...config,
    edges: config.edges || Math.min(edgesMax, share),
    webhookThreads: config.webhookThreads || Math.min(webhookThreadsMax, share),
  };
}

/** The shards of a new data folder: as configured, or one for each core without an edge. */
export function shardCountOf(config: Config, cores: number): number {
  const { edges } = withThreads(config, cores);
  return config.shards || Math.min(shardsMax, Math.max(1, cores - edges));
}
