// Projections of the directory for the other threads: the part of an organization and its keys that
// a shard or an edge needs, in the types of its layer.

import type { ApiKey } from '../directory/api-key.ts';
import { logoPathOf } from '../directory/branding.ts';
import type { DirectoryChange } from '../directory/directory.ts';
import type { Organization } from '../directory/organization.ts';
import type { KeyRingChange } from '../edge/api/authenticate.ts';
import type { OrganizationConnectors } from '../networks/connectors.ts';
import type { ShardAccount } from '../shard/account.ts';

/** An organization as the thread of its shard knows it. */
export interface ShardThreadAccount extends ShardAccount {
  readonly connectors: OrganizationConnectors;
}

export function accountOf(organization: Organization): ShardThreadAccount {
  const { id, name, branding, created, apiVersion, methods, limits, connectors } = organization;
  const shown = { colour: branding.colour, logoUrl: logoPathOf(id, branding) };
  return { id, name, branding: shown, created, apiVersion, methods, limits, connectors };
}

export function keyRingChangeOf({ organization, keys }: DirectoryChange): KeyRingChange {
  const { id, status, liveActivated } = organization;
  return {
    organization: { id, active: status === 'active', liveActivated },
    keys: keys.map(({ id, digest, org, mode, kind, revokedAtMs, expiresAtMs }: ApiKey) => ({
      id,
      digest,
      org,
      livemode: mode === 'live',
      secret: kind === 'secret',
      revoked: revokedAtMs !== null,
      expiresAtMs,
    })),
  };
}
