// The request logs of all nodes as one. Each node keeps the entries of the requests that it took,
// so whoever searches has all of them asked. A place names one in each log, by a digest of the
// node's name:
//
//   0f2ab3c4=1764115200000-12,9ad01277=1764115200000-3
//
// A log that a search has come to the end of is at `0-0`, before its first entry.

import { createHash } from 'node:crypto';
import type { LoggedRequest } from '../contract/routes/logged-request.ts';
import type { Answers } from '../rpc/questions.ts';
import type { Gap } from './logged-request.ts';
import type { AskLog, FoundRequest, LogQuestions } from './query.ts';
import { isPlace, type LogPage, noPlace } from './search.ts';

export interface LogOfNode {
  /** The node's name; empty: it is not one of several. */
  readonly node: string;
  readonly ask: AskLog;
}

const pattern = /^([0-9a-f]{8})=(\d{1,15}-\d{1,9})$/;

/** Whether a search may go on from here: a place in one log, or one in each. */
export function isPlaceInAll(text: string): boolean {
  return isPlace(text) || text.split(',').every((part) => pattern.test(part));
}

type NamedPlace = readonly [name: string, place: string];

const nameOf = (node: string) => createHash('sha256').update(node).digest('hex').slice(0, 8);

/** `own`: of this node. `others`: of those that are there, or were. */
export function answersOfAll(own: LogOfNode, others: () => readonly LogOfNode[]): Answers<LogQuestions> {
  const all = () => [own, ...others()].map((each) => ({ ...each, name: nameOf(each.node) }));
  const placesOf = (text: string): ReadonlyMap<string, string> => {
    // It was told when the node was not one of several.
    if (isPlace(text)) return new Map([[nameOf(own.node), text]]);
    const parts = text.split(',').map((part) => pattern.exec(part));
    return new Map(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? noPlace]));
  };
  const textOf = (places: readonly NamedPlace[]) =>
    own.node === ''
      ? (places[0]?.[1] ?? noPlace)
      : places.map(([name, place]) => `${name}=${place}`).join() || noPlace;

  return {
    find: (asks) =>
      firstFound(all().map(async ({ node, ask }) => ({ node, answer: await ask('find', asks) }))),

    async newest(asks) {
      const places = all().map(async ({ name, ask }) => [name, await ask('newest', asks)] as const);
      return textOf((await Promise.all(places)).filter(isKnown));
    },

    async after({ after, ...asks }) {
      const places = placesOf(after);
      const steps = await Promise.all(
        all().map(async ({ name, ask }) => {
          const place = places.get(name);
          // What a node took before it was there is not new.
          if (place === undefined) return { name, found: [], newest: await ask('newest', asks) };
          const step = await ask('after', { ...asks, after: place });
          return { name, found: step?.found ?? [], newest: step?.newest ?? place };
        }),
      );
      const found = steps.flatMap((step) => step.found).sort((a, b) => timeOf(a) - timeOf(b));
      return {
        found,
        newest: textOf(steps.map(({ name, newest }) => [name, newest] as const).filter(isKnown)),
      };
    },

    async search({ before, ...asks }) {
      const places = before === null ? new Map<string, string>() : placesOf(before);
      const pages = await Promise.all(
        all().map(async ({ node, name, ask }) => {
          const from = places.get(name) ?? null;
          return { node, name, from, page: await ask('search', { ...asks, before: from }) };
        }),
      );
      const readers = pages.flatMap(({ name, from, page }) =>
        page === null ? [] : [new PageReader(name, page, from)],
      );
      const found = newestOf(readers, asks.limit);
      const reached = new Map(readers.map((reader) => [reader.name, reader.place]));
      // Nobody can go on at a node that does not answer, until it does.
      const isEnd = readers.every(({ place }) => place === noPlace);
      const next = pages.map(({ name, from }) => [name, reached.get(name) ?? from] as const).filter(isKnown);
      return {
        found,
        older: isEnd ? null : textOf(next),
        newest: textOf(readers.map(({ name, page }) => [name, page.newest])),
        unanswered: pages.filter(({ page }) => page === null).map(({ node }) => node),
      };
    },
  };
}

const isKnown = (place: readonly [name: string, place: string | null]): place is NamedPlace =>
  place[1] !== null;
const timeOf = ({ time }: LoggedRequest | Gap) => Date.parse(time);

/** Resolves with the first request that a node has; none: when all have answered, or won't. */
async function firstFound(
  asked: readonly Promise<{ readonly node: string; readonly answer: Pick<FoundRequest, 'entry'> | null }>[],
): Promise<FoundRequest> {
  const first = Promise.withResolvers<FoundRequest>();
  for (const each of asked)
    each.then(
      ({ answer }) => answer?.entry && first.resolve({ entry: answer.entry, unanswered: [] }),
      first.reject,
    );
  const none = Promise.all(asked).then((answers) => ({
    entry: null,
    unanswered: answers.filter(({ answer }) => answer === null).map(({ node }) => node),
  }));
  return Promise.race([first.promise, none]);
}

/** Takes the entries of a node's page, newest first. */
class PageReader {
  readonly name: string;
  readonly page: LogPage;
  readonly #from: string | null;
  #taken = 0;

  /** `from`: the place that the page begins at; null: the newest. */
  constructor(name: string, page: LogPage, from: string | null) {
    this.name = name;
    this.page = page;
    this.#from = from;
  }

  get next(): LoggedRequest | Gap | null {
    return this.page.found[this.#taken] ?? null;
  }

  take(): void {
    this.#taken++;
  }

  /** Where a search goes on behind what was taken. */
  get place(): string {
    const { found, places, older, newest } = this.page;
    if (this.#taken === found.length) return older ?? noPlace;
    return places[this.#taken - 1] ?? this.#from ?? newest;
  }
}

/**
 * The newest entries of all pages. None is taken that is older than what another node has not
 * looked at yet, because what that one finds there comes before it.
 */
function newestOf(readers: readonly PageReader[], limit: number): (LoggedRequest | Gap)[] {
  const found: (LoggedRequest | Gap)[] = [];
  while (found.length < limit) {
    const waiting = readers.filter(({ next }) => next !== null);
    const isReached = (reader: PageReader) =>
      readers.every((each) => each === reader || each.page.reachedMs <= nextMs(reader));
    const next = newestIn(waiting.filter(isReached));
    // Clocks that step may have each page wait for another one: a search goes on all the same.
    const reader = next ?? (found.length === 0 ? newestIn(waiting) : null);
    if (reader?.next == null) break;
    found.push(reader.next);
    reader.take();
  }
  return found;
}

const nextMs = ({ next }: PageReader) => (next === null ? Number.NEGATIVE_INFINITY : timeOf(next));

function newestIn(readers: readonly PageReader[]): PageReader | null {
  return readers.toSorted((a, b) => nextMs(b) - nextMs(a))[0] ?? null;
}
