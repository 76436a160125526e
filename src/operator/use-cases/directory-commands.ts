// The operators' commands about organizations and their keys. Each resolves when the change is durable and in force in every
// thread.

import { Type } from 'typebox';
import { overlapSecondsMax } from '../../contract/limits.ts';
import { modes } from '../../contract/vocabulary.ts';
import { keyKinds } from '../../directory/api-key.ts';
import { defineCommand, modeSchema, type OperatorCommand } from './command.ts';
import { makerOf, presentKey, presentOrganization } from './present.ts';

const org = Type.String();
const key = Type.String();
const kind = Type.Enum([...keyKinds]);

const organizationCommands = [
  defineCommand('org.create', { name: Type.String() }, async ({ name }, { directory }) => {
    const { organization, keys } = await directory.createOrganization(name, modes);
    return { id: organization.id, name: organization.name, keys };
  }),
  defineCommand('org.list', {}, async (_, services) =>
    services.directory.organizations().map(presentOrganization),
  ),
  defineCommand('org.show', { org }, async (params, services) =>
    presentOrganization(services.directory.organization(params.org)),
  ),
  ...(['activate', 'reinstate'] as const).map((change) =>
    defineCommand(`org.${change}`, { org }, async (params, services) =>
      presentOrganization(await services.directory[change](params.org)),
    ),
  ),
  ...(['suspend', 'close'] as const).map((change) =>
    defineCommand(`org.${change}`, { org }, async ({ org }, { directory }) => {
      const organization = await directory[change](org);
      await directory.links.endInvitations(organization.id);
      return presentOrganization(organization);
    }),
  ),
  defineCommand(
    'org.methods',
    {
      org,
      mode: modeSchema,
      methods: Type.Partial(Type.Object({ card: Type.Boolean(), cash: Type.Boolean() })),
    },
    async ({ org, mode, methods }, services) =>
      presentOrganization(await services.directory.setMethods(org, mode, methods)),
  ),
];

const keyCommands = [
  defineCommand('key.create', { org, mode: modeSchema, kind }, async (params, services) => {
    const { org, mode, kind } = params;
    const { key, text } = await services.directory.createKey(org, mode, kind, makerOf(services.author));
    return { ...presentKey(key, services), key: text };
  }),
  defineCommand('key.list', { org }, async (params, services) =>
    services.directory.keysOf(params.org).map((key) => presentKey(key, services)),
  ),
  defineCommand(
    'key.roll',
    { key, overlapSeconds: Type.Integer({ minimum: 0, maximum: overlapSecondsMax }) },
    async (params, services) => {
      const maker = makerOf(services.author);
      const { key, text, old } = await services.directory.rollKey(params.key, params.overlapSeconds, maker);
      return { ...presentKey(key, services), key: text, replaces: presentKey(old, services) };
    },
  ),
  defineCommand('key.revoke', { key }, async (params, services) =>
    presentKey(await services.directory.revokeKey(params.key), services),
  ),
];

export const directoryCommands: readonly OperatorCommand[] = [...organizationCommands, ...keyCommands];
