// What the service takes while nobody asks anything of it, run as `npm start` runs it: all processes, from npm to the service.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { newSecretsKey } from '../src/crypto/secret-box.ts';
import { freePort } from '../test/free-port.ts';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { memoryMib } from './memory.ts';
import { familyOf, processSeconds } from './processor-time.ts';
import { ready } from './targets.ts';

export interface Idle {
  readonly seconds: number;
  readonly processes: number;
  /** Of one processor. */
  readonly processorShare: number;
  readonly anonymousMib: number;
  /** With the pages of files, of which each that processes share counts in parts. */
  readonly pssMib: number;
}

/** Until what follows a start is over: half a minute after it, V8 collects every heap that a start has left large. */
const settlingMs = 45_000;

export async function measureIdle(seconds: number): Promise<Idle> {
  const folder = temporaryFolder();
  const keyFile = join(folder, 'secrets-key');
  writeFileSync(keyFile, newSecretsKey());
  const port = await freePort();
  const child = spawn('npm', ['start'], {
    cwd: join(import.meta.dirname, '..'),
    env: {
      ...process.env,
      NODE_ENV: 'production',
      PAYMENTS_PORT: String(port),
      PAYMENTS_DATA_DIR: join(folder, 'data'),
      PAYMENTS_SECRETS_KEY_FILE: keyFile,
    },
    stdio: 'ignore',
    // A group of its own, so that all of it can be ended.
    detached: true,
  });
  const end = () => process.kill(-child.pid!, 'SIGKILL');
  process.on('exit', end);
  try {
    await ready(child, `http://127.0.0.1:${port}/readyz`);
    await wait(settlingMs);
    const before = processSeconds(child.pid!)!;
    const startedAt = performance.now();
    await wait(seconds * 1_000);
    const used = processSeconds(child.pid!)! - before;
    const elapsedSeconds = (performance.now() - startedAt) / 1_000;
    const family = familyOf(child.pid!);
    const sum = (kind: 'Anonymous' | 'Pss') => family.reduce((total, pid) => total + memoryMib(pid, kind), 0);
    return {
      seconds,
      processes: family.length,
      processorShare: used / elapsedSeconds,
      anonymousMib: sum('Anonymous'),
      pssMib: sum('Pss'),
    };
  } finally {
    process.off('exit', end);
    end();
  }
}

export function idleLine({ seconds, processes, processorShare, anonymousMib, pssMib }: Idle): string {
  const share = (processorShare * 100).toFixed(2);
  return `idle for ${seconds} s as npm start runs it, ${processes} processes: ${share} % of a processor, ${anonymousMib.toFixed(0)} MiB anonymous, ${pssMib.toFixed(0)} MiB with files (PSS)`;
}
