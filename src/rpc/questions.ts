// How threads ask each other: each question has a name and a number, and its answer has the same
// number. A table of questions says what each name is asked with, what it answers, and what it
// reports before that; so the name of a question gives the type of its answer on both sides.
// Messages are plain objects, for any port that has an order.

/** By the names of questions. */
type QuestionTable<T> = {
  readonly [N in keyof T]: {
    readonly asks: object;
    /** Absent: nothing but that it is done. */
    readonly answers?: unknown;
    /** What is reported while the answer is made. */
    readonly reports?: unknown;
  };
};

// biome-ignore lint/suspicious/noConfusingVoidType: it is used in return types only, for handlers that return nothing.
type AnswerTo<Q> = Q extends { readonly answers: infer A } ? A : void;
type Report<Q> = Q extends { readonly reports: infer R } ? R : never;

/** A question on its way. */
export type Question<T extends QuestionTable<T>> = {
  [N in keyof T]: { readonly type: N; readonly question: number } & T[N]['asks'];
}[keyof T];

/** What comes back. A failure is plain data, because an error loses its class on the way. */
export type Answer =
  | { readonly type: 'answer'; readonly question: number; readonly value: unknown }
  | { readonly type: 'progress'; readonly question: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly question: number; readonly value: unknown };

interface Open {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly onReport: (value: never) => void;
}

/** The side that asks. */
export class Questions<T extends QuestionTable<T>> {
  readonly #post: (question: Question<T>) => void;
  readonly #errorOf: (failure: unknown) => Error;
  readonly #open = new Map<number, Open>();
  readonly #step: 1 | -1;
  #count = 0;

  /**
   * `errorOf`: the error of a failure, by default one with its text. Two who ask the same side
   * count in different directions.
   */
  constructor(
    post: (question: Question<T>) => void,
    errorOf: (failure: unknown) => Error = (failure) => new Error(String(failure)),
    step: 1 | -1 = 1,
  ) {
    this.#post = post;
    this.#errorOf = errorOf;
    this.#step = step;
  }

  /** Questions without an answer yet. */
  get size(): number {
    return this.#open.size;
  }

  has(question: number): boolean {
    return this.#open.has(question);
  }

  /** Asks, and resolves or rejects as the other side does. */
  ask<N extends keyof T>(
    type: N,
    asks: T[N]['asks'],
    onReport: (report: Report<T[N]>) => void = () => {},
  ): Promise<AnswerTo<T[N]>> {
    return this.askAs(this.newNumber(), type, asks, onReport);
  }

  /** The number of a question that is asked later. */
  newNumber(): number {
    this.#count += this.#step;
    return this.#count;
  }

  askAs<N extends keyof T>(
    question: number,
    type: N,
    asks: T[N]['asks'],
    onReport: (report: Report<T[N]>) => void = () => {},
  ): Promise<AnswerTo<T[N]>> {
    return new Promise((resolve, reject) => {
      this.#open.set(question, { resolve, reject, onReport });
      this.#post({ ...asks, type, question });
    });
  }

  /** Takes what came back. What nobody waits for any more is dropped. */
  take({ type, question, value }: Answer): void {
    const open = this.#open.get(question);
    if (open === undefined) return;
    // The table gives the type of a value by its question, and both sides are made of it.
    if (type === 'progress') {
      open.onReport(value as never);
      return;
    }
    this.#open.delete(question);
    if (type === 'failure') open.reject(this.#errorOf(value));
    else open.resolve(value as never);
  }

  /** The other side is gone: all open questions are rejected. */
  end(failure: Error): void {
    for (const { reject } of this.#open.values()) reject(failure);
    this.#open.clear();
  }
}

/** The side that answers: what it does for each question that it is asked. */
export type Answers<T extends QuestionTable<T>> = {
  readonly [N in keyof T]?: (
    asks: T[N]['asks'],
    report: (progress: Report<T[N]>) => void,
  ) => AnswerTo<T[N]> | Promise<AnswerTo<T[N]>>;
};

/** Answers a question. With `failureOf`, which makes a failure of an error, it never rejects. */
export async function answerQuestion<T extends QuestionTable<T>>(
  answers: Answers<T>,
  asked: Question<T>,
  post: (answer: Answer) => void,
  failureOf?: (error: unknown) => unknown,
): Promise<void> {
  const { type, question } = asked;
  try {
    const handler = answers[type];
    if (handler === undefined) throw new Error(`nobody answers ${String(type)} here`);
    const value = await handler(asked, (report) => post({ type: 'progress', question, value: report }));
    post({ type: 'answer', question, value });
  } catch (error) {
    if (failureOf === undefined) throw error;
    post({ type: 'failure', question, value: failureOf(error) });
  }
}
