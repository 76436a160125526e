// The forms that were carried out lately, by their idempotency keys, for what no command of the API
// does: a double click or a reload makes no second key and no second secret. The answers, which may
// show a secret once, are kept nowhere.

const keptMax = 1_000;

export class RecentForms {
  readonly #keys = new Set<string>();

  /**
   * Carries out the form of a member; null when that was done, or is under way. A form that fails
   * may come again, and one without a key counts as new.
   */
  async once<T>(member: string, form: URLSearchParams, run: () => Promise<T>): Promise<T | null> {
    const key = form.get('idempotency_key');
    if (!key) return run();
    const name = `${member} ${key}`;
    if (this.#keys.has(name)) return null;
    this.#keys.add(name);
    // A set is in the order in which its members came.
    const [oldest] = this.#keys;
    if (this.#keys.size > keptMax) this.#keys.delete(oldest!);
    try {
      return await run();
    } catch (error) {
      this.#keys.delete(name);
      throw error;
    }
  }
}
