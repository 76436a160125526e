// The operators' commands about the running process and about reviews, which live in the shards.

import { Type } from 'typebox';
import { defineCommand, modeSchema, type OperatorCommand } from './operator-command.ts';
import { presentReview } from './present.ts';

export const processCommands: readonly OperatorCommand[] = [
  defineCommand('config', {}, async (_, services) => services.config()),
  defineCommand('metrics', {}, async (_, services) => ({ text: await services.metricsText() })),
  defineCommand(
    'review.list',
    { org: Type.String(), mode: Type.Union([modeSchema, Type.Null()]), openOnly: Type.Boolean() },
    async ({ org, ...filter }, { directory, reviews }) => {
      const organization = directory.organization(org);
      return (await reviews.list(organization.id, filter)).map(presentReview);
    },
  ),
  defineCommand(
    'review.close',
    { review: Type.String(), as: Type.Enum(['approved', 'refunded']) },
    async ({ review, as }, { reviews }) => presentReview(await reviews.close(review, as)),
  ),
];
