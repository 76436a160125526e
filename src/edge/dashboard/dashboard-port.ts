// The dashboard runs in the main thread, which owns the directory and the audit record. An edge
// passes visits to it over a port, and writes the answers.

import type { MessagePort } from 'node:worker_threads';
import type { OnVisitFailed } from '../../core/visit-failure.ts';
import type { ExportOptions } from '../../domain/export.ts';
import { type Answer, answerQuestion, type Question, Questions } from '../../rpc/questions.ts';
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
  /** The edge streams an export of the API, or one for people. */
  | (ExportOptions & {
      readonly kind: 'export';
      /** Position in the table of routes. */
      readonly route: number;
      readonly org: string;
      readonly livemode: boolean;
      /** The exports of a member are counted. */
      readonly member: string;
      readonly query: string;
    })
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

/** What an edge asks the main thread. */
interface Visits {
  visit: { asks: { readonly request: DashboardRequest }; answers: Visited };
}

/** To the main thread: the client of a visit has left. */
interface Withdrawn {
  readonly withdrawn: number;
}

/** The answer to a visit, and who is signed in with its cookie now. */
export interface Visited {
  readonly answer: DashboardAnswer;
  readonly known: KnownMember | null;
}

/** Why a visit has no answer: the main thread is away or failed, or too many are on their way. */
export type Unanswered = 'trouble' | 'busy';

/** A visit that was asked about. */
interface Asking {
  readonly visited: Promise<Visited | Unanswered>;
  /** The client has left, so the answer is not needed any more. */
  withdraw(): void;
}

/** The edge's end of the port. */
export class DashboardPort {
  readonly #lanes = new VisitLanes();
  /** The visits that were sent. */
  readonly #questions = new Questions<Visits>((visit) => this.#port?.postMessage(visit));
  #port: MessagePort | null = null;

  connect(port: MessagePort): void {
    this.#port = port;
    port.on('message', (answer: Answer) => {
      this.#questions.take(answer);
      this.#lanes.end(answer.question);
    });
    port.on('close', () => this.disconnect());
  }

  disconnect(): void {
    this.#port?.close();
    this.#port = null;
    this.#questions.end(new Error('the main thread is away'));
    this.#lanes.clear();
  }

  ask(request: DashboardRequest, way: Way): Asking {
    const { promise: visited, resolve } = Promise.withResolvers<Visited | Unanswered>();
    const number = this.#questions.newNumber();
    if (this.#port === null) resolve('trouble');
    else
      this.#lanes.put(number, way, {
        // The main thread has told why it failed.
        send: () => resolve(this.#questions.askAs(number, 'visit', { request }).catch(() => 'trouble')),
        refuse: () => resolve(this.#port === null ? 'trouble' : 'busy'),
      });
    const withdraw = () => {
      if (this.#lanes.remove(number)) resolve('busy');
      else if (this.#questions.has(number))
        this.#port?.postMessage({ withdrawn: number } satisfies Withdrawn);
    };
    return { visited, withdraw };
  }
}

export type AnswerVisit = (request: DashboardRequest, gone: AbortSignal) => Promise<Visited>;

/** The main thread's end. `onFailed` hears of failures; `gone` is aborted when a client leaves. */
export function answerVisits(port: MessagePort, handle: AnswerVisit, onFailed: OnVisitFailed): void {
  const underWay = new Map<number, AbortController>();
  const answer = async (asked: Question<Visits>) => {
    const gone = new AbortController();
    underWay.set(asked.question, gone);
    const failureOf = (error: unknown) => {
      onFailed(error, 'dashboard', asked.request.requestId);
      return null;
    };
    const visit = ({ request }: { readonly request: DashboardRequest }) => handle(request, gone.signal);
    await answerQuestion<Visits>({ visit }, asked, (message) => port.postMessage(message), failureOf);
    underWay.delete(asked.question);
  };
  port.on('message', (message: Question<Visits> | Withdrawn) => {
    if ('withdrawn' in message) underWay.get(message.withdrawn)?.abort();
    else void answer(message);
  });
}
