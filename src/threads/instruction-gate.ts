// The instructions for a thread that is starting: they wait until it is ready. Of a stop it hears
// before, because its start may wait for other machines.

import type { MessagePort } from 'node:worker_threads';
import type { Instruction } from './thread-protocol.ts';

export class InstructionGate {
  readonly #waiting: Instruction[] = [];
  #take: ((instruction: Instruction) => void) | null = null;

  constructor(main: MessagePort, onEarlyStop: () => void = () => {}) {
    main.on('message', (instruction: Instruction) => {
      if (this.#take !== null) return this.#take(instruction);
      this.#waiting.push(instruction);
      if (instruction.type === 'stop') onEarlyStop();
    });
  }

  /** A stop has come, and waits. */
  get hasStop(): boolean {
    return this.#waiting.some(({ type }) => type === 'stop');
  }

  /** Hands over what has come, and what comes. */
  open(take: (instruction: Instruction) => void): void {
    this.#take = take;
    for (const instruction of this.#waiting.splice(0)) take(instruction);
  }
}
