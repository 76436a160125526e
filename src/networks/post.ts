// How connectors reach their networks: a POST over HTTPS, with one answer. The rules for addresses
// are those of webhooks; the process provides the function.

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Has one effect, however often it is sent, so that it may be sent again without asking. */
  readonly isIdempotent: boolean;
  /** How much of the answer is kept. A longer one is cut. */
  readonly answerBytesMax: number;
}

/** How long a request may take: less than the runner waits, so that its error is told. */
export const postTimeoutMs = 15_000;

export interface Posted {
  readonly status: number;
  readonly body: string;
}

/** Rejects when there is no whole answer in time, or the address may not be used. */
export type SendPost = (post: Post) => Promise<Posted>;
