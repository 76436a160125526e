// What is known of something that was thrown.

/** The code that the system, or Node, gave an error, such as `ENOENT`; undefined without one. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Whether a disk is full, or a quota used up. */
export function isFullDisk(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
