// Stands in for `node:fs/promises` in the sources, as far as it is used: the log fills the file of its newest segment ahead.

export * from 'node:fs/promises';

import { diskError, systemError, theMachine } from './machine.ts';
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

export async function open(path: string, _flags: number) {
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

export async function truncate(path: string, size: number): Promise<void> {
  await afterWriting();
  fileAt(path).size = size;
}
