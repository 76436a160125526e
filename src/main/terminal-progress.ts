// Shows the progress of a long command in one line of the terminal. Without a terminal it prints nothing.

/** Overwrites the line. */
export function showProgress(what: string, done: number, total: number): void {
  if (!process.stderr.isTTY) return;
  const share = total === 0 ? `${done}` : `${Math.floor((100 * Math.min(done, total)) / total)} %`;
  process.stderr.write(`\r\x1b[K${what}: ${share}`);
}

/** Removes the line. */
export function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}
