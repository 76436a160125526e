// The connection to PostgreSQL: the time for an answer, the password, and TLS.

import assert from 'node:assert/strict';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemTimers, type Timers } from '../../src/core/scheduler.ts';
import { askPrimary } from '../../src/postgresql/database.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { findPrimary } from '../../src/postgresql/primary.ts';
import { createAuthority } from '../webhooks/certificates.ts';
import { leftOut, startServers } from './servers.ts';

/** How long an answer is waited for. */
const answerMs = 3_000;

const started = leftOut === false ? startServers({ after }, 0) : null;

test('a question that PostgreSQL does not answer is given up', {
  skip: leftOut,
  timeout: 30_000,
}, async () => {
  const servers = (await started)!;
  const address = parseJournalUrl(servers.url);
  assert(typeof address !== 'string');
  const isAsked = Promise.withResolvers<void>();
  const deadline = Promise.withResolvers<() => void>();
  const timers: Timers = {
    after(ms, action) {
      if (ms === answerMs) deadline.resolve(action);
      return systemTimers.after(ms, action);
    },
  };
  const options = { address, password: null, ca: null, timers };
  const asked = askPrimary(options, (primary) => {
    isAsked.resolve();
    return primary.query({ text: 'select pg_sleep(600)' });
  });
  await isAsked.promise;
  (await deadline.promise)();
  assert.equal(await asked, `127.0.0.1:${servers.all[0]!.port}: it does not answer`);
});

test('a server is asked for its certificate, and gets the password', { skip: leftOut }, async () => {
  const servers = (await started)!;
  const server = servers.all[0]!;
  await server.query("alter role payments password 'a secret'");
  await server.stop();
  const authority = createAuthority();
  const { cert, key } = authority.issue({ hosts: ['127.0.0.1'] });
  for (const [name, text] of [
    ['server.crt', cert],
    ['server.key', key],
    [
      'pg_hba.conf',
      'hostssl payments payments 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n',
    ],
  ] as const) {
    writeFileSync(join(server.folder, name), text, { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(join(server.folder, name), 65_534, 65_534);
  }
  await server.configure('ssl = on\n');
  await server.start();
  const address = parseJournalUrl(servers.url);
  assert(typeof address !== 'string');
  const connect = async (password: string | null, ca: string | null) => {
    const found = await findPrimary({ address, password, ca, timers: systemTimers });
    if (typeof found === 'string') return found;
    found.destroy(new Error('the test is over'));
    return found.name;
  };
  assert.equal(await connect('a secret', authority.cert), `127.0.0.1:${server.port}`);
  assert.match(
    await connect('another one', authority.cert),
    /password authentication failed for user "payments"/,
  );
  assert.match(await connect(null, authority.cert), /password/);
  assert.match(await connect('a secret', createAuthority('Stranger').cert), /certificate|unable to verify/);
  assert.match(await connect('a secret', null), /no pg_hba\.conf entry .* no encryption/);
});
