// The engines of the log on LMDB and in memory.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { EpochFile } from '../../src/journal/log/epoch-file.ts';
import { SegmentedLog } from '../../src/journal/log/log.ts';
import { Segments } from '../../src/journal/log/segments.ts';
import { type EngineSubject, engineContract } from './engine-contract.ts';
import { identity, temporaryFolder } from './journal-fixtures.ts';
import { emptyDisk, MemoryEngine } from './memory-journal.ts';

async function onLmdb(context: TestContext): Promise<EngineSubject> {
  const dir = temporaryFolder(context);
  const folder = join(dir, 'log');
  mkdirSync(folder, { recursive: true });
  let opened: { readonly engine: SegmentedLog; readonly segments: Segments } | null = null;
  let hasFailed = false;
  const reopen = () => {
    const segments = new Segments(folder, 1 << 20, identity);
    const engine = new SegmentedLog({
      segments,
      epochFile: new EpochFile(dir),
      onSegment: async () => {},
      movedResponse: () => undefined,
      segmentBytesMax: 1 << 20,
      segmentAgeMaxMs: 1e9,
    });
    opened = { engine, segments };
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
