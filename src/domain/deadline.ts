// The end that a charge and a checkout session have: as people are told it, in wall time, and as the service goes by it,
// in service time.

import type { Now } from '../core/clock.ts';

export interface Deadline {
  /** When it ends by itself unless it was decided before: as people are told, and in service time. */
  readonly expires_at_ms: number;
  readonly deadline_ms: number;
  /** When the service looks whether to expire it, in service time: later than its end while a payment is decided. */
  readonly due_at_ms: number;
}

/** The end that lies at `expiresAtMs` of wall time, as seen now. */
export function deadlineAt(expiresAtMs: number, { nowMs, serviceMs }: Now): Deadline {
  const deadlineMs = serviceMs + expiresAtMs - nowMs;
  return { expires_at_ms: expiresAtMs, deadline_ms: deadlineMs, due_at_ms: deadlineMs };
}

export function isOver({ deadline_ms }: Pick<Deadline, 'deadline_ms'>, serviceMs: number): boolean {
  return deadline_ms <= serviceMs;
}
