// Which node runs which partition: as evenly as it goes, and with few moves when a node comes or
// goes.

import { defined } from '../core/assert.ts';

/**
 * `members`: the nodes that can run partitions, by any names, those first that are to have one
 * more. `before`: who runs each partition now. Returns who is to run each.
 */
export function spread(members: readonly string[], before: readonly string[]): string[] {
  const countOf = (member: string) => before.filter((each) => each === member).length;
  const few = Math.floor(before.length / members.length);
  const more = before.length % members.length;
  // Who has more already keeps them.
  const ordered = members.toSorted((a, b) => Math.min(countOf(b), few + 1) - Math.min(countOf(a), few + 1));
  const left = new Map(ordered.map((member, place) => [member, place < more ? few + 1 : few]));
  const take = (member: string) => {
    const places = left.get(member) ?? 0;
    if (places > 0) left.set(member, places - 1);
    return places > 0;
  };
  const kept = before.map((member) => (take(member) ? member : null));
  return kept.map((member) =>
    defined(member ?? members.find(take), 'there are as many places as partitions'),
  );
}
