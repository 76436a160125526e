// One attempt of a delivery: sign the event and POST it. An attempt may send it twice (see
// posts.ts); receivers recognize a delivery that arrives twice by the event's id.

import type { KeyObject } from 'node:crypto';
import { answerKeptBytesMax } from '../contract/limits.ts';
import { signatureHeader, signatureHeaderName } from '../crypto/signed-message.ts';
import type { AttemptResult } from '../domain/record.ts';
import type { Connections } from '../http-client/connections.ts';
import { headerLines, type PostOptions, Posts } from '../http-client/posts.ts';

interface AttemptInput {
  /** The organization, which answers for its receivers. */
  readonly org: string;
  /** The endpoint whose connections are used. */
  readonly endpoint: string;
  readonly url: string;
  /** The event as JSON text, which is signed and sent as it is. */
  readonly body: string;
  /** The active signing secrets, newest first. */
  readonly secrets: readonly (string | KeyObject)[];
  /** Now, Unix seconds; a fraction is kept in the result's `at_ms` and cut off in the signature. */
  readonly nowSeconds: number;
}

/** An attempt whose signing secrets are still sealed. */
export interface SealedAttempt extends Omit<AttemptInput, 'secrets'> {
  /** Those that are active, newest first. */
  readonly sealed: readonly string[];
}

const fixedHeaders = headerLines({
  'User-Agent': 'payments-service-webhooks/1',
  'Content-Type': 'application/json',
});

/** Makes attempts, and keeps the connections to receivers between them. */
export class Attempts {
  readonly #monotonic: PostOptions['monotonic'];
  readonly #posts: Posts;

  constructor(options: PostOptions) {
    this.#monotonic = options.monotonic;
    this.#posts = new Posts(options);
  }

  get connections(): Connections {
    return this.#posts.connections;
  }

  /**
   * Makes an attempt. It never rejects because of the network or the receiver: `failure` is null
   * when the answer was 2xx, else a short English reason. An answer that is too long is cut, and
   * its status counts. An answer that is not finished in time is a failure, whatever its status.
   */
  make(input: AttemptInput): Promise<AttemptResult> {
    const startedAtMs = this.#monotonic();
    const { org, endpoint, url, body, nowSeconds } = input;
    return new Promise((resolve, reject) =>
      this.#posts.send({
        endpoint,
        account: org,
        url,
        headers: headersOf(input),
        body,
        isIdempotent: true,
        answerBytesMax: answerKeptBytesMax,
        done: ({ status, failure, answer }) =>
          resolve({
            at_ms: Math.round(nowSeconds * 1000),
            duration_ms: Math.round(this.#monotonic() - startedAtMs),
            status,
            failure,
            answer,
          }),
        broken: reject,
      }),
    );
  }
}

function headersOf({ body, secrets, nowSeconds }: AttemptInput): string {
  const signature = signatureHeader({ secrets, timestampSeconds: Math.floor(nowSeconds), body });
  return `${fixedHeaders}${signatureHeaderName}: ${signature}\r\n`;
}
