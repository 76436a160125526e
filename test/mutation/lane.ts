// A process that answers questions one after the other, and is started anew after it has ended or taken too long.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Place } from './switch.ts';

const switched = new URL('switched-sources.ts', import.meta.url).href;

/** Each import of a test file stays in memory. */
const questionsMax = 300;
/** With its first question a process loads the sources, too. */
const loadMsMax = 15_000;

export class Lane<Question extends object, Answer> {
  readonly #file: string;
  #child: ChildProcess | null = null;
  #asked = 0;

  /** `name` is that of a file beside this one. */
  constructor(name: string) {
    this.#file = fileURLToPath(new URL(name, import.meta.url));
  }

  /** A new process, in which the mutant is on while sources are loaded. */
  begin(mutant: Place): void {
    this.end();
    this.#child = this.#start({ MUTANT: JSON.stringify(mutant) });
  }

  /** Null where the process ended or took too long. */
  async ask(question: Question, limitMs: number): Promise<Answer | null> {
    if (this.#asked >= questionsMax) this.end();
    this.#child ??= this.#start({});
    const child = this.#child;
    const msMax = this.#asked === 0 ? limitMs + loadMsMax : limitMs;
    this.#asked++;
    const answer = await new Promise<Answer | null>((resolve) => {
      const timer = setTimeout(() => done(null), msMax);
      const done = (answered: Answer | null) => {
        clearTimeout(timer);
        child.off('message', answers).off('exit', ends);
        resolve(answered);
      };
      const answers = (answered: unknown) => done(answered as Answer);
      const ends = () => done(null);
      child.on('message', answers).on('exit', ends);
      // One that has just ended tells so by its exit.
      child.send(question, () => {});
    });
    if (answer === null) this.end();
    return answer;
  }

  #start(env: NodeJS.ProcessEnv): ChildProcess {
    this.#asked = 0;
    const NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --disable-warning=ExperimentalWarning --import=${switched}`;
    const child = fork(this.#file, {
      execArgv: [],
      stdio: 'ignore',
      env: { ...process.env, ...env, NODE_OPTIONS },
      detached: true,
    });
    child.on('exit', () => {
      if (this.#child === child) this.#child = null;
    });
    return child;
  }

  /** With all that the process has started, which a mutant may leave behind. */
  end(): void {
    const pid = this.#child?.pid;
    this.#child = null;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
