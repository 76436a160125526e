// Lets others go first where processors are short.

import { getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority of this process, and on Linux of this thread alone, to a niceness from 1 to 19. One that was started by
 * nice(1) may have a lower one already, and nobody but root can raise it.
 */
export function lowerPriority(niceness: number): void {
  if (getPriority() < niceness) setPriority(niceness);
}
