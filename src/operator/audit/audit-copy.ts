// The audit record in a backup: its files, in pieces. A restore writes the same files, and the new
// folder appends its rows to them.

import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readdirSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../disk/sync-path.ts';
import { auditFolder } from './audit.ts';

const pieceBytes = 1 << 20;
const fileName = /^(operators|keys)(\.\d{16})?\.ndjson(\.1)?$/;

/** A piece of one of the files. */
export interface AuditPiece {
  readonly file: string;
  readonly bytes: Buffer;
}

/** The record of a data folder as it is now, while rows are appended to it or not. */
export function* auditPieces(dataDir: string): Generator<AuditPiece> {
  const folder = auditFolder(dataDir);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => fileName.test(name)) : [];
  // All are opened before one is read, because a file that is full gets another name.
  const opened = names.sort().map((file) => ({ file, descriptor: openSync(join(folder, file), 'r') }));
  try {
    for (const { file, descriptor } of opened) {
      const { size } = fstatSync(descriptor);
      // The name of an empty one says where the record begins.
      if (size === 0) yield { file, bytes: Buffer.alloc(0) };
      for (let at = 0; at < size; ) {
        const bytes = Buffer.alloc(Math.min(pieceBytes, size - at));
        const read = readSync(descriptor, bytes, 0, bytes.length, at);
        if (read === 0) break;
        at += read;
        yield { file, bytes: bytes.subarray(0, read) };
      }
    }
  } finally {
    for (const { descriptor } of opened) closeSync(descriptor);
  }
}

/** Writes the record into a new data folder; it is on disk when this resolves. */
export async function restoreAudit(dataDir: string, pieces: AsyncIterable<AuditPiece>): Promise<void> {
  const folder = auditFolder(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for await (const { file, bytes } of pieces) {
    if (!fileName.test(file)) continue;
    const handle = await open(join(folder, file), 'a', 0o600);
    try {
      await handle.appendFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }
  syncPath(folder);
  syncPath(dataDir);
}
