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
