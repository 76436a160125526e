// An estimate of the bytes that plain data takes in V8's heap, for the memory budgets. It takes
// well under a microsecond for an ordinary record and is rather too high for texts.

const textBytesFixed = 24;
/** The header of an object or a list, and its entry in the table that holds it. */
const objectBytesFixed = 100;
/** A field or an element, with the heap number of a value that is no small integer. */
const fieldBytes = 16;
/** A name that a merchant chose, which objects don't share: a hash-table entry and its text. */
const ownNameBytes = 48;
/** Shorter texts are counted with two bytes a unit: looking at their characters costs too much. */
const lookedIntoLength = 64;

/** V8 stores a text with one byte a unit when all units are Latin-1, and with two otherwise. */
export function textBytes(text: string): number {
  const { length } = text;
  const isWide = length < lookedIntoLength || /[^\0-\xff]/.test(text);
  return textBytesFixed + (isWide ? 2 * length : length);
}

/** An object with fixed field names, and everything in it. */
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
