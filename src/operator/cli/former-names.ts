// Former names of commands and options go on working, with a line that says the present one.

import { commandAt } from './command-place.mjs';

export const formerCommands: ReadonlyMap<string, readonly string[]> = new Map([
  ['log', ['wal']],
  ['networks', ['network', 'calls']],
]);
export const formerOptions: ReadonlyMap<string, string> = new Map([['--data', '--data-dir']]);

/** The arguments with present names. `tell` hears of each former one. */
export function withPresentNames(
  args: readonly string[],
  tell: (former: string, present: string) => void,
): string[] {
  const named = args.map((arg) => {
    const [name = '', ...value] = arg.split('=');
    const present = formerOptions.get(name);
    if (present === undefined) return arg;
    tell(name, present);
    return [present, ...value].join('=');
  });
  const at = commandAt(named);
  const former = named[at] ?? '';
  const present = formerCommands.get(former);
  if (present === undefined) return named;
  tell(former, present.join(' '));
  return named.toSpliced(at, 1, ...present);
}
