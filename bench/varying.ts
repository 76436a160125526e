// The part of a request that is another one each time: a counted text (an idempotency key), or one of a list (an id).
// All texts of one such part are of the same length, so that it can be overwritten in bytes that were built once.

import { writeFileSync } from 'node:fs';

export interface Varying {
  /** As it stands in the request that the load is described with. */
  readonly first: string;
  next(): string;
  /** A Lua function `part()` that gives the next text, for a generator of its own; `file` may be written. */
  lua(file: string): string;
}

const digits = 12;
/** As many counted texts as a generator may use up before another one goes on behind them. */
const reservedForLua = 100_000_000;

/** Texts that differ: `prefix-000000000001`, `prefix-000000000002`, … */
export function counted(prefix: string): Varying {
  let count = 0;
  const text = (number: number) => `${prefix}-${String(number).padStart(digits, '0')}`;
  return {
    first: text(0),
    next: () => text(++count),
    lua() {
      const from = count;
      count += reservedForLua;
      return `local count = ${from}
function part() count = count + 1; return string.format('${prefix}-%0${digits}d', count) end`;
    },
  };
}

/** The texts of a list, over and over. */
export function cycled(texts: readonly string[]): Varying {
  let position = 0;
  return {
    first: texts[0]!,
    next: () => texts[position++ % texts.length]!,
    lua(file) {
      writeFileSync(file, texts.join('\n'));
      return `local texts, position = {}, 0
for line in io.lines(${JSON.stringify(file)}) do texts[#texts + 1] = line end
function part() position = position % #texts + 1; return texts[position] end`;
    },
  };
}
