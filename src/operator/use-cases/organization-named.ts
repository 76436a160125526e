// Which organization an operator's command concerns: the one that it names, or to which something belongs that it names.

import { kindOfId } from '../../contract/id-prefixes.ts';
import type { OperatorServices } from './services.ts';
import { recordOf } from './shard-records.ts';

/** Resolves with null when none is named that there is. Never rejects. */
export async function organizationNamed(
  services: OperatorServices,
  named: readonly string[],
): Promise<string | null> {
  for (const text of named) {
    const org = await ownerOf(services, text).catch(() => null);
    if (org !== null) return org;
  }
  return null;
}

async function ownerOf(services: OperatorServices, text: string): Promise<string | null> {
  const { directory } = services;
  const kind = kindOfId(text);
  if (kind === 'organization') return directory.organization(text).id;
  if (kind === 'request') return null;
  if (kind !== undefined) return (await recordOf<{ org: string }>(services, text, kind)).org;
  const isIn = ({ limitRequests }: { readonly limitRequests: readonly { readonly id: string }[] }) =>
    limitRequests.some(({ id }) => id === text);
  return directory.organizations().find(isIn)?.id ?? directory.key(text).org;
}
