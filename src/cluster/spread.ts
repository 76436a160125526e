// Which node runs which partition: as operators want it, else as evenly as it goes, and with few
// moves when a node comes or goes.

import { defined } from '../core/assert.ts';

/**
 * `members`: the nodes that can run partitions, by any names, those first that are to have one
 * more. `before`: who runs each partition now. `wanted`: who is to run it, if that is a member;
 * null: anybody. Returns who is to run each. What is wanted counts when the others are spread.
 */
export function spread(
  members: readonly string[],
  before: readonly string[],
  wanted: readonly (string | null)[],
): string[] {
  const fixed = wanted.map((member) => members.find((each) => each === member) ?? null);
  const left = placesLeft(members, before, fixed);
  const take = (member: string) => {
    const places = left.get(member) ?? 0;
    if (places > 0) left.set(member, places - 1);
    return places > 0;
  };
  const kept = before.map((member, number) => fixed[number] ?? (take(member) ? member : null));
  return kept.map((member) =>
    defined(member ?? members.find(take), 'there are as many places as partitions'),
  );
}

/** How many partitions that any member may run each is to have. */
function placesLeft(
  members: readonly string[],
  before: readonly string[],
  fixed: readonly (string | null)[],
): Map<string, number> {
  const free = before.filter((_, number) => fixed[number] === null);
  const places = new Map<string, number>();
  const placesOf = (member: string) => places.get(member) ?? 0;
  const countOf = (member: string, all: readonly (string | null)[]) =>
    all.filter((each) => each === member).length;
  const runs = (member: string) => countOf(member, fixed) + placesOf(member);
  for (let given = 0; given < free.length; given++) {
    const fewest = Math.min(...members.map(runs));
    const next = members.filter((member) => runs(member) === fewest);
    // Who has more already keeps them.
    const keeper = next.find((member) => countOf(member, free) > placesOf(member)) ?? next[0];
    if (keeper !== undefined) places.set(keeper, placesOf(keeper) + 1);
  }
  return places;
}
