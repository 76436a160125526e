// The time at which a charge or a checkout session expires: in wall time, which people read, and in
// service time, which the service goes by.

import type { Now } from '../core/clock.ts';

export interface Deadline {
  /**
   * When it expires unless it was decided before: in wall time, and the same moment in service
   * time.
   */
  readonly expires_at_ms: number;
  readonly deadline_ms: number;
  /**
   * When the service checks whether to expire it, in service time. Later than `deadline_ms` while
   * its payment is under way.
   */
  readonly due_at_ms: number;
}

/**
 * The deadline at `expiresAtMs` of wall time; its service time is found from the distance to now.
 */
export function deadlineAt(expiresAtMs: number, { nowMs, serviceMs }: Now): Deadline {
  const deadlineMs = serviceMs + expiresAtMs - nowMs;
  return { expires_at_ms: expiresAtMs, deadline_ms: deadlineMs, due_at_ms: deadlineMs };
}

export function isOver({ deadline_ms }: Pick<Deadline, 'deadline_ms'>, serviceMs: number): boolean {
  return deadline_ms <= serviceMs;
}
