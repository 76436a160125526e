// Why a command of operators or members, or of `payments`, could not be carried out.

/** `usage`: malformed; `refused`: nothing was done; `failed`: a fault of the server. */
export type OperatorErrorKind = 'usage' | 'refused' | 'failed';

/** A command that did not succeed. The message is one sentence for the operator. */
export class OperatorFailure extends Error {
  override name = 'OperatorFailure';
  readonly kind: OperatorErrorKind;
  constructor(kind: OperatorErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export function isRefusal(error: unknown): error is OperatorFailure {
  return error instanceof OperatorFailure && error.kind === 'refused';
}

/** The failure of a command that was called wrongly. */
export function wrongUsage(message: string): OperatorFailure {
  return new OperatorFailure('usage', message);
}

/** A command can't be carried out; the message is one line. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
}

/** The service can't go on, and another start may help. The message is one line. */
export class ServiceCrash extends CommandFailure {
  override name = 'ServiceCrash';
}
