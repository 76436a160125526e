// What every engine of the log must do. The tests run on LMDB, in memory, and on PostgreSQL with its mirror.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { JournalDamaged, JournalFailure } from '../../src/journal/journal.ts';
import type { FollowedBatch, LogEngine } from '../../src/journal/log/log-engine.ts';
import { identity } from './journal-fixtures.ts';
import { bytesOf } from './small-log.ts';

export interface EngineSubject {
  /** The engine as another owner has it: of another process where engines can be shared, else the same. */
  open(): Promise<LogEngine>;
  /** What is appended from now on becomes durable only when the returned function is called. */
  hold(): Promise<() => Promise<void>>;
  /** The next append is not acknowledged, whether it is stored or not. The function that is returned ends that. */
  loseAnswer(isStored: boolean): Promise<() => Promise<void>>;
  /** Changes a byte of the batch with this first sequence where it is stored. */
  damage(firstSequence: number): Promise<void>;
}

async function batchesIn(engine: LogEngine): Promise<FollowedBatch[]> {
  const found: FollowedBatch[] = [];
  for await (const batches of engine.read(0)) found.push(...batches);
  return found;
}

const placesOf = (batches: readonly FollowedBatch[]) =>
  batches.map(({ firstSequence, lastSequence, epoch }) => [firstSequence, lastSequence, epoch]);

/** An owner that has read everything. */
async function owning(engine: LogEngine) {
  const { epoch, isHeld, lostBy } = await engine.acquire(0);
  const batches = await batchesIn(engine);
  let next = (batches.at(-1)?.lastSequence ?? 0) + 1;
  engine.start(next);
  return {
    epoch,
    isHeld,
    lostBy,
    engine,
    append(entries: number): Promise<void> {
      const firstSequence = next;
      next += entries;
      return engine.append(identity, epoch, firstSequence, bytesOf(firstSequence, entries, epoch));
    },
  };
}

function refusedAs(outcome: string) {
  return (error: unknown) => {
    assert(error instanceof JournalFailure, String(error));
    assert.equal(error.outcome, outcome, error.message);
    return true;
  };
}

export function engineContract(
  name: string,
  subjectOf: (context: TestContext) => Promise<EngineSubject>,
  options: { readonly skip?: string | false } = {},
): void {
  const contract = (what: string, run: (subject: EngineSubject) => Promise<void>) =>
    test(`${name}: ${what}`, options, async (context) => run(await subjectOf(context)));

  contract(
    'batches are found in the order of their appends, each with the epoch of its owner',
    async ({ open }) => {
      const engine = await open();
      const first = await owning(engine);
      await Promise.all([first.append(2), first.append(1), first.append(3)]);
      const second = await owning(await open());
      await second.append(1);
      await second.engine.durable(7);
      const [a, b] = [first.epoch, second.epoch];
      assert.deepEqual(placesOf(await batchesIn(second.engine)), [
        [1, 2, a],
        [3, 3, a],
        [4, 6, a],
        [7, 7, b],
      ]);
    },
  );

  contract('an append that does not follow the one before is a bug', async ({ open }) => {
    const { engine, epoch, append } = await owning(await open());
    await append(1);
    assert.throws(() => engine.append(identity, epoch, 3, bytesOf(3, 1, epoch)), /follows the one before/);
    assert.throws(() => engine.append(identity, epoch, 2, bytesOf(3, 1, epoch)), /under its first sequence/);
  });

  contract('every owner has an epoch of its own, also behind one that appended nothing', async ({ open }) => {
    const epochs: number[] = [];
    for (let owner = 0; owner < 4; owner++) {
      const { epoch, append, isHeld } = await owning(await open());
      assert(isHeld());
      epochs.push(epoch);
      if (owner === 2) await append(1);
    }
    assert.deepEqual(epochs, [1, 2, 3, 4]);
  });

  contract('an old owner that wakes up appends nothing, now and later', async ({ open }) => {
    const old = await owning(await open());
    await old.append(2);
    const owner = await owning(await open());
    await owner.append(1);
    await assert.rejects(old.append(1), refusedAs('fenced'));
    await assert.rejects(old.append(1), JournalFailure);
    const next = await owning(await open());
    assert.equal(next.epoch, owner.epoch + 1);
    assert.deepEqual(placesOf(await batchesIn(next.engine)), [
      [1, 2, old.epoch],
      [3, 3, owner.epoch],
    ]);
  });

  contract('an old owner is refused by one that has appended nothing', async ({ open }) => {
    const old = await owning(await open());
    const owner = await owning(await open());
    await assert.rejects(old.append(1), refusedAs('fenced'));
    assert.deepEqual(await batchesIn(owner.engine), []);
  });

  contract('nothing is read, or durable, that may still vanish', async ({ open, hold }) => {
    const owner = await owning(await open());
    await owner.append(1);
    const release = await hold();
    let isAcknowledged = false;
    const appended = owner.append(2).then(() => {
      isAcknowledged = true;
    });
    const durable = owner.engine.durable(3).then(() => isAcknowledged);
    await owner.engine.durable(1);
    assert.deepEqual(placesOf(await batchesIn(owner.engine)), [[1, 1, owner.epoch]]);
    assert.equal(isAcknowledged, false);
    await release();
    await appended;
    assert.equal(await durable, true);
    assert.equal((await batchesIn(owner.engine)).length, 2);
  });

  for (const isStored of [true, false])
    contract(
      `an append without an answer, which ${isStored ? 'is' : 'is not'} stored, is found out by the next owner`,
      async ({ open, loseAnswer }) => {
        const owner = await owning(await open());
        await owner.append(1);
        const heal = await loseAnswer(isStored);
        const lost = owner.append(2);
        await assert.rejects(lost, refusedAs('unknown'));
        if (!owner.isHeld()) assert.equal(owner.lostBy?.()?.outcome, 'unknown');
        await heal();
        await assert.rejects(owner.append(1), JournalFailure);
        const next = await owning(await open());
        await next.append(1);
        await next.engine.durable(isStored ? 4 : 2);
        const expected = isStored ? [1, 3, 4] : [1, 2];
        assert.deepEqual(
          (await batchesIn(next.engine)).map(({ lastSequence }) => lastSequence),
          expected,
        );
      },
    );

  contract(
    'a batch that is not as it was written is damage, behind all that comes before it',
    async ({ open, damage }) => {
      const owner = await owning(await open());
      for (const entries of [1, 2, 1]) await owner.append(entries);
      await owner.engine.durable(4);
      await damage(2);
      await assert.rejects(async () => owning(await open()), JournalDamaged);
    },
  );
}
