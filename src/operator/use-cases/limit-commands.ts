// The operators' commands about rate limits, and about organizations' requests for higher ones.
// Each resolves when the change is durable and active in every thread.

import { Type } from 'typebox';
import { limitPerMinuteMax } from '../../contract/limits.ts';
import { defined } from '../../core/assert.ts';
import { approve, deny } from '../../directory/limit-requests.ts';
import type { Organization } from '../../directory/organization.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import { bucketSchema, defineCommand, modeSchema } from './command.ts';
import { presentLimitRequest, presentLimits } from './present.ts';
import type { OperatorServices } from './services.ts';

const org = Type.String();
const request = Type.String();
const limit = Type.Integer({ minimum: 1, maximum: limitPerMinuteMax });

export const limitCommands = {
  'limits.show': defineCommand({ org }, async ({ org }, { directory, now }) =>
    presentLimits(directory.organization(org), now()),
  ),
  'limits.set': defineCommand(
    {
      org,
      mode: modeSchema,
      bucket: bucketSchema,
      perMinute: limit,
      source: Type.Enum(['plan', 'custom']),
      untilMs: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    },
    async ({ org, mode, bucket, ...limit }, { directory, now }) =>
      presentLimits(await directory.setLimit(org, mode, bucket, limit), now()),
  ),
  'limits.daily': defineCommand(
    { org, mode: modeSchema, requests: Type.Optional(limit), paymentCreations: Type.Optional(limit) },
    async ({ org, mode, ...cap }, { directory, now }) =>
      presentLimits(await directory.setDailyCap(org, mode, cap), now()),
  ),
  'limits.reset': defineCommand({ org, mode: modeSchema }, async ({ org, mode }, { directory, now }) =>
    presentLimits(await directory.resetLimits(org, mode), now()),
  ),
  'limits.requests': defineCommand(
    { org: Type.Union([org, Type.Null()]) },
    async ({ org }, { directory }) => {
      const organizations = org === null ? directory.organizations() : [directory.organization(org)];
      return organizations
        .flatMap(({ id, limitRequests }) => limitRequests.map((each) => presentLimitRequest(id, each)))
        .sort((a, b) => (a.created < b.created ? 1 : -1));
    },
  ),
  'limits.approve': defineCommand(
    {
      request,
      perMinute: Type.Optional(limit),
      untilMs: Type.Optional(Type.Integer({ minimum: 0 })),
      note: Type.String(),
    },
    async ({ request: id, note, ...changed }, services) =>
      decideRequest(services, id, (organization, nowMs) => approve(organization, id, changed, note, nowMs)),
  ),
  'limits.deny': defineCommand(
    { request, reason: Type.String() },
    async ({ request: id, reason }, services) =>
      decideRequest(services, id, (organization, nowMs) => deny(organization, id, reason, nowMs)),
  ),
};

async function decideRequest(
  { directory }: OperatorServices,
  id: string,
  rule: (organization: Organization, nowMs: number) => Organization,
) {
  const requestIn = ({ limitRequests }: Organization) => limitRequests.find((each) => each.id === id);
  const owner = directory.organizations().find((each) => requestIn(each) !== undefined);
  if (owner === undefined) throw new DirectoryRefusal('there is no such request for a limit');
  const decided = requestIn(await directory.changeOrganization(owner.id, rule));
  return presentLimitRequest(owner.id, defined(decided, `${id} is gone after it was decided`));
}
