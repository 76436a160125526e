// What may happen to a node that runs partitions for the one with the lease, and to the link between them, while merchants work
// through both: what was acknowledged is there, once, and a partition is served again within seconds. One cluster for all of it,
// because nodes take long to start.

import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../free-port.ts';
import { FaultyMachine } from '../machine/faulty-machine.ts';
import { assertWhole, merchantsOn, pauseAll, progress } from '../machine/merchants.ts';
import { calmRestMs } from '../main/merchant.ts';
import { poll } from '../poll.ts';
import { Link } from '../postgresql/links.ts';
import { leftOut, startServers } from '../postgresql/servers.ts';
import { withRequestLogs } from '../service.ts';
import { type Node, startNode } from './nodes.ts';

const machine = FaultyMachine.make();
const skip = {
  skip: leftOut || (machine === null ? 'there is no compiler for the machine that fails' : false),
};
const keeper = join(import.meta.dirname, '../main/keeper.mjs');
/** What a fault may take: trust is over, the partition starts elsewhere; the rest is for a busy machine. */
const backMsMax = 25_000;

/** Waits for what the node says from now on. */
function hears(node: Node): (words: RegExp) => Promise<unknown> {
  const from = node.output().length;
  const said = () => node.output().slice(from);
  return (words) => poll(() => words.test(said()) || undefined, said);
}

test('links cut one way and both, a full disk, a stepped clock, a rolling restart', skip, async (context) => {
  const servers = await startServers(context, 1);
  const [atA, atB, linkA, linkB] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const urls = [`http://127.0.0.1:${atA}`, `http://127.0.0.1:${atB}`];
  const envOf = (port: number, link: string) => ({
    ...withRequestLogs,
    PAYMENTS_PORT: String(port),
    PAYMENTS_CLUSTER_ADDRESS: `127.0.0.1:${port}`,
    PAYMENTS_CLUSTER_LINK: link,
    PAYMENTS_REQUEST_TIMEOUT_MS: '2000',
  });
  // Node b listens at the same port of another address of loopback.
  const link = await new Link(linkB).open(context, { host: '127.0.0.2', port: linkB });
  const startA = (dataDir?: string) =>
    startNode(context, {
      url: servers.url,
      name: 'a',
      env: envOf(atA, `127.0.0.1:${linkA}`),
      ...(dataDir !== undefined && { dataDir }),
    });
  // It is named anew each time: a node that has failed is left alone for longer each time.
  const startB = (name: string, more: Readonly<Record<string, string>>, launcher?: string) =>
    startNode(context, {
      url: servers.url,
      name,
      dataDir: machine!.dataDir,
      secretsKeyOf: a.dataDir,
      env: { ...envOf(atB, `127.0.0.2:${linkB}`), ...more },
      ...(launcher !== undefined && { launcher }),
    });
  const a = startA();
  const first = await a.serving;
  const merchants = await merchantsOn(context, first);
  for (const merchant of merchants) merchant.work(urls, 2, calmRestMs);
  let b = startB('b', machine!.environment, keeper);
  const lent = /partition \d runs on node [bcd] after/;
  await a.says(lent);
  await progress(first, merchants, 10);

  /** All partitions serve again within seconds. */
  const passes = async (fault: string, begin: () => void) => {
    const [hearsA, fromMs] = [hears(a), performance.now()];
    begin();
    await hearsA(/the link to node [bcd] is lost/);
    await progress(first, merchants, 5);
    const ms = Math.round(performance.now() - fromMs);
    console.error(`${fault}: all partitions serve after ${ms} ms`);
    assert(ms < backMsMax, `${fault}: all partitions serve after ${ms} ms`);
  };
  /** The other node is lent a partition again. */
  const lendsAgain = async (begin: () => void) => {
    const hearsA = hears(a);
    begin();
    await hearsA(lent);
    await progress(first, merchants, 5);
  };

  // A clock that is set back changes nothing. Forward looks like a machine that was suspended: what is asked before the next
  // beat is refused.
  const said = a.output().length;
  machine!.setClocks({ realMs: -3_600_000 });
  await progress(first, merchants, 10);
  assert.doesNotMatch(a.output().slice(said), /is lost|ended/);
  machine!.setClocks({});
  await progress(first, merchants, 10);
  const isLent = async () =>
    (await servers.all[0]!.query("select 1 from payments.partitions where node = 'b'", 'payments'))[0];
  await poll(isLent);

  // The process ends at the first write that fails, and is started again on a disk that is still full.
  const [hearsA, hearsB] = [hears(a), hears(b)];
  const fails = { on: 'write', action: 'fail', argument: constants.errno.ENOSPC } as const;
  await passes('the disk of node b is full', () =>
    machine!.faults({ ...fails, place: 'shard-' }, { ...fails, place: 'room.probe' }),
  );
  await hearsB(/node b stands by"/);
  await hearsA(/node b can run partitions/);
  await hearsB(/partition \d can't be run here/);
  await progress(first, merchants, 5);
  machine!.heal();
  await b.stop();
  await lendsAgain(() => {
    b = startB('c', {});
  });

  await passes('what node a says is lost', () => link.cut('requests'));
  await lendsAgain(() => link.mend());
  await passes('what the other node says is lost', () => link.cut('answers'));
  await lendsAgain(() => link.mend());

  // Both nodes are restarted, one after the other, the first of them while nothing goes over the link.
  await passes('nothing goes over the link', () => link.cut('requests', 'answers'));
  await b.stop();
  link.mend();
  await lendsAgain(() => {
    b = startB('d', {});
  });
  // On a busy machine it may be ended before it has stopped, which costs a takeover and nothing else.
  await first.stop();
  const second = await b.serving;
  await progress(second, merchants, 5);
  const back = startA(a.dataDir);
  await hears(b)(/partition \d runs on node a after/);
  await progress(second, merchants, 5);
  await back.stop();
  await progress(second, merchants, 5);

  await pauseAll(merchants);
  for (const merchant of merchants) {
    await merchant.settle(second.url);
    const failures = [...merchant.answers.keys()].filter((answer) => /^(5|40[1346])/.test(answer));
    assert.deepEqual(
      failures.filter((answer) => answer !== '503 api_error'),
      [],
    );
  }
  await assertWhole(second, merchants, 'links cut, a full disk, a rolling restart');
});
