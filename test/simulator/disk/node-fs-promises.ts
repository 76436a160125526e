// Stands in for `node:fs/promises` in the sources, as far as it is used: the log fills the file of its newest segment ahead, and
// backups and the archive write their files.

export * from 'node:fs/promises';

import { diskError, systemError, theMachine } from './machine.ts';
import { closeSync, fsyncSync, openSync, writeSync } from './node-fs.ts';
import { EnvironmentFile } from './volume.ts';

function fileAt(path: string): EnvironmentFile {
  const node = theMachine().volume.find(path);
  if (node instanceof EnvironmentFile) return node;
  throw systemError('ENOENT', path);
}

async function afterWriting(): Promise<void> {
  const machine = theMachine();
  machine.step();
  await machine.simulation.wait(machine.writeMs());
  machine.step();
}

/** `flags` are a number for the file of a segment, which is there. */
export async function open(path: string, flags: number | string) {
  return typeof flags === 'number' ? openSegment(path) : openPlain(path, flags);
}

function openSegment(path: string) {
  theMachine().step();
  const file = fileAt(path);
  return {
    async write(_zeros: Buffer, _offset: number, length: number, position: number) {
      await afterWriting();
      if (theMachine().volume.isFull) throw Object.assign(diskError('full'), { code: 'ENOSPC' });
      file.size = Math.max(file.size, position + length);
      return { bytesWritten: length };
    },
    async close() {},
  };
}

function openPlain(path: string, flags: string) {
  const descriptor = openSync(path, flags);
  const sync = async () => {
    await afterWriting();
    fsyncSync(descriptor);
  };
  return {
    async write(bytes: Buffer, offset: number, length: number, position: number) {
      await afterWriting();
      return { bytesWritten: writeSync(descriptor, bytes, offset, length, position) };
    },
    async writeFile(bytes: Uint8Array) {
      await afterWriting();
      writeSync(descriptor, bytes);
    },
    datasync: sync,
    sync,
    async close() {
      closeSync(descriptor);
    },
  };
}

export async function truncate(path: string, size: number): Promise<void> {
  await afterWriting();
  fileAt(path).size = size;
}
