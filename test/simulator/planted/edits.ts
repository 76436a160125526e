// The bug that a run is to find, if any: an edit of the sources as they are loaded. Which one is in the environment of the
// process, since a module is loaded once.

import { planted } from './bugs.ts';

const name = process.env.SIMULATOR_PLANTED;
const bug = name === undefined ? undefined : planted.find((each) => each.name === name);
if (name !== undefined && bug === undefined) throw new Error(`no bug is called "${name}"`);

/** The text of a source with the bug in it; null when the bug is not there. Throws when the text to edit is not there. */
export function edited(path: string, read: () => string): string | null {
  const edits = bug?.edits.filter((edit) => edit.file === path) ?? [];
  if (edits.length === 0) return null;
  let text = read();
  for (const { from, to } of edits) {
    if (text.split(from).length !== 2)
      throw new Error(`"${name}" edits a text that is not in src/${path} exactly once: ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}
