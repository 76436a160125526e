// All operators' commands. The name tells the types of parameters, result and items. The commands
// about the process and about reviews are defined here.

import { Type } from 'typebox';
import { closedReasons, modes } from '../../contract/vocabulary.ts';
import { fieldIndex, kindIndex } from '../../domain/indexes.ts';
import type { ReviewRecord } from '../../domain/record.ts';
import { defineCommand, modeSchema, type OperatorCommand } from './command.ts';
import { directoryCommands, limitCommands } from './directory-commands.ts';
import { memberCommands } from './member-commands.ts';
import { networkCommands } from './network-commands.ts';
import { presentReview } from './present.ts';
import { reconciliationCommands } from './reconciliation-commands.ts';
import { command, recordOf, recordsIn, refuseOther } from './shard-records.ts';
import { webhookCommands } from './webhook-commands.ts';

const unaudited = { audited: false };

const processCommands = {
  config: defineCommand({}, async (_, services) => services.config(), unaudited),
  doctor: defineCommand({}, async (_, services) => services.checks(), unaudited),
  status: defineCommand({}, async (_, services) => services.status(), unaudited),
  metrics: defineCommand({}, async (_, services) => services.metrics(), unaudited),
  resume: defineCommand({}, async (_, services) => services.resume()),
  compact: defineCommand({}, (_, services) => services.compact()),
  // The process that asks makes the backup from what is durable: here it is only recorded.
  backup: defineCommand(
    { to: Type.String(), recipients: Type.Array(Type.String()) },
    async (params) => params,
  ),
  'checkpoint.hold': defineCommand(
    { shard: Type.Integer({ minimum: 0 }) },
    ({ shard }, services, signal) => services.holdCheckpoint(shard, signal),
    unaudited,
  ),
};

const reviewCommands = {
  'review.list': defineCommand(
    { org: Type.String(), mode: Type.Union([modeSchema, Type.Null()]), openOnly: Type.Boolean() },
    async ({ org, mode, openOnly }, services) => {
      const { id } = services.directory.organization(org);
      const listed = await recordsIn<ReviewRecord>(services, id, mode === null ? modes : [mode], (scope) =>
        openOnly ? fieldIndex('review', scope, 'open', 'true') : kindIndex('review', scope),
      );
      return listed.map(presentReview);
    },
  ),
  'review.close': defineCommand(
    { review: Type.String(), as: Type.Enum([...closedReasons]) },
    async ({ review: id, as }, services) => {
      refuseOther(id, 'review');
      await command(services, id, 'close_review', { as });
      return presentReview(await recordOf(services, id, 'review'));
    },
  ),
};

export const operatorCommands = {
  ...processCommands,
  ...reviewCommands,
  ...directoryCommands,
  ...limitCommands,
  ...memberCommands,
  ...networkCommands,
  ...reconciliationCommands,
  ...webhookCommands,
};

type Commands = typeof operatorCommands;
type AnswerOf<N extends CommandName> = ReturnType<Commands[N]['run']>;

export type CommandName = keyof Commands;
export type ParamsOf<N extends CommandName> =
  Commands[N] extends OperatorCommand<infer Params> ? Params : never;
/** The result of a command; null for one that yields items. */
export type ResultOf<N extends CommandName> = AnswerOf<N> extends Promise<infer Result> ? Result : null;
export type RowOf<N extends CommandName> = ResultOf<N> extends readonly (infer Row)[] ? Row : never;
export type ItemOf<N extends CommandName> = AnswerOf<N> extends AsyncIterable<infer Item> ? Item : never;
