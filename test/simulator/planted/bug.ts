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
  /** The model makes the same mistake, so it is not asked. */
  readonly isOfModel?: true;
}

export function bug(
  name: string,
  ...edits: readonly (readonly [file: string, from: string, to: string])[]
): PlantedBug {
  return { name, edits: edits.map(([file, from, to]) => ({ file, from, to })) };
}

/** A mistake that the model makes, too: both have read a rule in the same wrong way. */
export function misread(...[name, ...edits]: Parameters<typeof bug>): PlantedBug {
  return { ...bug(name, ...edits), isOfModel: true };
}
