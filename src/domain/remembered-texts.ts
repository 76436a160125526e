// The texts of records that were shown lately. A merchant who waits for a payment asks for it again
// and again, and newest pages have the same records each time. A record never changes, because a
// change puts another object in its place. So a text counts as long as its id has the same object.

import { OwnedMap } from '../core/owned-map.ts';

export class RememberedTexts<R extends { readonly id: string; readonly org: string }> {
  readonly #shown: OwnedMap<{ readonly record: R; readonly text: string }>;

  /** All texts together have at most `unitsMax` UTF-16 units; organizations share them. */
  constructor(unitsMax: number) {
    this.#shown = new OwnedMap(unitsMax, ({ text }) => text.length);
  }

  get(record: R): string | undefined {
    const shown = this.#shown.get(record.org, record.id);
    return shown?.record === record ? shown.text : undefined;
  }

  /** Remembers the text, and returns it. */
  put(record: R, text: string): string {
    this.#shown.set(record.org, record.id, { record, text });
    return text;
  }
}
