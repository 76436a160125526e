// The exit codes of the command `payments`. The launcher, which is plain JavaScript, decides by
// them whether the service is started again. Codes and signals that are not named here are a crash,
// too.

export const exitCodes = {
  /** The command has done what it was asked for; the service was told to stop, and has. */
  done: 0,
  /** The command, or the start of the service, failed: somebody has to do something. */
  failed: 1,
  /** Wrong usage. */
  usage: 2,
  /** A bug, or a service that can't go on: another start may help. */
  crashed: 70,
};
