// The bug that a run is to find, if any: an edit of the sources as they are loaded. Which one it is stands in the
// environment of the process, since a module is loaded once.

import type { PlantedBug } from './bug.ts';
import { planted } from './bugs.ts';

const name = process.env.SIMULATOR_PLANTED;
const bug = name === undefined ? undefined : planted.find((each) => each.name === name);
if (name !== undefined && bug === undefined) throw new Error(`no bug is called "${name}"`);

/** Whether the model knows no better than the service. */
export const isOfModel = bug?.isOfModel === true;

/** The text of a source with the bug in it; null when the bug is elsewhere, or there is none. */
export function edited(path: string, read: () => string): string | null {
  return bug?.edits.some(({ file }) => file === path) ? withBug(bug, path, read()) : null;
}

/** Throws when a text to edit does not stand in the source exactly once. */
export function withBug({ name, edits }: PlantedBug, path: string, source: string): string {
  let text = source;
  for (const { file, from, to } of edits) {
    if (file !== path) continue;
    if (text.split(from).length !== 2)
      throw new Error(`the bug "${name}" edits a text that is not in src/${path} exactly once: ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}
