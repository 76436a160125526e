// Brings the audit record of a node that stands by up to date with the service's, so that it has
// all of it when it takes over. A record that is no part of the service's is left alone until then.

import type { Clock } from '../../core/clock.ts';
import { Sleeper, type Timers } from '../../core/scheduler.ts';
import type { RemoteText } from '../../disk/remote-text.ts';
import { makeAuditFolder, operatorsBounds, operatorsFile } from './audit.ts';
import { AuditLog } from './audit-log.ts';
import { canFollow, followRecord } from './audit-mirror.ts';

export interface AuditFollowerOptions {
  readonly remote: RemoteText;
  readonly dataDir: string;
  /** Actions are kept for so long. */
  readonly keptMs: number;
  readonly now: Clock;
  readonly timers: Timers;
  readonly isDiskFull: () => boolean;
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
    while (!this.#isStopping) {
      try {
        if (!this.#options.isDiskFull()) await this.#follow();
      } catch (error) {
        if (!this.#isStopping) this.#options.onFailure(error);
        await this.#close();
      }
      if (!this.#isStopping) await this.#sleeper.sleep(lookMs);
    }
    await this.#close();
  }

  async #follow(): Promise<void> {
    const { remote, dataDir, keptMs, now } = this.#options;
    if (this.#log === null) {
      makeAuditFolder(dataDir);
      if (!(await canFollow(remote, operatorsFile(dataDir)))) return;
      this.#log = await AuditLog.open(operatorsFile(dataDir), operatorsBounds(keptMs, now));
    }
    await followRecord(remote, this.#log);
  }

  async #close(): Promise<void> {
    const log = this.#log;
    this.#log = null;
    await log?.close();
  }
}
