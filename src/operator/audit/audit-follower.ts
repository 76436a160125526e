// Brings the audit record of a node that stands by up to date with the service's, so that it has
// all of it when it takes over.

import type { Clock } from '../../core/clock.ts';
import { Sleeper, type Timers } from '../../core/scheduler.ts';
import type { RemoteText } from '../../disk/remote-text.ts';
import { makeAuditFolder, operatorsBounds, operatorsFile } from './audit.ts';
import { AuditLog } from './audit-log.ts';
import { alignRecord, fetchRecord, goesOn } from './audit-mirror.ts';

interface AuditFollowerOptions {
  readonly remote: RemoteText;
  readonly dataDir: string;
  /** Actions are kept for so long. */
  readonly keptMs: number;
  readonly now: Clock;
  readonly timers: Timers;
  readonly isDiskFull: () => boolean;
  /** Hears where rows of this folder's own were put that do not fit behind the service's. */
  readonly onPutAside: (folder: string) => void;
  /** Hears of a write that failed; it is tried again. */
  readonly onFailure: (error: unknown) => void;
}

const lookMs = 1_000;

export class AuditFollower {
  readonly #options: AuditFollowerOptions;
  readonly #sleeper: Sleeper;
  #log: AuditLog | null = null;
  #isStopping = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: AuditFollowerOptions) {
    this.#options = options;
    this.#sleeper = new Sleeper(options.timers);
  }

  start(): void {
    this.#ended = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#sleeper.wake();
    await this.#options.remote.close();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { isDiskFull, onFailure } = this.#options;
    while (!this.#isStopping) {
      try {
        if (!isDiskFull()) await this.#follow();
      } catch (error) {
        if (!this.#isStopping) onFailure(error);
        await this.#close();
      }
      await this.#sleeper.sleep(lookMs);
    }
    await this.#close();
  }

  async #follow(): Promise<void> {
    const { remote, dataDir, keptMs, now, onPutAside } = this.#options;
    const path = operatorsFile(dataDir);
    const bounds = await remote.bounds();
    if (this.#log !== null && !(await goesOn(remote, path, bounds))) await this.#close();
    if (this.#log === null) {
      makeAuditFolder(dataDir);
      const { aside } = await alignRecord(remote, path, bounds);
      if (aside !== null) onPutAside(aside);
      // What only this node has is given to the others when it takes over.
      if (!(await goesOn(remote, path, bounds))) return;
      this.#log = await AuditLog.open(path, operatorsBounds(keptMs, now));
    }
    await fetchRecord(remote, this.#log, { last: false, isOver: () => this.#isStopping });
  }

  async #close(): Promise<void> {
    const log = this.#log;
    this.#log = null;
    await log?.close().catch(this.#options.onFailure);
  }
}
