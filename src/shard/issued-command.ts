// A command with everything that the shard needs to execute it: on whose behalf it runs, and who gave it.

import type { Cause } from '../domain/cause.ts';
import type { AnyCommand } from '../domain/command.ts';
import type { Command } from '../domain/decide.ts';
import type { ApiRequest } from '../domain/record.ts';
import type { Scope } from './scope.ts';

export interface Issue {
  /** The organization and mode that the command is about. */
  readonly scope: Scope;
  /** The API request that gave the command; null when a customer, an operator or time gave it. */
  readonly request: ApiRequest | null;
  /** Who gave the command: not the request, but the network, where an outcome is what that request waits for. */
  readonly cause: Cause;
  /** Whether the command's webhook address is allowed; null before the check. */
  readonly addressAllowed: boolean | null;
}

export interface IssuedCommand<O extends AnyCommand = AnyCommand> extends Command<O>, Issue {}
