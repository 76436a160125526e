// A machine for the service that fails on command. It builds the library of faults.c, starts the service with it, and steers it:
// reads, writes and syncs that fail, wait, end the process or flip a bit, clocks that are wrong, and a power cut.

import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { cutPower } from './power-cut.ts';

const rulesAt = 32;
const ruleBytes = 112;
const rulesMax = 8;

export interface Rule {
  /** `page`, `header`: writes of the storage library; `synced`: between such a write and its being on the disk. */
  readonly on: 'read' | 'write' | 'page' | 'header' | 'sync' | 'synced' | 'create';
  /** A part of the file's path, or its end and a `$`. */
  readonly place: string;
  readonly action: 'fail' | 'wait' | 'kill' | 'flip';
  /** An errno, milliseconds, or the bit that is flipped. */
  readonly argument?: number;
  /** So many operations go on before. */
  readonly skip?: number;
  /** So many are affected; all of them unless told. */
  readonly count?: number;
}

interface Clocks {
  readonly realMs?: number;
  readonly monotonicMs?: number;
  readonly driftPpm?: number;
}

/** Builds the library; null where there is no compiler, or another system than Linux. */
function buildLibrary(folder: string): string | null {
  const library = join(folder, 'faults.so');
  const source = join(import.meta.dirname, 'faults.c');
  const { status, error, stderr } = spawnSync('cc', [
    '-O2',
    '-shared',
    '-fPIC',
    '-o',
    library,
    source,
    '-ldl',
    '-lpthread',
  ]);
  if (error !== undefined || process.platform !== 'linux') return null;
  if (status !== 0) throw new Error(`faults.c does not compile: ${stderr}`);
  return library;
}

export class FaultyMachine {
  readonly dataDir = temporaryFolder();
  readonly #library: string;
  readonly #record: string;
  readonly #control: string;

  private constructor(folder: string, library: string) {
    this.#library = library;
    this.#record = join(folder, 'record');
    this.#control = join(folder, 'control');
    mkdirSync(`${this.#record}.graves`);
    writeFileSync(this.#control, Buffer.alloc(rulesAt + ruleBytes * rulesMax));
  }

  /** Null where it can't be built. */
  static make(): FaultyMachine | null {
    const folder = temporaryFolder();
    const library = buildLibrary(folder);
    return library === null ? null : new FaultyMachine(folder, library);
  }

  /** What makes a process that uses the data folder run on the machine. */
  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      FAULTS_FOLDER: this.dataDir,
      FAULTS_RECORD: this.#record,
      FAULTS_CONTROL: this.#control,
    };
  }

  /** Starts the service on the machine; `launcher` is the script to start it by. */
  start(env: Readonly<Record<string, string>>, launcher?: string): Promise<Service> {
    const options = { dataDir: this.dataDir, env: { ...env, ...this.environment } };
    return startService(launcher === undefined ? options : { ...options, launcher });
  }

  /** Everything works from now on, and the clocks are right. */
  heal(): void {
    this.#write(0, Buffer.alloc(rulesAt + ruleBytes * rulesMax));
  }

  /** These rules are in force, and no others. */
  faults(...rules: readonly Rule[]): void {
    const bytes = Buffer.alloc(ruleBytes * rulesMax);
    for (const [i, { on, place, action, argument = 0, skip = 0, count = 1e9 }] of rules.entries()) {
      const at = i * ruleBytes;
      bytes.write(place, at);
      bytes.write(on, at + 64);
      bytes.write(action, at + 72);
      for (const [number, value] of [skip, count, argument].entries())
        bytes.writeBigInt64LE(BigInt(value), at + 80 + number * 8);
    }
    this.#write(rulesAt, bytes);
  }

  /** How many operations have met the first rule: those that went on before it, and those that it has affected. */
  get met(): number {
    const bytes = readFileSync(this.#control);
    return Number(bytes.readBigInt64LE(rulesAt + 104));
  }

  setClocks({ realMs = 0, monotonicMs = 0, driftPpm = 0 }: Clocks): void {
    const bytes = Buffer.alloc(rulesAt);
    const from = driftPpm === 0 ? 0 : Math.floor(Date.now() / 1000);
    for (const [i, value] of [realMs * 1e6, monotonicMs * 1e6, driftPpm, from].entries())
      bytes.writeBigInt64LE(BigInt(value), i * 8);
    this.#write(0, bytes);
  }

  #write(at: number, bytes: Buffer): void {
    const file = openSync(this.#control, 'r+');
    writeSync(file, bytes, 0, bytes.length, at);
    closeSync(file);
  }

  /** After the process has ended: what was not synced is lost, as `random` (from 0 to 1) says. Returns how much. */
  cutPower(random: () => number): number {
    this.heal();
    return cutPower(this.dataDir, this.#record, random);
  }
}
