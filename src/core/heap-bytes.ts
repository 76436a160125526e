// About how many bytes plain data takes in V8's heap: what the budgets of memory count with. An estimate that costs
// well under a microsecond for an ordinary record and errs on the high side for texts.

const textBytesFixed = 24;
/** An object's or a list's own header, and its place in the table that holds it. */
const objectBytesFixed = 100;
/** A field or an element; a number that is no small integer lies beside it. */
const fieldBytes = 16;
/** Names that merchants choose are shared with no other object: each takes a place in a hash table, and itself. */
const ownNameBytes = 48;
/** Shorter texts are counted as if they needed two bytes a unit: looking into them costs more than it tells. */
const lookedIntoLength = 64;

/** V8 stores a text with one byte a unit when all of its units are Latin-1, and with two otherwise. */
export function textBytes(text: string): number {
  const { length } = text;
  const isWide = length < lookedIntoLength || /[^\0-\xff]/.test(text);
  return textBytesFixed + (isWide ? 2 * length : length);
}

/** An object with fixed field names, and everything that it holds. */
export function objectBytes(object: object): number {
  let bytes = objectBytesFixed;
  const fields = object as Readonly<Record<string, unknown>>;
  for (const name in fields) bytes += fieldBytes + valueBytes(fields[name]);
  return bytes;
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (value instanceof Uint8Array) return objectBytesFixed + value.length;
  if (Array.isArray(value)) {
    let bytes = objectBytesFixed;
    for (const element of value) bytes += fieldBytes + valueBytes(element);
    return bytes;
  }
  let bytes = objectBytes(value);
  for (const name in value) bytes += ownNameBytes + textBytes(name);
  return bytes;
}
