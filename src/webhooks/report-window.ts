// The reports of attempts that one shard has not recorded yet, oldest first. The dispatcher adds
// them, sends them, and removes those that the shard acknowledges. At most `reportsInFlightMax` are
// in flight, so that the reports that gathered while a shard was stopped, or its disk full, arrive
// in portions that fit a commit batch.

import { pieceSize } from '../core/piece-size.ts';
import type { EndpointReport } from '../shard/protocol.ts';

/** Reports in flight to a shard: with receivers' answers of 1 KiB these are 256 KiB. */
const reportsInFlightMax = pieceSize(256);
/** A report that is not acknowledged within this time is sent again. */
const againMs = 5_000;

interface Unrecorded {
  readonly report: EndpointReport;
  /** By the monotonic clock; null until it is sent. */
  sentAtMs: number | null;
}

export class ReportWindow {
  /** By delivery; those in flight come first. */
  readonly #unrecorded = new Map<string, Unrecorded>();
  #inFlight = 0;

  get size(): number {
    return this.#unrecorded.size;
  }

  /** Reports that were never sent. */
  get unsent(): number {
    return this.size - this.#inFlight;
  }

  add(report: EndpointReport): void {
    this.#unrecorded.set(report.delivery, { report, sentAtMs: null });
  }

  /** A report was acknowledged. False when no such report waits for it. */
  remove(delivery: string, number: number): boolean {
    const unrecorded = this.#unrecorded.get(delivery);
    if (unrecorded?.report.number !== number) return false;
    this.#unrecorded.delete(delivery);
    if (unrecorded.sentAtMs !== null) this.#inFlight--;
    return true;
  }

  /** The shard was started again and has got no report yet. */
  restart(): void {
    for (const unrecorded of this.#unrecorded.values()) unrecorded.sentAtMs = null;
    this.#inFlight = 0;
  }

  /** The reports to send now for the first time, as many as there is room for. */
  next(nowMs: number): EndpointReport[] {
    const reports: EndpointReport[] = [];
    for (const unrecorded of this.#unrecorded.values()) {
      if (this.#inFlight === reportsInFlightMax) break;
      if (unrecorded.sentAtMs !== null) continue;
      unrecorded.sentAtMs = nowMs;
      this.#inFlight++;
      reports.push(unrecorded.report);
    }
    return reports;
  }

  /** The reports to send again, because they were not acknowledged in time. */
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
