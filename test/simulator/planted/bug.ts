// A planted bug: edits of the sources, short pieces of text, so that little of the rest of a file can get in their way.

export interface Edit {
  /** Below `src`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface PlantedBug {
  readonly name: string;
  readonly edits: readonly Edit[];
}

export function bug(
  name: string,
  ...edits: readonly (readonly [file: string, from: string, to: string])[]
): PlantedBug {
  return { name, edits: edits.map(([file, from, to]) => ({ file, from, to })) };
}
