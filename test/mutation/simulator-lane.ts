// A process that plays seeds for mutants, as long as none leaves something behind in it: after a finding, an end or a time limit
// the next mutant gets a new one.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Answer, Question } from './simulator-process.ts';

const file = fileURLToPath(new URL('simulator-process.ts', import.meta.url));
export const preload = ['--disable-warning=ExperimentalWarning', '--import'].concat(
  new URL('switched-sources.ts', import.meta.url).href,
);

export class SimulatorLane {
  #child: ChildProcess | null = null;

  /** Whether a seed finds the mutant. One that acts while the sources are loaded needs a process of its own. */
  async kills(mutant: string, seeds: readonly number[], actsAtLoad: boolean, limitMs: number) {
    if (actsAtLoad) this.end();
    const answer = await this.ask({ mutant, seeds }, limitMs, actsAtLoad ? mutant : undefined);
    if (answer?.found !== null || actsAtLoad) this.end();
    return answer?.found !== null;
  }

  /** Null where the process ended or took too long. */
  ask(question: Question, limitMs: number, atLoad?: string): Promise<Answer | null> {
    this.#child ??= fork(file, {
      execArgv: preload,
      stdio: 'ignore',
      env: atLoad === undefined ? process.env : { ...process.env, __STRYKER_ACTIVE_MUTANT__: atLoad },
    });
    const child = this.#child;
    return new Promise((resolve) => {
      const done = (answer: Answer | null) => {
        clearTimeout(timer);
        for (const name of ['message', 'exit', 'error']) child.removeAllListeners(name);
        if (answer === null) this.end();
        resolve(answer);
      };
      const timer = setTimeout(() => done(null), limitMs);
      child.once('message', (answer) => done(answer as Answer));
      child.once('exit', () => done(null));
      child.once('error', () => done(null));
      // One that has just ended tells so by its exit.
      child.send({ ...question }, () => {});
    });
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }
}
