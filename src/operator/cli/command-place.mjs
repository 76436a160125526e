// @ts-check
// Which of the arguments of `payments` is the command. The launcher has to know it, too, so this is
// plain JavaScript, which any Node runs.

/** The options before the command that have a value: the second is a former name of the first. */
const withValue = ['--data-dir', '--data'];

/**
 * The position of the command among the arguments; -1 without one.
 * @param {readonly string[]} args
 */
export function commandAt(args) {
  return args.findIndex((arg, i) => !arg.startsWith('-') && !withValue.includes(args[i - 1] ?? ''));
}
