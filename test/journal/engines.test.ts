// The engines of the log on LMDB and in memory.

import type { TestContext } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { type EngineSubject, engineContract } from './engine-contract.ts';
import { emptyDisk, MemoryEngine } from './memory-journal.ts';
import { smallLog } from './small-log.ts';

async function onLmdb(context: TestContext): Promise<EngineSubject> {
  const dir = temporaryFolder(context);
  let opened: ReturnType<typeof smallLog> | null = null;
  let hasFailed = false;
  const reopen = () => {
    opened = smallLog(dir);
    return opened;
  };
  const current = () => opened ?? reopen();
  const environment = () => current().segments.open(current().segments.list.at(-1)!);
  const close = async () => {
    await opened?.engine.close();
    opened = null;
  };
  context.after(close);
  return {
    async open() {
      // The process that has met the error ends.
      if (hasFailed) await close();
      hasFailed = false;
      return current().engine;
    },
    async hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const held = environment();
      const batch = held.batch.bind(held);
      held.batch = (action) => promise.then(() => batch(action)) as ReturnType<typeof batch>;
      return async () => resolve();
    },
    async loseAnswer(isStored) {
      const lost = environment();
      const batch = lost.batch.bind(lost);
      lost.batch = ((action) => {
        lost.batch = batch;
        const written = isStored ? batch(action) : Promise.resolve();
        return written.then(async () => {
          hasFailed = true;
          throw Object.assign(new Error('I/O error'), { code: 5 });
        });
      }) as typeof batch;
      return async () => {};
    },
    async damage(firstSequence) {
      const bytes = Buffer.from(environment().get(firstSequence) as Buffer);
      bytes[bytes.length - 5]! ^= 1;
      environment().putSync(firstSequence, bytes);
      await close();
    },
  };
}

async function inMemory(): Promise<EngineSubject> {
  const disk = emptyDisk();
  let engine = new MemoryEngine(disk);
  return {
    async open() {
      engine = new MemoryEngine(disk);
      return engine;
    },
    async hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      engine.hold(promise);
      return async () => resolve();
    },
    async loseAnswer(isStored) {
      engine.failNextAppend({ diskFull: false, isStored });
      return async () => {};
    },
    async damage(firstSequence) {
      const at = disk.batches.findIndex((batch) => batch.firstSequence === firstSequence);
      const { bytes, ...header } = disk.batches[at]!;
      const damaged = Buffer.from(bytes);
      damaged[damaged.length - 5]! ^= 1;
      disk.batches[at] = { ...header, bytes: damaged };
    },
  };
}

engineContract('on LMDB', onLmdb);
engineContract('in memory', inMemory);
