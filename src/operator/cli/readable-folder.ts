// For commands that read files of a data folder by themselves, whether a service runs or not.

import { readdirSync } from 'node:fs';
import { errorCode } from '../../core/errors.ts';
import { CommandFailure } from '../use-cases/failures.ts';

/** Throws `CommandFailure` where nothing could be found, whatever there is. */
export function readable(dataDir: string): string {
  try {
    readdirSync(dataDir);
    return dataDir;
  } catch (error) {
    const code = errorCode(error);
    throw new CommandFailure(
      code === 'EACCES'
        ? `${dataDir} belongs to another user: run the command as that user`
        : `there is no folder ${dataDir} (${code}): name the data folder with --data-dir`,
    );
  }
}
