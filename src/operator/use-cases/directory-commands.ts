// The operators' commands about organizations, their keys and limits. Each resolves when the change
// is durable and active in every thread.

import { Type } from 'typebox';
import { limitPerMinuteMax, overlapSecondsMax } from '../../contract/limits.ts';
import { modes } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { keyKinds } from '../../directory/api-key.ts';
import { approve, deny } from '../../directory/limit-requests.ts';
import {
  activate,
  close,
  type Organization,
  reinstate,
  suspend,
  withDailyCap,
  withLimit,
  withMethods,
  withoutLimits,
} from '../../directory/organization.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import { bucketSchema, defineCommand, modeSchema } from './command.ts';
import { makerOf, presentKey, presentLimitRequest, presentLimits, presentOrganization } from './present.ts';
import type { OperatorServices } from './services.ts';

const org = Type.String();
const key = Type.String();

const statusCommand = (rule: Rule) =>
  defineCommand({ org }, async ({ org }, { directory }) =>
    presentOrganization(await directory.changeOrganization(org, rule)),
  );

/** Nobody is let into an organization that is suspended or closed. */
const endingCommand = (rule: Rule) =>
  defineCommand({ org }, async ({ org }, { directory }) => {
    const { id } = directory.organization(org);
    const endings = () => [directory.links.endingInvitations(id)];
    return presentOrganization(await directory.changeOrganization(id, rule, endings));
  });

export const directoryCommands = {
  'org.create': defineCommand({ name: Type.String() }, async ({ name }, { directory }) => {
    const { organization, keys } = await directory.createOrganization(name, modes);
    return { id: organization.id, name: organization.name, keys };
  }),
  'org.list': defineCommand({}, async (_, { directory }) =>
    directory.organizations().map(presentOrganization),
  ),
  'org.show': defineCommand({ org }, async ({ org }, { directory }) =>
    presentOrganization(directory.organization(org)),
  ),
  'org.activate': statusCommand(activate),
  'org.reinstate': statusCommand(reinstate),
  'org.suspend': endingCommand(suspend),
  'org.close': endingCommand(close),
  'org.methods': defineCommand(
    {
      org,
      mode: modeSchema,
      methods: Type.Partial(Type.Object({ card: Type.Boolean(), cash: Type.Boolean() })),
    },
    async ({ org, mode, methods }, { directory }) =>
      presentOrganization(
        await directory.changeOrganization(org, (each) => withMethods(each, mode, methods)),
      ),
  ),
  'key.create': defineCommand(
    { org, mode: modeSchema, kind: Type.Enum([...keyKinds]), name: Type.Optional(Type.String()) },
    async ({ org, mode, kind, name }, services) => {
      const maker = makerOf(services.author);
      const { key, text } = await services.directory.createKey(org, mode, kind, maker, name);
      return { ...presentKey(key, services), key: text };
    },
  ),
  'key.list': defineCommand({ org }, async ({ org }, services) =>
    services.directory.keysOf(org).map((key) => presentKey(key, services)),
  ),
  'key.name': defineCommand({ key, name: Type.String() }, async ({ key, name }, services) =>
    presentKey(await services.directory.nameKey(key, name), services),
  ),
  'key.roll': defineCommand(
    { key, overlapSeconds: Type.Integer({ minimum: 0, maximum: overlapSecondsMax }) },
    async (params, services) => {
      const maker = makerOf(services.author);
      const { key, text, old } = await services.directory.rollKey(params.key, params.overlapSeconds, maker);
      return { ...presentKey(key, services), key: text, replaces: presentKey(old, services) };
    },
  ),
  'key.revoke': defineCommand({ key }, async ({ key }, services) =>
    presentKey(await services.directory.revokeKey(key), services),
  ),
};

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
    ({ org, mode, bucket, ...limit }, services) =>
      changeLimits(services, org, (each, nowMs) => withLimit(each, mode, bucket, limit, nowMs)),
  ),
  'limits.daily': defineCommand(
    { org, mode: modeSchema, requests: Type.Optional(limit), paymentCreations: Type.Optional(limit) },
    ({ org, mode, ...cap }, services) => changeLimits(services, org, (each) => withDailyCap(each, mode, cap)),
  ),
  'limits.reset': defineCommand({ org, mode: modeSchema }, ({ org, mode }, services) =>
    changeLimits(services, org, (each) => withoutLimits(each, mode)),
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

type Rule = (organization: Organization, nowMs: number) => Organization;

async function changeLimits({ directory, now }: OperatorServices, org: string, rule: Rule) {
  return presentLimits(await directory.changeOrganization(org, rule), now());
}

async function decideRequest({ directory }: OperatorServices, id: string, rule: Rule) {
  const requestIn = ({ limitRequests }: Organization) => limitRequests.find((each) => each.id === id);
  const owner = directory.organizations().find((each) => requestIn(each) !== undefined);
  if (owner === undefined) throw new DirectoryRefusal('there is no such request for a limit');
  const decided = requestIn(await directory.changeOrganization(owner.id, rule));
  return presentLimitRequest(owner.id, defined(decided, `${id} is gone after it was decided`));
}
