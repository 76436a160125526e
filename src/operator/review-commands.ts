// The operators' commands about reviews: money that does not add up, and waits for somebody's decision.

import { Type } from 'typebox';
import { fieldIndex, kindIndex, scopeOf } from '../domain/indexes.ts';
import type { ReviewRecord } from '../domain/record.ts';
import { defineCommand, modeSchema, type OperatorCommand } from './operator-command.ts';
import { presentReview } from './present.ts';
import { command, recordOf, records } from './shard-records.ts';

export const reviewCommands: readonly OperatorCommand[] = [
  defineCommand(
    'review.list',
    { org: Type.String(), mode: Type.Union([modeSchema, Type.Null()]), openOnly: Type.Boolean() },
    async ({ org, mode, openOnly }, services) => {
      const { id } = services.directory.organization(org);
      const modes = mode === null ? ['live', 'test'] : [mode];
      const lists = await Promise.all(
        modes.map((each) => {
          const scope = scopeOf(id, each === 'live');
          const open = fieldIndex('review', scope, 'open', 'true');
          return records<ReviewRecord>(services, id, openOnly ? open : kindIndex('review', scope));
        }),
      );
      // Ids sort by creation.
      return lists
        .flat()
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .map(presentReview);
    },
  ),
  defineCommand(
    'review.close',
    { review: Type.String(), as: Type.Enum(['approved', 'refunded']) },
    async ({ review: id, as }, services) => {
      await recordOf<ReviewRecord>(services, id, 'prv_', 'review');
      await command(services, id, 'close_review', { as });
      return presentReview(await recordOf<ReviewRecord>(services, id, 'prv_', 'review'));
    },
  ),
];
