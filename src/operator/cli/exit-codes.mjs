// The exit codes of the command `payments`. Plain JavaScript, because the launcher (main/launch.mjs) reads them, too, and
// decides by them whether the service is started again. Codes and signals that are not named here are a crash, as well: Node
// has codes of its own for what it can't survive.

export const exitCodes = {
  /** The command has done what it was asked for; the service was told to stop, and has. */
  done: 0,
  /** The command was refused or has failed; the service was refused its start. Somebody has to do something about it. */
  failed: 1,
  /** Wrong usage. */
  usage: 2,
  /** A bug, or a service that can't go on although nobody told it to stop: another start may help. */
  crashed: 70,
};
