// An operator's command: the schema of its parameters, and a function. Its result is what `--json`
// prints. A command that goes on yields items until its signal says that the client has left.

import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { type Bucket, buckets } from '../../contract/limits.ts';
import { type Mode, modes } from '../../contract/vocabulary.ts';
import { lazily } from '../../core/lazily.ts';
import { wrongUsage } from './failures.ts';
import type { OperatorServices } from './services.ts';

export type CommandAnswer = Promise<unknown> | AsyncIterable<unknown>;

interface Recording {
  /** False for a command that only reads, and works also when the audit record can't be written. */
  readonly audited?: boolean;
  /** The parameter that holds secrets, which the audit record leaves out. */
  readonly secrets?: string;
}

export interface OperatorCommand<Params = unknown, Answer extends CommandAnswer = CommandAnswer> {
  readonly recording: Recording;
  /** Returns the parameters. Throws `OperatorFailure` when they don't fit the schema. */
  checked(name: string, params: unknown): Params;
  run(params: Params, services: OperatorServices, signal: AbortSignal): Answer;
}

export const modeSchema = Type.Enum([...modes] satisfies Mode[]);
export const bucketSchema = Type.Enum([...buckets] satisfies Bucket[]);

/** Defines a command; `run` is called with parameters that fit `properties`, and no others. */
export function defineCommand<P extends TProperties, A extends CommandAnswer>(
  properties: P,
  run: (params: Static<TObject<P>>, services: OperatorServices, signal: AbortSignal) => A,
  recording: Recording = {},
): OperatorCommand<Static<TObject<P>>, A> {
  const validator = lazily(() => Compile(Type.Object(properties, { additionalProperties: false })));
  return {
    recording,
    run,
    checked(name, params) {
      if (validator().Check(params)) return params;
      const [, [first]] = validator().Errors(params);
      const where = first?.instancePath ? first.instancePath.slice(1) : 'the parameters';
      throw wrongUsage(`${name}: ${where} ${first?.message ?? 'are invalid'}`);
    },
  };
}

/** What the audit record has of a command's parameters. */
export function recordedParams({ recording: { secrets } }: OperatorCommand, params: unknown): unknown {
  if (secrets === undefined || typeof params !== 'object' || params === null) return params;
  return { ...params, [secrets]: null };
}
