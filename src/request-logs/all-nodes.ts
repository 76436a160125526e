// The request logs of all nodes as one. Each node keeps the entries of the requests that it took,
// so whoever searches has all of them asked. A place names one in each log:
//
//   casa-1=1764115200000-12,casa-2=1764115200000-3
//
// A log that a search has come to the end of is at `0-0`, before its first entry.

import type { LoggedRequest } from '../contract/routes/logged-request.ts';
import type { Answers } from '../rpc/questions.ts';
import type { Gap } from './logged-request.ts';
import type { AskLog, LogQuestions } from './query.ts';
import { isPlace, type LogPage, noPlace } from './search.ts';

export interface LogOfNode {
  /** The node's name. */
  readonly node: string;
  readonly ask: AskLog;
}

const pattern = /^([^=,]{1,600})=(\d{1,15}-\d{1,9})$/;

/** By the names of nodes, as they are in an address. */
type Places = ReadonlyMap<string, string>;

/** Whether a search may go on from here: a place in one log, or one in each. */
export function isPlaceInAll(text: string): boolean {
  return isPlace(text) || text.split(',').every((part) => pattern.test(part));
}

/** `own`: of this node. `others`: of those that are there, or were. */
export function answersOfAll(own: LogOfNode, others: () => readonly LogOfNode[]): Answers<LogQuestions> {
  const all = () => [own, ...others()].map((each) => ({ ...each, name: encodeURIComponent(each.node) }));
  const ownName = encodeURIComponent(own.node);
  /** Of one node alone its place is told as it is. */
  const placesOf = (text: string): Places => {
    if (isPlace(text)) return new Map([[ownName, text]]);
    const parts = text.split(',').map((part) => pattern.exec(part));
    return new Map(parts.map((part) => [part?.[1] ?? '', part?.[2] ?? noPlace]));
  };
  const textOf = (places: Places) => {
    const alone = places.size === 1 ? places.get(ownName) : undefined;
    return alone ?? [...places].map(([name, place]) => `${name}=${place}`).join();
  };

  return {
    async find(asks) {
      const found = await Promise.all(all().map(({ ask }) => ask('find', asks)));
      return found.find((entry) => entry !== null) ?? null;
    },

    async newest(asks) {
      const places = all().map(
        async ({ name, ask }) => [name, (await ask('newest', asks)) ?? noPlace] as const,
      );
      return textOf(new Map(await Promise.all(places)));
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
      const reached = steps.flatMap(({ name, newest }) => (newest === null ? [] : [[name, newest] as const]));
      const found = steps.flatMap((step) => step.found).sort((a, b) => timeOf(a) - timeOf(b));
      return { found, newest: textOf(new Map([...places, ...reached])) };
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
      const reached = new Map([...places, ...readers.map((each) => [each.name, each.place] as const)]);
      // Nobody can go on at a node that does not answer.
      const isEnd = readers.every(({ place }) => place === noPlace);
      return {
        found,
        older: isEnd ? null : textOf(reached),
        newest: textOf(new Map(readers.map(({ name, page }) => [name, page.newest]))),
        unanswered: pages.filter(({ page }) => page === null).map(({ node }) => node),
      };
    },
  };
}

const timeOf = ({ time }: LoggedRequest | Gap) => Date.parse(time);

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
    let newest: { readonly reader: PageReader; readonly entry: LoggedRequest | Gap } | null = null;
    for (const reader of readers) {
      const entry = reader.next;
      if (entry === null || (newest !== null && timeOf(entry) <= timeOf(newest.entry))) continue;
      const isReached = readers.every((each) => each === reader || each.page.reachedMs <= timeOf(entry));
      if (isReached) newest = { reader, entry };
    }
    if (newest === null) break;
    found.push(newest.entry);
    newest.reader.take();
  }
  return found;
}
