// The connectors that an organization's payments go through: pure functions on its directory entry.
// Secrets are sealed before they come here.

import { type Mode, type PaymentMethodType, paymentMethodTypes } from '../contract/vocabulary.ts';
import {
  type ConnectorName,
  type ConnectorRow,
  type ConnectorSettings,
  connectors,
} from '../networks/connectors.ts';
import { type Organization, unlessClosed } from './organization.ts';
import { DirectoryRefusal } from './refusal.ts';

/**
 * Lets the payments of some methods go through a connector, with these settings, and those of no
 * others. Null: of the methods that go through it now, or of its first one.
 */
export function withConnector(
  organization: Organization,
  mode: Mode,
  settings: ConnectorSettings,
  chosen: readonly PaymentMethodType[] | null,
): Organization {
  const name = settings.connector;
  const row: ConnectorRow = connectors[name];
  const impossible = chosen?.find((method) => !row.methods.includes(method));
  if (impossible !== undefined) throw new DirectoryRefusal(`${name} is not for ${impossible}`);
  const used = methodsOf(organization, mode, name);
  const methods = chosen ?? (used.length > 0 ? used : row.methods.slice(0, 1));
  return withMethods(withMethods(organization, mode, used, null), mode, methods, settings);
}

function methodsOf({ connectors: used }: Organization, mode: Mode, name: ConnectorName): PaymentMethodType[] {
  return paymentMethodTypes.filter((method) => used[mode][method]?.connector === name);
}

/** Stops using a connector. */
export function withoutConnector(organization: Organization, mode: Mode, name: ConnectorName): Organization {
  const used = methodsOf(organization, mode, name);
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
