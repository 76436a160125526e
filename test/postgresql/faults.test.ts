// What may happen to PostgreSQL, to the links and to the service, while merchants work: nothing that was acknowledged is lost,
// nothing is there twice, and the service goes on when a primary takes writes.

import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { assertWhole, merchantsOn, pauseAll, progress, startWork } from '../machine/merchants.ts';
import { crampedEnv, type Merchant } from '../main/merchant.ts';
import { type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { Link } from './links.ts';
import { leftOut, moreAdvanced, type PostgresServer, startServers } from './servers.ts';

const skip = { skip: leftOut };
const backMsMax = 15_000;

interface Bench {
  readonly a: PostgresServer;
  readonly b: PostgresServer;
  readonly c: PostgresServer;
  readonly standbysFollow: () => Promise<void>;
  readonly links: readonly Link[];
  readonly env: Readonly<Record<string, string>>;
  readonly service: Service;
  readonly merchants: readonly Merchant[];
}

/** A service whose merchants work, with a primary `a` and the standbys `b` and `c`. */
async function working(context: TestContext): Promise<Bench> {
  const servers = await startServers(context, 2);
  const [a, b, c] = servers.all as [PostgresServer, PostgresServer, PostgresServer];
  const links = await Promise.all([a, b, c].map(({ port }) => new Link(port).open(context)));
  const hosts = links.map(({ port }) => `127.0.0.1:${port}`);
  const port = String(await freePort());
  const env = {
    ...crampedEnv,
    PAYMENTS_PORT: port,
    PAYMENTS_JOURNAL_URL: `postgresql://payments@${hosts}/payments`,
  };
  const service = await startService({ env });
  context.after(() => service.kill());
  const merchants = await merchantsOn(context, service);
  startWork(service, merchants);
  await progress(service, merchants, 20);
  return { a, b, c, standbysFollow: () => servers.streaming(a, 2), links, env, service, merchants };
}

/** Every merchant has writes acknowledged again, before long. */
async function servesAgain({ service, merchants }: Pick<Bench, 'service' | 'merchants'>, fault: string) {
  const fromMs = performance.now();
  await progress(service, merchants, 5);
  const ms = Math.round(performance.now() - fromMs);
  console.error(`${fault}: served again after ${ms} ms`);
  assert(ms < backMsMax, `${fault}: served again after ${ms} ms`);
}

/** The same, and then everything is checked. */
async function goesOn(bench: Pick<Bench, 'service' | 'merchants'>, fault: string): Promise<void> {
  const { service, merchants } = bench;
  await servesAgain(bench, fault);
  await assertWhole(service, merchants, fault);
}

async function promote(next: PostgresServer, other: PostgresServer): Promise<void> {
  await next.promote();
  await other.follow(next);
}

/** The primary has no room for the log for a while. */
async function fillDisk(primary: PostgresServer): Promise<void> {
  const noRoom = 'no_room before insert on payments.log for each row execute function payments.no_room()';
  await primary.query(
    `create function payments.no_room() returns trigger language plpgsql as
     $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`,
    'payments',
  );
  await primary.query(`create trigger ${noRoom}`, 'payments');
  await wait(1_500);
  await primary.query('drop trigger no_room on payments.log', 'payments');
}

/** One of three machines, without the others, acknowledges nothing, and reads on. */
async function assertAloneReads({ c, service, merchants }: Bench): Promise<void> {
  const list = () => service.call('/v1/customers', { key: service.keys!.secret });
  const { text } = await list();
  await c.stop('kill');
  await wait(500);
  const acknowledged = merchants.map((merchant) => merchant.acknowledged);
  await wait(1_500);
  const meanwhile = merchants.map((merchant) => merchant.acknowledged);
  assert.deepEqual(meanwhile, acknowledged, 'one machine alone acknowledges nothing');
  const read = await list();
  assert.deepEqual([read.status, read.text], [200, text]);
  await c.start();
}

/** The primary crashes with rows that no standby has, and shows them when it is back. */
async function crash({ a, b, c }: Bench): Promise<void> {
  b.freeze();
  c.freeze();
  await wait(300);
  await a.stop('kill');
  b.thaw();
  c.thaw();
  await a.start();
}

/** The service is killed under load, again and again; gives the last one. */
async function killAgain(context: TestContext, { service, merchants, env }: Bench): Promise<Service> {
  let last = service;
  context.after(() => last.kill());
  for (let round = 0; round < 3; round++) {
    await last.kill();
    last = await startService({ dataDir: service.dataDir, env });
    startWork(last, merchants);
    await progress(last, merchants, 5);
  }
  return last;
}

test(
  'what passes by itself, kills of the service, and a promotion cost nothing acknowledged',
  skip,
  async (context) => {
    const bench = await working(context);
    const { a, b, c, standbysFollow, links, merchants } = bench;
    a.freeze();
    await wait(2_500);
    a.thaw();
    await servesAgain(bench, 'primary frozen and thawed');

    for (const direction of ['requests', 'answers'] as const) {
      links[0]!.cut(direction);
      await wait(1_500);
      links[0]!.mend();
      await servesAgain(bench, `${direction} lost`);
    }

    await fillDisk(a);
    await servesAgain(bench, 'disk of the primary full');

    await b.stop('kill');
    await servesAgain(bench, 'one standby killed');
    await assertAloneReads(bench);
    await servesAgain(bench, 'both standbys killed, one is back');

    await b.start();
    await standbysFollow();
    await crash(bench);
    await servesAgain(bench, 'primary restarted');

    await standbysFollow();
    const service = await killAgain(context, bench);
    await a.stop('kill');
    await promote(...(await moreAdvanced(b, c)));
    await goesOn({ service, merchants }, 'service killed, then the primary, and a standby promoted');
  },
);

test('the primary is frozen, a standby is promoted, and the old primary wakes up', skip, async (context) => {
  const bench = await working(context);
  bench.a.freeze();
  await promote(...(await moreAdvanced(bench.b, bench.c)));
  await progress(bench.service, bench.merchants, 3);
  bench.a.thaw();
  await goesOn(bench, 'old primary thawed');
});

test(
  'a worse standby is promoted: the service refuses it, and says what PostgreSQL has lost',
  skip,
  async (context) => {
    const { a, b, c, service, merchants } = await working(context);
    // It follows nobody any more.
    await c.query("alter system set primary_conninfo = ''");
    await c.query('select pg_reload_conf()');
    await progress(service, merchants, 20);
    await pauseAll(merchants);
    await Promise.all([a.stop('kill'), b.stop('kill')]);
    await c.query("alter system set synchronous_standby_names = ''");
    await c.query('select pg_reload_conf()');
    await c.promote();
    await service.kill();
    const refused = await startService({
      dataDir: service.dataDir,
      env: {
        ...crampedEnv,
        PAYMENTS_JOURNAL_SINGLE: 'true',
        PAYMENTS_JOURNAL_URL: `postgresql://payments@127.0.0.1:${c.port}/payments`,
      },
    }).then(
      (started) => started.stop().then(() => 'it started'),
      (error: Error) => error.message,
    );
    assert.match(
      refused,
      /PostgreSQL has lost what it had acknowledged of partition \d: this mirror ends with sequence \d+/,
    );
  },
);

test(
  'of two services on the same partitions the older one is fenced, and answers nothing more',
  skip,
  async (context) => {
    const bench = await working(context);
    const { service, merchants } = bench;
    await pauseAll(merchants);
    await service.stop();
    const copy = temporaryFolder();
    cpSync(service.dataDir, copy, { recursive: true });
    cpSync(`${service.dataDir}.secrets-key`, `${copy}.secrets-key`);
    const older = await startService({ dataDir: service.dataDir, env: bench.env });
    context.after(() => older.kill());
    const newer = await startService({ dataDir: copy, env: { ...bench.env, PAYMENTS_PORT: '0' } });
    context.after(() => newer.kill());
    startWork(newer, merchants);
    await progress(newer, merchants, 10);
    const body = { amount: 5_000, currency: 'mad' };
    const { secret } = service.keys!;
    const write = () =>
      older.call('/v1/payment_intents', { method: 'POST', body, idempotencyKey: 'old', key: secret });
    await older.until(async () => {
      await write();
      return /has a newer owner/.test(older.output()) || undefined;
    });
    const read = await older.call('/v1/payment_intents', { key: secret });
    assert.equal(read.status, 503, read.text);
    await goesOn({ service: newer, merchants }, 'two services');
    assert.match(older.output(), /stays down: [^\n]*has a newer owner/);
  },
);
