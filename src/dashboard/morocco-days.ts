// Days that a visitor names, as they are in Morocco: when they begin and end.

import { createMoroccoCalendar } from '../core/morocco-day.ts';

const calendar = createMoroccoCalendar();
const dayMs = 86_400_000;

/** Noon in Greenwich is on the same day in Morocco. Null for what is no day. */
function noonOf(day: string): number | null {
  const ms = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T12:00:00Z`) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** Unix milliseconds of the end of a day (`2026-11-22`); null for what is no day. */
export function dayEndMs(day: string): number | null {
  const noonMs = noonOf(day);
  return noonMs === null ? null : calendar.dayOf(noonMs).endsAtMs;
}

/** Unix milliseconds of the start of a day; null for what is no day. */
export function dayStartMs(day: string): number | null {
  const noonMs = noonOf(day);
  return noonMs === null ? null : calendar.dayOf(noonMs - dayMs).endsAtMs;
}
