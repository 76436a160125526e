// The part of autocannon's programmatic interface that the bench uses; the package has no types of its own.

declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  export interface Request {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  /** One connection. */
  export interface Client extends EventEmitter {
    readonly requestIterator: { readonly currentRequest: { readonly requestBuffer: Buffer } };
    on(event: 'response', listener: (status: number, bytes: number, durationMs: number) => void): this;
  }

  export interface Result {
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
  }

  function autocannon(options: {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Milliseconds between two looks at whether the time is over. */
    readonly sampleInt: number;
    readonly requests: readonly Request[];
    readonly setupClient: (client: Client) => void;
  }): PromiseLike<Result>;

  export default autocannon;
}
