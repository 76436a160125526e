// The order of keys that lie in buffers. They are short: a call into Node would take longer.

/** Of so many bytes from a position of each: below zero when those of `a` come first. */
export function compareBytes(
  a: Buffer,
  aStart: number,
  aBytes: number,
  b: Buffer,
  bStart: number,
  bBytes: number,
): number {
  const bytes = Math.min(aBytes, bBytes);
  for (let i = 0; i < bytes; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  return aBytes - bBytes;
}
