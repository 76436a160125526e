// The connectors that an organization's payments go through: pure functions on its directory entry. Secrets are sealed before
// they come here.

import type { Mode, PaymentMethodType } from '../contract/vocabulary.ts';
import { type ConnectorName, type ConnectorSettings, connectors } from '../networks/connectors.ts';
import { type Organization, unlessClosed } from './organization.ts';
import { DirectoryRefusal } from './refusal.ts';

/** Lets the payments of the connector's methods go through it, with these settings. */
export function withConnector(
  organization: Organization,
  mode: Mode,
  settings: ConnectorSettings,
): Organization {
  return withMethods(organization, mode, connectors[settings.connector].methods, settings);
}

/** Stops using a connector. */
export function withoutConnector(organization: Organization, mode: Mode, name: ConnectorName): Organization {
  const used = Object.entries(organization.connectors[mode]).flatMap(([method, settings]) =>
    settings?.connector === name ? [method as PaymentMethodType] : [],
  );
  if (used.length > 0) return withMethods(organization, mode, used, null);
  throw new DirectoryRefusal(`${organization.id} does not use ${name} in ${mode} mode`);
}

function withMethods(
  organization: Organization,
  mode: Mode,
  methods: readonly PaymentMethodType[],
  settings: ConnectorSettings | null,
): Organization {
  const before = organization.connectors;
  const changed = Object.fromEntries(methods.map((method) => [method, settings]));
  return {
    ...unlessClosed(organization),
    connectors: { ...before, [mode]: { ...before[mode], ...changed } },
  };
}
