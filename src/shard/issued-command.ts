// A command with those on whose behalf it runs: what the shard needs to know to execute it.

import type { AnyCommand } from '../domain/command.ts';
import type { Command } from '../domain/decide.ts';
import type { ApiRequest } from '../domain/record.ts';
import type { Scope } from './scope.ts';

export interface Issue {
  /** The organization and mode that the command is about. */
  readonly scope: Scope;
  /** The API request that gave the command; null when a customer, an operator or time gave it. */
  readonly request: ApiRequest | null;
  /** The verdict on the address that it asked about before; null when it has not asked. */
  readonly addressAllowed: boolean | null;
}

export interface IssuedCommand<O extends AnyCommand = AnyCommand> extends Command<O>, Issue {}
