// Addresses and paths without the slashes at their end.

/** A regular expression would take the square of a run of slashes that is not at the end. */
export function withoutSlashAtEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}
