// The size of a shard's heap, by the memory of the machine and the number of shards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/config/config.ts';
import { machineBytes, withShardMemory } from '../../src/config/machine-memory.ts';
import { ConfigError } from '../../src/config/settings.ts';

const configDir = fileURLToPath(new URL('../../config', import.meta.url));
const mib = 1024 * 1024;

function shardMib(shards: number, machineMib: number, configured = 0): number {
  const config = loadConfig({ PAYMENTS_MEMORY_SHARD_MIB: String(configured) }, configDir);
  return withShardMemory(config, shards, machineMib * mib).memory.shardMib;
}

const sizes: readonly (readonly [shards: number, machineMib: number, shardMib: number])[] = [
  [1, 1_024, 256],
  [1, 2_048, 512],
  [3, 8_192, 682],
  [1, 65_536, 1_024],
  [15, 32_768, 546],
  [8, 1_024, 64],
];
for (const [shards, machineMib, expected] of sizes) {
  test(`${shards} shards on a machine of ${machineMib} MiB get ${expected} MiB each`, () => {
    assert.equal(shardMib(shards, machineMib), expected);
  });
}

test('a configured size is taken as it is, unless the machine has less than it comes to', () => {
  assert.equal(shardMib(2, 4_096, 1_024), 1_024);
  assert.throws(
    () => shardMib(2, 3_071, 1_024),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(
        error.message,
        /^PAYMENTS_MEMORY_SHARD_MIB is 1024: with 2 shards .* 3072 MiB, and the machine has 3071 MiB: set/,
      );
      return true;
    },
  );
});

test('the machine has memory', () => {
  assert.ok(machineBytes() > 64 * mib && Number.isFinite(machineBytes()));
});
