// The dashboard runs in the main thread, which owns the directory and the audit record. An edge passes visits to it over a
// port, and writes the answers.

import type { MessagePort } from 'node:worker_threads';
import type { OnVisitFailed } from '../core/visit-failure.ts';
import type { PageAnswer, PageVisit } from './pages/page-port.ts';

export interface DashboardRequest extends PageVisit {
  readonly contentType: string;
  /** The form; empty without one. */
  readonly body: Uint8Array;
  /** A stream asks again, which is no use of the session. */
  readonly isRepeated: boolean;
}

export type DashboardAnswer =
  | ({ readonly kind: 'page' } & PageAnswer)
  /** A picture of an organization's, which browsers keep. */
  | { readonly kind: 'file'; readonly type: string; readonly bytes: Uint8Array }
  /** The edge streams an export of the API. */
  | {
      readonly kind: 'export';
      /** Position in the table of routes. */
      readonly route: number;
      readonly org: string;
      readonly livemode: boolean;
      /** The exports of a member are counted. */
      readonly member: string;
      readonly query: string;
    }
  /** The edge streams the list, and asks for it again when its source has news. */
  | {
      readonly kind: 'tail';
      readonly source: TailSource;
      readonly org: string;
      readonly livemode: boolean;
      /** The streams of a member are counted. */
      readonly member: string;
      readonly list: string;
    };

export type TailSource = 'requests' | 'events';

/** To the main thread. */
export interface Asked {
  readonly correlation: number;
  readonly request: DashboardRequest;
}

/** From the main thread. */
export interface Answered {
  readonly correlation: number;
  /** Null when the visit failed. */
  readonly answer: DashboardAnswer | null;
}

/** The visits that may wait for the main thread. */
const waitingMax = 256;

/** The edge's end of the port. */
export class DashboardPort {
  readonly #waiting = new Map<number, (answer: DashboardAnswer | null) => void>();
  #port: MessagePort | null = null;
  #count = 0;

  connect(port: MessagePort): void {
    this.#port = port;
    port.on('message', ({ correlation, answer }: Answered) => {
      this.#waiting.get(correlation)?.(answer);
      this.#waiting.delete(correlation);
    });
    port.on('close', () => this.disconnect());
  }

  disconnect(): void {
    this.#port?.close();
    this.#port = null;
    for (const settle of this.#waiting.values()) settle(null);
    this.#waiting.clear();
  }

  /** Settles with null when the main thread is away, has too much to do, or failed. */
  ask(request: DashboardRequest): Promise<DashboardAnswer | null> {
    const port = this.#port;
    if (port === null || this.#waiting.size >= waitingMax) return Promise.resolve(null);
    const correlation = ++this.#count;
    return new Promise((resolve) => {
      this.#waiting.set(correlation, resolve);
      port.postMessage({ correlation, request } satisfies Asked);
    });
  }
}

/** The main thread's end. A visit that fails has no answer; `onFailed` hears of it. */
export function answerVisits(
  port: MessagePort,
  handle: (request: DashboardRequest) => Promise<DashboardAnswer>,
  onFailed: OnVisitFailed,
): void {
  port.on('message', async ({ correlation, request }: Asked) => {
    try {
      port.postMessage({ correlation, answer: await handle(request) } satisfies Answered);
    } catch (error) {
      onFailed(error, 'dashboard', request.requestId);
      port.postMessage({ correlation, answer: null } satisfies Answered);
    }
  });
}
