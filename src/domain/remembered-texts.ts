// The texts of records that were shown lately. A merchant who waits for a payment asks for it again
// and again, and newest pages have the same records each time. A record never changes, because a
// change puts another object in its place. So a text counts as long as its id has the same object.

export class RememberedTexts<R extends { readonly id: string }> {
  readonly #shown = new Map<string, { readonly record: R; readonly text: string }>();
  readonly #unitsMax: number;
  #units = 0;

  /** All texts together have at most `unitsMax` UTF-16 units. Beyond that, all are forgotten. */
  constructor(unitsMax: number) {
    this.#unitsMax = unitsMax;
  }

  get(record: R): string | undefined {
    const shown = this.#shown.get(record.id);
    return shown?.record === record ? shown.text : undefined;
  }

  /** Remembers the text, and returns it. */
  put(record: R, text: string): string {
    this.#units += text.length;
    if (this.#units > this.#unitsMax) {
      this.#shown.clear();
      this.#units = text.length;
    }
    this.#shown.set(record.id, { record, text });
    return text;
  }
}
