// Identifiers, sortable by creation: `prefix_` and 25 base-62 digits in the order of ASCII.
//
//   pi_ 0VTK3JqA             Unix milliseconds, so comparing ids compares their times
//       1f                   slot of the organization: finds the shard without any key
//       0c                   counter within the millisecond: the order of creation, no two alike
//       6uXo9dWb2kQpZ        random (77 bits): an id can't be guessed

import { assert, elementAt } from './assert.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const timeWidth = 8;
const slotWidth = 2;
const counterWidth = 2;
const randomWidth = 13;
const counterMax = 62 ** counterWidth;
const bodyWidth = timeWidth + slotWidth + counterWidth + randomWidth;

/** Fills a buffer with random bytes. */
export type FillRandom = (bytes: Uint8Array) => void;

/** `value` in base 62, `width` characters. */
export function encodeBase62(value: number, width: number): string {
  if (width === 2) return elementAt(pairs, value % pairs.length);
  let text = '';
  for (let rest = value, i = 0; i < width; i++) {
    text = digits[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** The number that base-62 `text` represents, or -1 when a character is not a base-62 digit. */
export function decodeBase62(text: string): number {
  let value = 0;
  for (const character of text) {
    const digit = digits.indexOf(character);
    if (digit < 0) return -1;
    value = value * 62 + digit;
  }
  return value;
}

/** All texts of two digits, from which an id is composed in half the steps. */
const pairs = [...digits].flatMap((first) => [...digits].map((second) => first + second));

/** Draws unbiased base-62 digits from a long random text, which is replaced when it is used up. */
export function createRandomText(fillRandom: FillRandom): (length: number) => string {
  const numbers = new Uint16Array(1024);
  const bytes = new Uint8Array(numbers.buffer);
  let pool = '';
  let position = 0;
  return (length) => {
    if (position + length > pool.length) {
      pool = pool.slice(position);
      position = 0;
      while (pool.length < length) {
        fillRandom(bytes);
        pool += textOf(numbers);
      }
    }
    position += length;
    return pool.slice(position - length, position);
  };
}

/** The characters of each pair, as they lie in memory. */
const pairCodes = new Uint16Array(Uint8Array.from(pairs.join(''), (digit) => digit.charCodeAt(0)).buffer);
const ascii = new TextDecoder('latin1');

/** Twelve bits of each number make a pair. Those beyond the last pair are dropped: no bias. */
function textOf(numbers: Uint16Array): string {
  const text = new Uint16Array(numbers.length);
  let length = 0;
  for (const number of numbers) {
    const code = pairCodes[number & 4095];
    if (code !== undefined) text[length++] = code;
  }
  return ascii.decode(text.subarray(0, length));
}

export interface IdFactory {
  /** A new id. `prefix` without the underscore; `slot` of the organization. */
  next(prefix: string, slot: number, nowMs: number): string;
  /** The time in the newest id, Unix milliseconds. */
  readonly lastMs: number;
}

/**
 * Makes ids that ascend from `startMs`, the time of the last one ever made: their time stands still
 * when the clock steps back, and runs ahead when more than 3,844 are made in a millisecond.
 */
export function createIdFactory(randomText: (length: number) => string, startMs = 0): IdFactory {
  let lastMs = startMs;
  // Ids with the time `startMs` may exist, so the first id has a later one.
  let counter = counterMax;
  let head = '';
  return {
    get lastMs() {
      return lastMs;
    },
    next(prefix, slot, nowMs) {
      if (nowMs > lastMs || counter === counterMax) {
        lastMs = nowMs > lastMs ? nowMs : lastMs + 1;
        counter = 0;
        head = encodeBase62(lastMs, timeWidth);
      }
      const order = encodeBase62(counter++, counterWidth);
      return `${prefix}_${head}${encodeBase62(slot, slotWidth)}${order}${randomText(randomWidth)}`;
    },
  };
}

/** The slot in an id made by `createIdFactory`, or -1 when the text is no such id. */
export function slotOfId(id: string): number {
  const start = id.lastIndexOf('_') + 1;
  if (id.length - start !== bodyWidth) return -1;
  return decodeBase62(id.slice(start + timeWidth, start + timeWidth + slotWidth));
}

/** The Unix millisecond in an id made by `createIdFactory`, or -1 when the text is no such id. */
export function timeOfId(id: string): number {
  const start = id.lastIndexOf('_') + 1;
  return id.length - start === bodyWidth ? decodeBase62(id.slice(start, start + timeWidth)) : -1;
}

/**
 * How far the times in ids were ever ahead of the clock. They ascend also when the clock is set
 * back, so they are ahead of it until it has caught up: an episode.
 */
export interface IdLeads {
  /** The most outside of episodes: many ids in a millisecond bring their times ahead a little. */
  readonly leadMs: number;
  /** Oldest first. */
  readonly episodes: readonly IdLead[];
}

interface IdLead {
  /** The latest time in an id of the episode. */
  readonly untilMs: number;
  readonly leadMs: number;
}

export const noLeads: IdLeads = { leadMs: 0, episodes: [] };

/** More is an episode. */
const usualLeadMsMax = 2_000;
/** Of more, the oldest two count as one. */
const episodesMax = 8;

/** The leads with that of an id with the time `idMs`. */
export function withLead(leads: IdLeads, idMs: number, leadMs: number): IdLeads {
  if (leadMs <= usualLeadMsMax) return { ...leads, leadMs: Math.max(leads.leadMs, leadMs) };
  const before = leads.episodes.slice(0, -1);
  const last = leads.episodes.at(-1);
  // Until the clock has caught up, it is the same episode.
  const isSame = last !== undefined && idMs - leadMs < last.untilMs;
  const lead = { untilMs: idMs, leadMs };
  const episodes = isSame ? [...before, joined(last, lead)] : [...leads.episodes, lead];
  return { leadMs: leads.leadMs, episodes: bounded(episodes) };
}

/** The leads of ids that were made in several shards. */
export function leadsOfAll(all: readonly IdLeads[]): IdLeads {
  const episodes = all.flatMap((each) => each.episodes).sort((a, b) => a.untilMs - b.untilMs);
  return { leadMs: Math.max(0, ...all.map(({ leadMs }) => leadMs)), episodes: bounded(episodes) };
}

function bounded(episodes: readonly IdLead[]): readonly IdLead[] {
  const [first, second, ...others] = episodes;
  if (episodes.length <= episodesMax || first === undefined || second === undefined) return episodes;
  return bounded([joined(first, second), ...others]);
}

function joined(a: IdLead, b: IdLead): IdLead {
  return { untilMs: Math.max(a.untilMs, b.untilMs), leadMs: Math.max(a.leadMs, b.leadMs) };
}

/** No id that was made before `ms` has this time or a later one. */
export function idTimeAfter(ms: number, { leadMs, episodes }: IdLeads): number {
  const ends = episodes.map((each) => Math.min(ms + each.leadMs, each.untilMs + 1));
  return Math.max(ms + leadMs, ...ends);
}

/** The smallest text that ids made at or after `ms` can start with: a bound for ranges over ids. */
export function idFloor(prefix: string, ms: number): string {
  const inRange = Math.max(0, Math.min(ms, 62 ** timeWidth - 1));
  assert(Number.isInteger(inRange), 'an id starts with whole milliseconds');
  return `${prefix}_${encodeBase62(inRange, timeWidth)}`;
}

/** What the ids of a kind have in common that were made in the same 62 milliseconds. */
export function momentOfId(id: string): string {
  return id.slice(0, id.indexOf('_') + timeWidth);
}
