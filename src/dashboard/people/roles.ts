// What each role may do. A row of the table of routes names the permission that it needs.

import type { Role } from '../../directory/members.ts';

const permissions = [
  /** Payments, customers, checkout sessions, reviews, and what they add up to. */
  'payments.read',
  /** Makes payments and links, cancels. */
  'payments.write',
  'refunds.write',
  'reviews.write',
  /** Keys without their text, endpoints, deliveries, events, request logs, limits. */
  'developers.read',
  'keys.write',
  /** Changes endpoints, resends deliveries, sends sample events. */
  'webhooks.write',
  /** Shows and rolls signing secrets. */
  'secrets.read',
  'limits.request',
  'settings.read',
  'settings.write',
  'members.read',
  'members.write',
  'audit.read',
] as const;
export type Permission = (typeof permissions)[number];

const viewer: readonly Permission[] = ['payments.read', 'settings.read'];
const support: readonly Permission[] = [...viewer, 'payments.write', 'refunds.write', 'reviews.write'];
const developer: readonly Permission[] = [
  ...viewer,
  'payments.write',
  'developers.read',
  'keys.write',
  'webhooks.write',
  'secrets.read',
  'limits.request',
];

const permissionsOf: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set(permissions),
  developer: new Set(developer),
  support: new Set(support),
  viewer: new Set(viewer),
};

export function mayDo(role: Role, permission: Permission): boolean {
  return permissionsOf[role].has(permission);
}
