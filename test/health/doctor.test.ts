// The findings of `payments doctor`: as a table, and on a service whose clock is wrong for a while.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { diagnose } from '../../src/health/doctor.ts';
import type { Check } from '../../src/operator/use-cases/services.ts';
import { startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const gibibyte = 2 ** 30;

type Values = Readonly<Record<string, readonly number[]>>;

/** What is found when the shards' metrics have these values, one a shard. */
function found(values: Values, freeBytes = 100 * gibibyte): Readonly<Record<string, string>> {
  const all: Values = { payments_shard_up: [1, 1, 1], payments_read_only: [0, 0, 0], ...values };
  const samples = (name: string) =>
    (all[name] ?? []).map((value, shard) => ({ labels: { shard: String(shard) }, value }));
  const checks = diagnose(samples, freeBytes);
  return Object.fromEntries(checks.map(({ name, ok, detail }) => [name, `${ok ? 'ok' : 'WRONG'} ${detail}`]));
}

const well = {
  shards: 'ok 3 of 3 serve',
  disk: 'ok 102400 MiB free',
  clock: 'ok has not stepped since the start',
  'stored data': 'ok the scrubber has found no damage',
};

const rows: readonly [string, Values, freeBytes: number | undefined, Partial<typeof well>][] = [
  ['nothing is wrong', {}, undefined, {}],
  [
    'a shard is down',
    { payments_shard_up: [1, 0, 1] },
    undefined,
    { shards: 'WRONG not serving: 1 of 3; the log says why' },
  ],
  ['little room', {}, gibibyte / 2, { disk: 'WRONG 512 MiB free; make room' }],
  [
    'a quota is used up',
    { payments_read_only: [0, 0, 1] },
    undefined,
    { disk: 'WRONG 102400 MiB free; shards that refuse writes: 2; make room' },
  ],
  [
    'the clock is behind',
    { payments_clock_offset_seconds: [0, -3600.2, -3600], payments_clock_jumps_total: [0, 1, 1] },
    undefined,
    {
      clock:
        "WRONG the machine's clock stepped and is 3600 s behind; steps since the start: 1; " +
        'check how this machine keeps its time',
    },
  ],
  [
    'the clock has been wrong',
    { payments_clock_offset_seconds: [0, 0, 0], payments_clock_jumps_total: [2, 2, 2] },
    undefined,
    { clock: 'ok steps since the start: 2' },
  ],
  [
    'stored data is damaged',
    { payments_scrub_damaged: [0, 2, 0] },
    undefined,
    {
      'stored data':
        'WRONG damaged: shard 1 in 2 places; the log says where ("the scrubber has found damage") and what to do',
    },
  ],
];

for (const [name, values, freeBytes, wrong] of rows) {
  test(name, () => assert.deepEqual(found(values, freeBytes), { ...well, ...wrong }));
}

test('a clock that is a day ahead for a while: it is told, keys are kept, dates are right', async () => {
  const file = join(temporaryFolder(), 'ahead');
  const service = await startService({
    env: {
      NODE_OPTIONS: `--import=${new URL('clock-step.ts', import.meta.url).href}`,
      CLOCK_STEP_FILE: file,
      CLOCK_STEP_MS: String(25.5 * 3_600_000),
    },
  });
  const clock = async () => {
    const checks = await service.operate<Check[]>('doctor', {});
    return checks.find(({ name }) => name === 'clock')!;
  };
  const body = { amount: 20_000, currency: 'mad' };
  const create = (idempotencyKey: string) => service.call('/v1/payment_intents', { body, idempotencyKey });
  try {
    const first = await create('a');
    assert.equal((await clock()).ok, true);
    writeFileSync(file, '');
    const told = await service.until(async () => {
      const check = await clock();
      return check.ok ? undefined : check;
    });
    assert.match(
      told.detail,
      /^the machine's clock stepped and is 9\d{4} s ahead; steps since the start: 1;/,
    );
    await service.until(() => /the machine's clock has stepped/.exec(service.output()) ?? undefined);
    const ahead = await create('b');
    rmSync(file);
    const again = await create('a');
    assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [first.text, 'true']);
    const after = await create('c');
    for (const { json } of [ahead, after]) {
      assert.ok(Math.abs(json.created - first.json.created) < 3_600, 'a date is at most an hour away');
    }
    await service.until(async () => ((await clock()).ok ? true : undefined));
    assert.equal((await clock()).detail, 'steps since the start: 1');
  } finally {
    await service.stop();
  }
});
