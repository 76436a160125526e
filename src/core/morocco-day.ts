// The calendar day in Morocco, by which the daily cap of test mode is counted. The offset comes
// from the time-zone database, because the country changes it around Ramadan and by decree.

import { assert } from './assert.ts';
import { lazily } from './lazily.ts';
import { remembering } from './remembering.ts';

interface MoroccoDay {
  /** `YYYY-MM-DD` in Africa/Casablanca. */
  readonly day: string;
  /** The first Unix millisecond of the next day. */
  readonly endsAtMs: number;
}

export interface MoroccoCalendar {
  /** The day that holds `nowMs` (Unix milliseconds). Cheap while the day stays the same. */
  dayOf(nowMs: number): MoroccoDay;
}

// The first format of a process takes 25 ms.
const format = lazily(
  () =>
    new Intl.DateTimeFormat('en', {
      timeZone: 'Africa/Casablanca',
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    }),
);

function label(atMs: number): string {
  const parts = Object.fromEntries(
    format()
      .formatToParts(atMs)
      .map((part) => [part.type, part.value]),
  );
  return `${parts.year}-${parts.month}-${parts.day}`;
}

const hourMs = 3_600_000;
const dayOfHour = remembering(10_000, (hour: number) => label(hour * hourMs));

/** The day in Morocco. Its offset is always whole hours, so one look-up an hour is enough. */
export function moroccoDayAt(ms: number): string {
  return dayOfHour(Math.floor(ms / hourMs));
}

const clock = lazily(
  () =>
    new Intl.DateTimeFormat('en', {
      timeZone: 'Africa/Casablanca',
      numberingSystem: 'latn',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
);

/** Day and time of day in Morocco: `2026-11-23 09:05`. */
export function moroccoTimeAt(ms: number): string {
  return `${moroccoDayAt(ms)} ${clock().format(ms)}`;
}

/** The same as people there write it: `23/11/2026 09:05`. */
export function moroccoTimeText(ms: number): string {
  const [year, month, day, time] = moroccoTimeAt(ms).split(/[- ]/);
  return `${day}/${month}/${year} ${time}`;
}

/** The first moment when clocks in Morocco show `2YYY-MM-DDThh:mm`; null when they never do. */
export function moroccoMomentAt(local: string): number | null {
  const utcMs = /^2\d{3}-\d\d-\d\dT\d\d:\d\d$/.test(local) ? Date.parse(`${local}Z`) : Number.NaN;
  if (Number.isNaN(utcMs)) return null;
  const moments = [2, 1, 0, -1, -2].map((hours) => utcMs - hours * hourMs);
  return moments.find((ms) => moroccoTimeAt(ms) === local.replace('T', ' ')) ?? null;
}

/** The first millisecond of a day in Morocco and of the next; null unless it is `2YYY-MM-DD`. */
export function moroccoDayBounds(day: string): { readonly fromMs: number; readonly toMs: number } | null {
  const midnightMs = /^2\d{3}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(midnightMs) || new Date(midnightMs).toISOString().slice(0, 10) !== day) return null;
  return boundsOf(day);
}

function boundsOf(day: string): { readonly fromMs: number; readonly toMs: number } {
  const midnightMs = Date.parse(`${day}T00:00:00Z`);
  const nextMs = midnightMs + 24 * hourMs;
  const next = new Date(nextMs).toISOString().slice(0, 10);
  return { fromMs: firstHourOf(day, midnightMs), toMs: firstHourOf(next, nextMs) };
}

/** Morocco's midnight is within two hours of that of UTC. */
function firstHourOf(day: string, midnightMs: number): number {
  let ms = midnightMs - 2 * hourMs;
  while (moroccoDayAt(ms) !== day) ms += hourMs;
  return ms;
}

export function createMoroccoCalendar(): MoroccoCalendar {
  let current: MoroccoDay = { day: '', endsAtMs: 0 };
  let knownFromMs = 0;
  return {
    dayOf(nowMs) {
      // The lower bound matters when the clock steps back.
      if (nowMs < knownFromMs || nowMs >= current.endsAtMs) {
        const day = moroccoDayAt(nowMs);
        const { fromMs, toMs } = boundsOf(day);
        assert(fromMs <= nowMs && nowMs < toMs, `${nowMs} is within ${day}`);
        current = { day, endsAtMs: toMs };
        knownFromMs = fromMs;
      }
      return current;
    },
  };
}
