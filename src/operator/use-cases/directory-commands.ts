// The operators' commands about organizations and their keys. Each resolves when the change is
// durable and active in every thread.

import { Type } from 'typebox';
import { overlapSecondsMax } from '../../contract/limits.ts';
import { modes } from '../../contract/vocabulary.ts';
import { keyKinds } from '../../directory/api-key.ts';
import { defineCommand, modeSchema } from './command.ts';
import { makerOf, presentKey, presentOrganization } from './present.ts';

const org = Type.String();
const key = Type.String();

const statusCommand = (change: 'activate' | 'reinstate') =>
  defineCommand({ org }, async ({ org }, { directory }) => presentOrganization(await directory[change](org)));

/** Nobody is let into an organization that is suspended or closed. */
const endingCommand = (change: 'suspend' | 'close') =>
  defineCommand({ org }, async ({ org }, { directory }) => {
    const organization = await directory[change](org);
    await directory.links.endInvitations(organization.id);
    return presentOrganization(organization);
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
  'org.activate': statusCommand('activate'),
  'org.reinstate': statusCommand('reinstate'),
  'org.suspend': endingCommand('suspend'),
  'org.close': endingCommand('close'),
  'org.methods': defineCommand(
    {
      org,
      mode: modeSchema,
      methods: Type.Partial(Type.Object({ card: Type.Boolean(), cash: Type.Boolean() })),
    },
    async ({ org, mode, methods }, { directory }) =>
      presentOrganization(await directory.setMethods(org, mode, methods)),
  ),
  'key.create': defineCommand(
    { org, mode: modeSchema, kind: Type.Enum([...keyKinds]) },
    async ({ org, mode, kind }, services) => {
      const { key, text } = await services.directory.createKey(org, mode, kind, makerOf(services.author));
      return { ...presentKey(key, services), key: text };
    },
  ),
  'key.list': defineCommand({ org }, async ({ org }, services) =>
    services.directory.keysOf(org).map((key) => presentKey(key, services)),
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
