// How far a long command is, in one line of the terminal that is written again and again. Nothing where there is no terminal.

/** Writes the line anew. */
export function showProgress(what: string, done: number, total: number): void {
  if (!process.stderr.isTTY) return;
  const share = total === 0 ? `${done}` : `${Math.floor((100 * Math.min(done, total)) / total)} %`;
  process.stderr.write(`\r\x1b[K${what}: ${share}`);
}

/** Removes the line. */
export function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}
