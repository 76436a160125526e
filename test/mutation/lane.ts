// A process that answers questions one after the other, and is started anew after it has ended or taken too long.

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cache } from './instrument.ts';

const switched = new URL('switched-sources.ts', import.meta.url).href;

export class Lane<Question extends object, Answer> {
  readonly #file: string;
  #child: ChildProcess | null = null;

  /** `name` is that of a file beside this one. */
  constructor(name: string) {
    this.#file = fileURLToPath(new URL(name, import.meta.url));
  }

  /** Null where the process ended or took too long. With a mutant that acts while sources are loaded, it is a new process. */
  async ask(question: Question, limitMs: number, atLoad?: string): Promise<Answer | null> {
    if (atLoad !== undefined) this.end();
    this.#child ??= this.#start(atLoad);
    const child = this.#child;
    const answer = await new Promise<Answer | null>((resolve) => {
      const timer = setTimeout(() => done(null), limitMs);
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
    if (answer === null || atLoad !== undefined) this.end();
    return answer;
  }

  #start(atLoad: string | undefined): ChildProcess {
    // Threads and processes that tests start have the switch, too.
    const NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --disable-warning=ExperimentalWarning --import=${switched}`;
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      NODE_OPTIONS,
      NODE_COMPILE_CACHE: join(cache, 'compiled'),
    };
    if (atLoad !== undefined) env.MUTANT = atLoad;
    const child = fork(this.#file, { execArgv: [], stdio: 'ignore', env, detached: true });
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
