// A shard with its networks' runner, on a journal in memory: what a damaged record keeps from being done.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import type { NotedEnd } from '../../src/data-folder/sequence-notes.ts';
import type { CardNetwork, Networks } from '../../src/networks/network.ts';
import { outcomeCommand } from '../../src/shard/protocol.ts';
import { RunningShard } from '../../src/threads/running-shard.ts';
import type { MemoryJournal } from '../journal/memory-journal.ts';
import { createManualTimers } from '../networks/manual-timers.ts';
import { Actor, account, damage, startMs } from '../shard/actor.ts';
import { shardOptions } from '../shard/shard-options.ts';

const never = new Promise<never>(() => {});

/** A card network that is asked about calls and never answers; `asked` has their payment intents. */
function silentNetworks(asked: string[]): Networks {
  const card: CardNetwork = {
    openPage: () => never,
    refund: () => never,
    lookup: ({ paymentIntent }) => {
      asked.push(paymentIntent);
      return never;
    },
  };
  return {
    of: () => ({ card, cash: null }),
    posting: () => ({ card: null, cash: null }),
    callbackPath: () => '',
    available: () => ({ card: true, cash: false, cardPage: 'own', agents: null }),
    onOutcome() {},
  };
}

/** The journal of a shard in which a refund of each of these payments waits for the network. */
async function journalWithRefunds(payments: number) {
  const actor = new Actor();
  const paid = [];
  for (let i = 0; i < payments; i++) {
    const { intent, charge } = await actor.paidByCard(`p${i}`);
    const { json } = await actor.send('POST /v1/refunds', { body: { charge }, key: `r${i}` });
    paid.push({ intent, charge, refund: json.id as string });
  }
  await actor.shard.checkpoint();
  return { journal: actor.journal.reopen(), paid };
}

/** The shard on a journal, with all that it has told. */
function hostedOn(journal: MemoryJournal) {
  const asked: string[] = [];
  const damages: string[] = [];
  const ends: NotedEnd[] = [];
  const timers = createManualTimers(startMs);
  const hosted = new RunningShard({
    ...shardOptions(journal, { onDamage: (reason) => damages.push(reason) }),
    dir: tmpdir(),
    accounts: [account],
    revision: 1,
    paused: false,
    networks: silentNetworks(asked),
    timers,
    onNetworkTrouble() {},
    onCallback() {},
    onDurable: (end) => ends.push(end),
    onDisk() {},
  });
  return { hosted, asked, damages, ends, timers };
}

test('a call about a payment that is damaged is left alone, and the others are asked about', async () => {
  for (const kind of ['intent', 'charge', 'refund'] as const) {
    const { journal, paid } = await journalWithRefunds(3);
    const [first, damaged, last] = paid;
    damage(journal, damaged![kind]);
    const { hosted, asked, damages } = hostedOn(journal);
    await hosted.recover();
    await hosted.start();
    assert.deepEqual(asked, [first!.intent, last!.intent], kind);
    assert.deepEqual(damages, [`the record ${damaged![kind]} is not as it was written`]);
    await hosted.stop();
  }
});

test('what networks owe is known without reading it, from a start on and until it is told', async () => {
  const { journal } = await journalWithRefunds(2);
  const { hosted } = hostedOn(journal);
  await hosted.recover();
  await hosted.start();
  const get = journal.checkpoint.get.bind(journal.checkpoint);
  let reads = 0;
  journal.checkpoint.get = (id) => {
    reads++;
    return get(id);
  };
  const owed = hosted.owedCalls();
  assert.deepEqual([owed.map(({ action }) => action), reads], [['refund_charge', 'refund_charge'], 0]);
  const [first, second] = owed;
  await hosted.shard.ask(outcomeCommand(first!.id, { result: 'done' }));
  assert.deepEqual(hosted.owedCalls(), [second]);
  await hosted.shard.ask(outcomeCommand(second!.id, { result: 'accepted' }));
  assert.deepEqual(hosted.owedCalls(), [{ ...second, accepted: true }]);
  await hosted.stop();
});

test('a shard tells how far its log is on the disk: at first what the checkpoint has, then what was appended', async () => {
  const { journal } = await journalWithRefunds(1);
  const { hosted, ends, timers } = hostedOn(journal);
  await hosted.recover();
  await hosted.start();
  const { sequence } = journal.checkpoint;
  await timers.advance(2_000);
  assert.deepEqual(ends, [{ sequence, checksum: null }], 'once');
  const [owed] = hosted.owedCalls();
  await hosted.shard.ask(outcomeCommand(owed!.id, { result: 'done' }));
  await timers.advance(1_000);
  assert.deepEqual(ends.slice(1), [journal.log.durableEnd]);
  assert(journal.log.durableEnd!.sequence > sequence);
  await hosted.stop();
});

test('a change of the directory that comes while the shard stops is left to its next start', async () => {
  const { journal } = await journalWithRefunds(0);
  const { hosted } = hostedOn(journal);
  await hosted.recover();
  await hosted.start();
  await hosted.stop();
  const late: string[] = [];
  journal.checkpointer.putMetadata = async (values) => void late.push(...values.keys());
  hosted.noteDirectory(2);
  assert.deepEqual(late, []);
});
