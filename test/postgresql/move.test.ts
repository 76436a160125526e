// The log of a stopped service moves into PostgreSQL, is compared, and moves back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentsWith } from '../main/payments-command.ts';
import { startService } from '../service.ts';
import { leftOut, startServers } from './servers.ts';

const skip = { skip: leftOut };
const body = { amount: 12_500, currency: 'mad' };

test('a data folder moves to PostgreSQL and back, with all that it has', skip, async (context) => {
  const servers = await startServers(context, 1);
  const env = { PAYMENTS_SHARDS: '2' };
  const remote = { ...env, PAYMENTS_JOURNAL_URL: servers.url };
  let service = await startService({ env });
  context.after(() => service.kill());
  const { dataDir, keys } = service;
  const create = (idempotencyKey: string) =>
    service.call('/v1/payment_intents', { method: 'POST', body, idempotencyKey, key: keys!.secret });
  const at = (...words: string[]) => paymentsWith(remote, ...words, '--data-dir', dataDir);
  const before = await create('before');
  assert.equal(before.status, 200, before.text);
  await service.stop();

  const moved = await at('import', '--to-postgresql');
  assert.equal(moved.code, 0, moved.error);
  assert.match(
    moved.out,
    /^PostgreSQL has the log of .*: shard 0 to sequence \d+, shard 1 to sequence \d+\./,
  );
  // Once more does no harm.
  assert.equal((await at('import', '--to-postgresql')).out, moved.out);
  const alone = await paymentsWith(env, 'serve', '--data-dir', dataDir);
  assert.notEqual(alone.code, 0);
  assert.match(alone.out + alone.error, /is the mirror of a log in PostgreSQL: set PAYMENTS_JOURNAL_URL/);
  const resharded = await paymentsWith(env, 'reshard', '--shards', '3', '--data-dir', dataDir);
  assert.match(resharded.error, /is the mirror of a log in PostgreSQL/);

  service = await startService({ dataDir, env: remote });
  assert.deepEqual((await create('before')).json, before.json);
  const during = await create('during');
  assert.equal(during.status, 200, during.text);
  await service.stop();
  const same = await at('verify', '--postgresql');
  assert.equal(same.code, 0, same.out + same.error);
  assert.match(same.out, /have the same log, in 2 shards/);
  assert.equal((await at('verify')).code, 0);

  const back = await at('export', '--from-postgresql');
  assert.equal(back.code, 0, back.error);
  service = await startService({ dataDir, env });
  for (const [key, first] of [
    ['before', before],
    ['during', during],
  ] as const)
    assert.deepEqual((await create(key)).json, first.json);
  assert.equal((await create('after')).status, 200);
  assert.equal(await service.stop(), 0);

  // PostgreSQL lacks what the folder has written since.
  const differs = await at('verify', '--postgresql');
  assert.equal(differs.code, 1);
  assert.match(differs.out, /the mirror goes on behind sequence \d+, where PostgreSQL's log ends/);
  const [primary] = servers.all;
  await primary!.query(
    `update payments.log set bytes = set_byte(bytes, 60, get_byte(bytes, 60) # 1)
     where (partition, first_sequence) in (select partition, min(first_sequence) from payments.log group by partition)`,
    'payments',
  );
  assert.match(
    (await at('verify', '--postgresql')).out,
    /PostgreSQL's batch behind sequence \d+: its checksum does not match/,
  );
});

test(
  'a data folder that PostgreSQL does not know is refused, and so is that of another service',
  skip,
  async (context) => {
    const servers = await startServers(context, 1);
    const service = await startService({ env: { PAYMENTS_SHARDS: '1' } });
    context.after(() => service.kill());
    await service.call('/v1/payment_intents', { method: 'POST', body, idempotencyKey: 'one' });
    await service.stop();
    const env = { PAYMENTS_SHARDS: '1', PAYMENTS_JOURNAL_URL: servers.url };
    const unknown = await paymentsWith(env, 'serve', '--data-dir', service.dataDir);
    assert.match(unknown.out + unknown.error, /PostgreSQL has no directory, and this data folder has one/);
    assert.equal(
      (await paymentsWith(env, 'import', '--to-postgresql', '--data-dir', service.dataDir)).code,
      0,
    );
    const other = await startService({ env: { PAYMENTS_SHARDS: '1' } });
    await other.stop();
    const foreign = await paymentsWith(env, 'serve', '--data-dir', other.dataDir);
    assert.match(foreign.out + foreign.error, /has the log of another data folder/);
  },
);
