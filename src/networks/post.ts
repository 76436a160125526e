// How connectors reach their networks: a POST over HTTPS, with one answer. The rules for addresses
// are those of webhooks; the process provides the function.

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * Has one effect, however often it is sent. Only such a request may be sent again without asking
   * first.
   */
  readonly isIdempotent: boolean;
}

/**
 * How long a request may take. The runner waits longer for a call, so that its error says what was
 * wrong.
 */
export const postTimeoutMs = 15_000;

export interface Posted {
  readonly status: number;
  readonly body: string;
}

/**
 * Sends a request. Rejects when there is no whole answer in time, and when the address may not be
 * used.
 */
export type SendPost = (post: Post) => Promise<Posted>;
