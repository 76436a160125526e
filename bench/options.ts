// The options of the benches. A wrong one ends the bench with one clear line, as on the command line of the service.

import { Command, InvalidArgumentError } from 'commander';

/** A bench that is started with `npm run script`; whoever calls adds its options and parses. */
export function bench(script: string, description: string): Command {
  return new Command(`npm run ${script} --`).description(description).allowExcessArguments(false);
}

export function positive(text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  throw new InvalidArgumentError('It must be a number above zero.');
}

/** Whole numbers with commas between them. */
export function counts(text: string): number[] {
  return text.split(',').map((part) => Math.ceil(positive(part)));
}

/** Threads of both kinds, edges × shards, with commas between them: `1x1,1x2,2x4`. */
export function layouts(text: string): { edges: number; shards: number }[] {
  return text.split(',').map((part) => {
    const [edges, shards] = part.split('x').map(positive);
    if (edges === undefined || shards === undefined)
      throw new InvalidArgumentError('It must be like 1x2,2x4.');
    return { edges: Math.ceil(edges), shards: Math.ceil(shards) };
  });
}

/** Some of these names, with commas between them. */
export function someOf<T extends string>(names: readonly T[]): (text: string) => T[] {
  return (text) =>
    text.split(',').map((part) => {
      const found = names.find((name) => name === part);
      if (found !== undefined) return found;
      throw new InvalidArgumentError(`It must be of ${names.join(', ')}.`);
    });
}
