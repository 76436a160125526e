// Which node runs which partition: as operators want it, else as evenly as it goes, and with few
// moves when a node comes or goes.

import { defined, elementAt } from '../core/assert.ts';

/**
 * `candidates`: the nodes that can run partitions, by any names, those first that are to have one
 * more. `before`: who runs each partition now. `wanted`: who is to run it, if that is a candidate;
 * null: anybody. Returns who is to run each. What is wanted counts when the others are spread.
 */
export function spread(
  candidates: readonly string[],
  before: readonly string[],
  wanted: readonly (string | null)[],
): string[] {
  const fixed = wanted.map((candidate) => candidates.find((each) => each === candidate) ?? null);
  const left = placesLeft(candidates, before, fixed);
  const take = (candidate: string) => {
    const places = left.get(candidate) ?? 0;
    if (places > 0) left.set(candidate, places - 1);
    return places > 0;
  };
  const kept = before.map((candidate, number) => fixed[number] ?? (take(candidate) ? candidate : null));
  return kept.map((candidate) =>
    defined(candidate ?? candidates.find(take), 'there are as many places as partitions'),
  );
}

/** How many partitions that any candidate may run each is to have. */
function placesLeft(
  candidates: readonly string[],
  before: readonly string[],
  fixed: readonly (string | null)[],
): Map<string, number> {
  const free = before.filter((_, number) => fixed[number] === null);
  const places = new Map<string, number>();
  const placesOf = (candidate: string) => places.get(candidate) ?? 0;
  const countOf = (candidate: string, all: readonly (string | null)[]) =>
    all.filter((each) => each === candidate).length;
  const runs = (candidate: string) => countOf(candidate, fixed) + placesOf(candidate);
  for (let given = 0; given < free.length; given++) {
    const fewest = Math.min(...candidates.map(runs));
    const next = candidates.filter((candidate) => runs(candidate) === fewest);
    // Who has more already keeps them.
    const keeper = next.find((candidate) => countOf(candidate, free) > placesOf(candidate));
    const receiver = keeper ?? elementAt(next, 0);
    places.set(receiver, placesOf(receiver) + 1);
  }
  return places;
}
