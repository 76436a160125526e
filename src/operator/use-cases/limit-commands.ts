// The operators' commands about rate limits: they show and set them, and decide the requests of organizations for higher
// ones. Each change resolves when it is durable and in force in every thread.

import { Type } from 'typebox';
import { limitPerMinuteMax } from '../../contract/limits.ts';
import { approve, deny } from '../../directory/limit-requests.ts';
import type { Organization } from '../../directory/organization.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import { bucketSchema, defineCommand, modeSchema, type OperatorCommand } from './command.ts';
import { type PresentedLimitRequest, presentLimitRequest, presentLimits } from './present-limits.ts';
import type { OperatorServices } from './services.ts';

const org = Type.String();
const request = Type.String();
const limit = Type.Integer({ minimum: 1, maximum: limitPerMinuteMax });

export const limitCommands: readonly OperatorCommand[] = [
  defineCommand('limits.show', { org }, async (params, services) =>
    limitsOf(services.directory.organization(params.org), services),
  ),
  defineCommand(
    'limits.set',
    {
      org,
      mode: modeSchema,
      bucket: bucketSchema,
      perMinute: limit,
      source: Type.Enum(['plan', 'custom']),
      untilMs: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    },
    async ({ org, mode, bucket, ...limit }, services) =>
      limitsOf(await services.directory.setLimit(org, mode, bucket, limit), services),
  ),
  defineCommand(
    'limits.daily',
    { org, mode: modeSchema, requests: Type.Optional(limit), paymentCreations: Type.Optional(limit) },
    async ({ org, mode, ...cap }, services) =>
      limitsOf(await services.directory.setDailyCap(org, mode, cap), services),
  ),
  defineCommand('limits.reset', { org, mode: modeSchema }, async ({ org, mode }, services) =>
    limitsOf(await services.directory.resetLimits(org, mode), services),
  ),
  defineCommand('limits.requests', { org: Type.Union([org, Type.Null()]) }, async (params, services) => {
    const { directory } = services;
    const organizations =
      params.org === null ? directory.organizations() : [directory.organization(params.org)];
    return organizations
      .flatMap(({ id, limitRequests }) => limitRequests.map((request) => presentLimitRequest(id, request)))
      .sort((a, b) => (a.created < b.created ? 1 : -1));
  }),
  defineCommand(
    'limits.approve',
    {
      request,
      perMinute: Type.Optional(limit),
      untilMs: Type.Optional(Type.Integer({ minimum: 0 })),
      note: Type.String(),
    },
    async ({ request: id, note, ...changed }, services) =>
      decideRequest(services, id, (organization, nowMs) => approve(organization, id, changed, note, nowMs)),
  ),
  defineCommand(
    'limits.deny',
    { request, reason: Type.String() },
    async ({ request: id, reason }, services) =>
      decideRequest(services, id, (organization, nowMs) => deny(organization, id, reason, nowMs)),
  ),
];

function limitsOf(organization: Organization, { now }: OperatorServices) {
  return presentLimits(organization, now());
}

async function decideRequest(
  { directory }: OperatorServices,
  id: string,
  rule: (organization: Organization, nowMs: number) => Organization,
): Promise<PresentedLimitRequest> {
  const isIn = ({ limitRequests }: Organization) => limitRequests.some((request) => request.id === id);
  const owner = directory.organizations().find(isIn);
  if (owner === undefined) throw new DirectoryRefusal('there is no such request for a limit');
  const { limitRequests } = await directory.changeOrganization(owner.id, rule);
  return presentLimitRequest(owner.id, limitRequests.find((request) => request.id === id)!);
}
