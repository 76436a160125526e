// What is known of something that was thrown.

/** The code that the system, or Node, gave an error, such as `ENOENT`; undefined without one. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** The codes of the system for a full disk, and for a quota that is used up. */
export const fullDiskCodes: readonly string[] = ['ENOSPC', 'EDQUOT'];

export function isFullDisk(error: unknown): boolean {
  return fullDiskCodes.includes(errorCode(error) ?? '');
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error; its message where it has none. */
export function codeOrText(error: unknown): string {
  return errorCode(error) ?? errorText(error);
}
