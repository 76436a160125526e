// The forms that were carried out lately, by their idempotency keys. A form whose answer shows a secret once can't be carried
// out again by a double click or by a reload, and its answer is kept nowhere.

const keptMax = 1_000;

export class RecentForms {
  readonly #keys = new Set<string>();

  /** Whether this is the first time for the form of a member. A form without a key counts as new. */
  isFirst(member: string, form: URLSearchParams): boolean {
    const key = form.get('idempotency_key');
    if (!key) return true;
    const name = `${member} ${key}`;
    if (this.#keys.has(name)) return false;
    this.#keys.add(name);
    // A set is in the order in which its members came.
    if (this.#keys.size > keptMax) for (const oldest of this.#keys) return this.#keys.delete(oldest);
    return true;
  }
}
