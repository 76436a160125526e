// The logos of organizations, for the pages where their customers pay. The address has the digest
// of the logo, so what is at it never changes.

import { logoPathOf } from '../../directory/branding.ts';
import type { Directory } from '../../directory/directory.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';

/** Null when there is no such logo, or not any more. */
export function logoAt(directory: Directory, path: string): DashboardAnswer | null {
  const org = path.split('/')[2] ?? '';
  const organization = directory.organizations().find(({ id }) => id === org);
  const logo = organization?.branding.logo ?? null;
  if (organization === undefined || logo === null || logoPathOf(org, organization.branding) !== path)
    return null;
  return { kind: 'file', type: logo.type, bytes: Buffer.from(logo.data, 'base64') };
}
