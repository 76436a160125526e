// An operators' command on the server: a name, the schema of its parameters, and a function. Its result is the JSON that
// `--json` prints. A command that goes on yields items until its signal says that the client has left.

import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Bucket } from '../../contract/limits.ts';
import { buckets } from '../../contract/limits.ts';
import type { Mode } from '../../contract/vocabulary.ts';
import { OperatorFailure } from '../socket/protocol.ts';
import type { OperatorServices } from './services.ts';

export type CommandAnswer = Promise<unknown> | AsyncIterable<unknown>;

export interface OperatorCommand {
  readonly name: string;
  /** Whether it is written into the audit record. */
  readonly audited: boolean;
  /** The parameter that holds secrets, which the audit record leaves out. */
  readonly secrets?: string;
  /** Throws `OperatorFailure` of kind `usage` when `params` don't fit the schema. */
  run(params: unknown, services: OperatorServices, signal: AbortSignal): CommandAnswer;
}

export const modeSchema = Type.Enum(['test', 'live'] satisfies Mode[]);
export const bucketSchema = Type.Enum([...buckets] satisfies Bucket[]);

/** Defines a command; `run` is called with parameters that fit `properties`, and no others. */
export function defineCommand<P extends TProperties>(
  name: string,
  properties: P,
  run: (params: Static<TObject<P>>, services: OperatorServices, signal: AbortSignal) => CommandAnswer,
): OperatorCommand {
  const validator = Compile(Type.Object(properties, { additionalProperties: false }));
  return {
    name,
    audited: true,
    run(params, services, signal) {
      if (!validator.Check(params)) {
        const [first] = validator.Errors(params);
        const where = first?.instancePath ? first.instancePath.slice(1) : 'the parameters';
        throw new OperatorFailure('usage', `${name}: ${where} ${first?.message ?? 'are invalid'}`);
      }
      return run(params as Static<TObject<P>>, services, signal);
    },
  };
}

/** A command with secrets in one of its parameters. */
export function withSecrets(command: OperatorCommand, secrets: string): OperatorCommand {
  return { ...command, secrets };
}

/** What the audit record has of a command's parameters. */
export function recordedParams({ secrets }: OperatorCommand, params: unknown): unknown {
  if (secrets === undefined || typeof params !== 'object' || params === null) return params;
  return { ...params, [secrets]: null };
}

/** A command without rows in the audit record. It only reads, and works also when the record can't be written. */
export function unaudited(command: OperatorCommand): OperatorCommand {
  return { ...command, audited: false };
}
