// The operators' commands about reviews.

import { Type } from 'typebox';
import { modes } from '../../contract/vocabulary.ts';
import { fieldIndex, kindIndex } from '../../domain/indexes.ts';
import type { ReviewRecord } from '../../domain/record.ts';
import { defineCommand, modeSchema, type OperatorCommand } from './command.ts';
import { presentReview } from './present.ts';
import { command, recordOf, recordsIn, refuseOther } from './shard-records.ts';

export const reviewCommands: readonly OperatorCommand[] = [
  defineCommand(
    'review.list',
    { org: Type.String(), mode: Type.Union([modeSchema, Type.Null()]), openOnly: Type.Boolean() },
    async ({ org, mode, openOnly }, services) => {
      const { id } = services.directory.organization(org);
      const listed = await recordsIn<ReviewRecord>(services, id, mode === null ? modes : [mode], (scope) =>
        openOnly ? fieldIndex('review', scope, 'open', 'true') : kindIndex('review', scope),
      );
      return listed.map(presentReview);
    },
  ),
  defineCommand(
    'review.close',
    { review: Type.String(), as: Type.Enum(['approved', 'refunded']) },
    async ({ review: id, as }, services) => {
      refuseOther(id, 'review');
      await command(services, id, 'close_review', { as });
      return presentReview(await recordOf<ReviewRecord>(services, id, 'review'));
    },
  ),
];
