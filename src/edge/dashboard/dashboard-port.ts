// The dashboard runs in the main thread, which owns the directory and the audit record. An edge passes visits to it over a
// port, and writes the answers.

import type { MessagePort } from 'node:worker_threads';
import type { OnVisitFailed } from '../../core/visit-failure.ts';
import type { PageAnswer, PageVisit } from '../checkout/page-port.ts';
import type { KnownMember } from './known-sessions.ts';
import { VisitLanes, type Way } from './visit-lanes.ts';

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

/** To the main thread: the client of a visit has left. */
export interface Withdrawn {
  readonly withdrawn: number;
}

/** The answer to a visit, and who is signed in with its cookie now. */
export interface Visited {
  readonly answer: DashboardAnswer;
  readonly known: KnownMember | null;
}

/** From the main thread. */
export interface Answered {
  readonly correlation: number;
  /** Null when the visit failed. */
  readonly visited: Visited | null;
}

/** Why a visit has no answer: the main thread is away or failed, or too many visits like it are on their way. */
export type Unanswered = 'trouble' | 'busy';

/** A visit that was asked about. */
export interface Asking {
  readonly visited: Promise<Visited | Unanswered>;
  /** The client has left, so the answer is not needed any more. */
  withdraw(): void;
}

/** The edge's end of the port. */
export class DashboardPort {
  readonly #lanes = new VisitLanes();
  /** The visits that were sent. */
  readonly #waiting = new Map<number, (visited: Visited | Unanswered) => void>();
  #port: MessagePort | null = null;
  #count = 0;

  connect(port: MessagePort): void {
    this.#port = port;
    port.on('message', ({ correlation, visited }: Answered) => {
      this.#waiting.get(correlation)?.(visited ?? 'trouble');
      this.#waiting.delete(correlation);
      this.#lanes.end(correlation);
    });
    port.on('close', () => this.disconnect());
  }

  disconnect(): void {
    this.#port?.close();
    this.#port = null;
    for (const settle of this.#waiting.values()) settle('trouble');
    this.#waiting.clear();
    this.#lanes.clear();
  }

  ask(request: DashboardRequest, way: Way): Asking {
    const { promise: visited, resolve } = Promise.withResolvers<Visited | Unanswered>();
    const correlation = ++this.#count;
    if (this.#port === null) resolve('trouble');
    else
      this.#lanes.put(correlation, way, {
        send: () => {
          this.#waiting.set(correlation, resolve);
          this.#port?.postMessage({ correlation, request } satisfies Asked);
        },
        refuse: () => resolve(this.#port === null ? 'trouble' : 'busy'),
      });
    const withdraw = () => {
      if (this.#lanes.remove(correlation)) resolve('busy');
      else if (this.#waiting.has(correlation))
        this.#port?.postMessage({ withdrawn: correlation } satisfies Withdrawn);
    };
    return { visited, withdraw };
  }
}

/** The main thread's end. A visit that fails has no answer; `onFailed` hears of it. `gone` is aborted when its client leaves. */
export function answerVisits(
  port: MessagePort,
  handle: (request: DashboardRequest, gone: AbortSignal) => Promise<Visited>,
  onFailed: OnVisitFailed,
): void {
  const underWay = new Map<number, AbortController>();
  const answer = async ({ correlation, request }: Asked) => {
    const gone = new AbortController();
    underWay.set(correlation, gone);
    try {
      const visited = await handle(request, gone.signal);
      port.postMessage({ correlation, visited } satisfies Answered);
    } catch (error) {
      onFailed(error, 'dashboard', request.requestId);
      port.postMessage({ correlation, visited: null } satisfies Answered);
    } finally {
      underWay.delete(correlation);
    }
  };
  port.on('message', (message: Asked | Withdrawn) => {
    if ('withdrawn' in message) underWay.get(message.withdrawn)?.abort();
    else void answer(message);
  });
}
