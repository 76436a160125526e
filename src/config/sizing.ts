// The values of the configuration that depend on the machine, where none are configured.

import { availableParallelism } from 'node:os';
import { withThreads } from './config.ts';
import type { Config } from './config-schema.ts';
import { openFilesMax, withinOpenFiles } from './descriptors.ts';
import { machineBytes, withShardMemory } from './machine-memory.ts';

/** Fills them in for a folder with this many shards. Throws `ConfigError`. */
export function sizedFor(config: Config, shards: number): Config {
  const threaded = withThreads(config, availableParallelism());
  return withinOpenFiles(withShardMemory(threaded, shards, machineBytes()), shards, openFilesMax());
}
