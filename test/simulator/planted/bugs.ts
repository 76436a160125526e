// The planted bugs: each an edit of the sources that a tired engineer could make. A run of the simulator over so many seeds
// must find each one.

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

export const planted: readonly PlantedBug[] = [];
