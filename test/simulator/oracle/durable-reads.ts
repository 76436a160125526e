// Whether a query shows only what is on disk: what its answer showed when it was executed, nobody can lose any more when the answer
// leaves the shard.

import type { Changed, Undurable } from '../world/prompt-reads.ts';
import type { World } from '../world/world.ts';

export class DurableReads {
  readonly #world: World;
  readonly #undurable: Undurable;
  /** By the id of the request: the turns that it shows and that the disk did not have when it was executed. */
  readonly #shown = new Map<string, readonly Changed[]>();

  constructor(world: World, undurable: Undurable) {
    this.#world = world;
    this.#undurable = undurable;
  }

  /** A query is executed, and `body` will be its answer. */
  executed(requestId: string, body: string): void {
    const turns = this.#undurable.with(idsIn(body));
    if (turns.length > 0) this.#shown.set(requestId, turns);
  }

  /** The answer leaves the shard. */
  leaves(requestId: string): void {
    const turns = this.#shown.get(requestId) ?? [];
    this.#shown.delete(requestId);
    this.#world.judge.check(
      'what a read shows is on disk',
      turns.every((turn) => this.#undurable.isDurable(turn)),
      () => `${requestId} is shown what could still be lost`,
    );
  }
}

/** The ids of the objects that an answer shows. */
function idsIn(body: string): string[] {
  const { id, data = [] } = JSON.parse(body) as { readonly id?: string; readonly data?: { id: string }[] };
  return [...(id === undefined ? [] : [id]), ...data.map((each) => each.id)];
}
