// Which browsers belong to members, as the main thread said with its answer to an earlier visit.
// The main thread finds out on each visit who somebody is; what is known here only decides whose
// turn a visit is, so it may be a little out of date.

import { hash } from 'node:crypto';

/** A member, and the organizations that the member belonged to at the last visit. */
export interface KnownMember {
  readonly member: string;
  readonly organizations: readonly string[];
}

const sessionsMax = 10_000;
const organizationOf = /^\/dashboard\/(org_\w+)\//;

export class KnownSessions {
  readonly #tokenIn: (cookie: string) => string | null;
  /** By the digests of tokens, in the order of their last use. */
  readonly #members = new Map<string, KnownMember>();

  /** `tokenIn` finds the token of a session in a `Cookie` header. */
  constructor(tokenIn: (cookie: string) => string | null) {
    this.#tokenIn = tokenIn;
  }

  /** The main thread has said whose session it is; null for nobody's. */
  learn(cookie: string, known: KnownMember | null): void {
    const key = this.#keyOf(cookie);
    if (key === null) return;
    this.#members.delete(key);
    if (known === null) return;
    this.#members.set(key, known);
    const [oldest] = this.#members.keys();
    if (this.#members.size > sessionsMax && oldest !== undefined) this.#members.delete(oldest);
  }

  /**
   * Whose visit it is: the organization, and the member. An organization that the member does not
   * belong to is only a claim; then the member stands for it. Null for somebody who is not known.
   */
  ownersOf(cookie: string, path: string): readonly [organization: string, member: string] | null {
    const key = this.#keyOf(cookie);
    const known = key === null ? undefined : this.#members.get(key);
    if (known === undefined) return null;
    const { member, organizations } = known;
    const claimed = organizationOf.exec(path)?.[1];
    const isOwn = claimed !== undefined && organizations.includes(claimed);
    return [isOwn ? claimed : member, member];
  }

  #keyOf(cookie: string): string | null {
    const token = this.#tokenIn(cookie);
    return token === null ? null : hash('sha256', token, 'base64');
  }
}
