// The calendar day in Morocco, by which the daily cap of test mode is counted. The offset comes from the time-zone
// database, because the country changes it around Ramadan and by decree. Finding the end of a day takes dozens of
// look-ups, so a calendar caches the current day.

export interface MoroccoDay {
  /** `YYYY-MM-DD` in Africa/Casablanca. */
  readonly day: string;
  /** The first Unix millisecond of the next day. */
  readonly endsAtMs: number;
}

export interface MoroccoCalendar {
  /** The day that holds `nowMs` (Unix milliseconds). Cheap while the day stays the same. */
  dayOf(nowMs: number): MoroccoDay;
}

/** The longest possible day, with any change of the offset in it. */
const dayMsMax = 26 * 3_600_000;

const format = new Intl.DateTimeFormat('en', {
  timeZone: 'Africa/Casablanca',
  calendar: 'gregory',
  numberingSystem: 'latn',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

function label(atMs: number): string {
  const parts = Object.fromEntries(format.formatToParts(atMs).map((part) => [part.type, part.value]));
  return `${parts.year}-${parts.month}-${parts.day}`;
}

const hourMs = 3_600_000;
const rememberedHoursMax = 10_000;
const dayOfHour = new Map<number, string>();

/**
 * The day in Morocco (`YYYY-MM-DD`) at a time, Unix milliseconds. The country's offset has always been whole hours, so a day
 * begins with an hour, and one look-up an hour is enough.
 */
export function moroccoDayAt(ms: number): string {
  const hour = Math.floor(ms / hourMs);
  let day = dayOfHour.get(hour);
  if (day === undefined) {
    if (dayOfHour.size >= rememberedHoursMax) dayOfHour.clear();
    day = label(hour * hourMs);
    dayOfHour.set(hour, day);
  }
  return day;
}

/** The first Unix millisecond of a day in Morocco, and of the one after it; null when `day` is no date `2YYY-MM-DD`. */
export function moroccoDayBounds(day: string): { readonly fromMs: number; readonly toMs: number } | null {
  const midnightMs = /^2\d{3}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(midnightMs) || new Date(midnightMs).toISOString().slice(0, 10) !== day) return null;
  const next = new Date(midnightMs + 24 * hourMs).toISOString().slice(0, 10);
  return { fromMs: firstHourOf(day, midnightMs), toMs: firstHourOf(next, midnightMs + 24 * hourMs) };
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

  /** Bisects between a time within the day and one after it until they are a millisecond apart. */
  function endOf(day: string, withinMs: number): number {
    let within = withinMs;
    let after = withinMs + dayMsMax;
    while (after - within > 1) {
      const middle = Math.floor((within + after) / 2);
      if (label(middle) === day) within = middle;
      else after = middle;
    }
    return after;
  }

  return {
    dayOf(nowMs) {
      // The lower bound matters when the clock steps back.
      if (nowMs < knownFromMs || nowMs >= current.endsAtMs) {
        const day = label(nowMs);
        current = { day, endsAtMs: endOf(day, nowMs) };
        knownFromMs = nowMs;
      }
      return current;
    },
  };
}
