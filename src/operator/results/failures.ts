// Why a command of `payments` could not be carried out.

/** A command can't be carried out; the message is one line. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

/** The service can't go on, and another start may help. The message is one line. */
export class ServiceCrash extends CommandFailure {
  override name = 'ServiceCrash';
}
