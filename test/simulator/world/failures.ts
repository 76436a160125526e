// What may fail in a run: what the disk has refused, and a process that is no more. Anything else is a finding.

export function isOfDisk(error: unknown): boolean {
  const { name, message, code } = error as Error & { code?: unknown };
  // What can't be made is told by an error of the service that names the code.
  const isTold = message.includes('(ENOSPC)');
  const isRefused = isTold || code === 5 || code === 28 || code === 'ENOSPC' || code === -30795;
  return isRefused || name === 'JournalFailure' || name === 'MachineDown';
}
