// What `payments doctor` says of PostgreSQL's standbys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers } from '../../src/core/scheduler.ts';
import { examinePostgres, nameOfDatabase } from '../../src/postgresql/examine.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { poll } from '../poll.ts';
import { leftOut, promoteWrongly, startServers } from './servers.ts';

test('how far the standbys are is told, or what the role needs to see it', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 1);
  const address = parseJournalUrl(servers.url);
  assert(typeof address !== 'string');
  const options = { address, password: null, ca: null, timers: systemTimers };
  const examined = async () => {
    const { ok, detail } = await examinePostgres(options, false);
    assert.equal(ok, true, detail);
    return detail;
  };
  assert.match(await examined(), /; 1 standby, at most \d+ bytes behind; the log takes/);
  await servers.all[0]!.query('revoke pg_monitor from payments');
  assert.match(
    await examined(),
    /; 1 standby, whose lag the role may not see \(grant pg_monitor to it\); the log/,
  );
  // Without any, no commit is ever confirmed.
  await servers.all[1]!.stop('fast');
  const alone = await poll(async () => {
    const found = await examinePostgres(options, false);
    return found.ok ? undefined : found.detail;
  });
  assert.match(alone, /: no standby follows it, so writes wait: start one, or have one follow it \(docs/);
  await servers.all[0]!.stop('fast');
  const gone = await examinePostgres(options, false);
  assert.match(
    gone.detail,
    /^no PostgreSQL takes writes: .*: start the primary, or promote a standby \(docs/,
  );
});

test('a database is called by its partitions where there are several', () => {
  assert.equal(nameOfDatabase({ partitions: null }), 'postgresql');
  assert.equal(nameOfDatabase({ partitions: { first: 0, last: 15 } }), 'postgresql 0-15');
});

test('a standby that has more than the primary is to be promoted instead', {
  skip: leftOut,
}, async (context) => {
  const servers = await startServers(context, 2);
  const c = servers.all[2]!;
  const address = parseJournalUrl(servers.url);
  assert(typeof address !== 'string');
  const options = { address, password: null, ca: null, timers: systemTimers };
  await promoteWrongly(servers);
  const isTold = () =>
    poll(async () => {
      const { detail } = await examinePostgres(options, false);
      return /has received/.test(detail) ? detail : undefined;
    });
  await isTold();
  // Also where the primary goes on until it ends behind the other one.
  await c.query(
    "set synchronous_commit = local; select pg_logical_emit_message(true, '', repeat('-', 8192))",
  );
  const wrong = await isTold();
  assert.match(wrong, /: b has received what this server never had, .* promote that one instead/);
});
