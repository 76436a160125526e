// The reports of attempts that one shard has yet to record, oldest first. The dispatcher adds them, sends what leaves,
// and removes what the shard acknowledges. What it keeps: at most `reportsOutMax` are sent and not acknowledged, so that
// what gathered while a shard was away, or its disk full, comes in portions that each fit a turn.

import type { EndpointReport } from '../shard/protocol.ts';

/** Reports on their way to a shard: with answers of 16 KiB, 4 MiB. */
export const reportsOutMax = 256;
/** A report that is not acknowledged within this time is sent again. */
const againMs = 5_000;

interface Unrecorded {
  readonly report: EndpointReport;
  /** By the monotonic clock; null until it is sent. */
  sentAtMs: number | null;
}

export class ReportWindow {
  /** By delivery: those that were sent come before those that were not. */
  readonly #unrecorded = new Map<string, Unrecorded>();
  #out = 0;

  get size(): number {
    return this.#unrecorded.size;
  }

  /** Reports that were never sent. */
  get unsent(): number {
    return this.size - this.#out;
  }

  add(report: EndpointReport): void {
    this.#unrecorded.set(report.delivery, { report, sentAtMs: null });
  }

  /** A report was acknowledged; false when it is not among those that wait for that. */
  remove(delivery: string, number: number): boolean {
    const unrecorded = this.#unrecorded.get(delivery);
    if (unrecorded?.report.number !== number) return false;
    this.#unrecorded.delete(delivery);
    if (unrecorded.sentAtMs !== null) this.#out--;
    return true;
  }

  /** The shard is there anew and got nothing yet. */
  restart(): void {
    for (const unrecorded of this.#unrecorded.values()) unrecorded.sentAtMs = null;
    this.#out = 0;
  }

  /** What is to be sent now for the first time, as far as there is room. */
  next(nowMs: number): EndpointReport[] {
    const reports: EndpointReport[] = [];
    for (const unrecorded of this.#unrecorded.values()) {
      if (this.#out === reportsOutMax) break;
      if (unrecorded.sentAtMs !== null) continue;
      unrecorded.sentAtMs = nowMs;
      this.#out++;
      reports.push(unrecorded.report);
    }
    return reports;
  }

  /** What is to be sent again, because it was not acknowledged in time. */
  overdue(nowMs: number): EndpointReport[] {
    const reports: EndpointReport[] = [];
    for (const unrecorded of this.#unrecorded.values()) {
      if (unrecorded.sentAtMs === null) break;
      if (unrecorded.sentAtMs > nowMs - againMs) continue;
      unrecorded.sentAtMs = nowMs;
      reports.push(unrecorded.report);
    }
    return reports;
  }
}
