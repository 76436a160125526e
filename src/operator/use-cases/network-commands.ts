// The operators' commands about payment networks: the connectors of organizations, and the calls that wait for an outcome.

import { Type } from 'typebox';
import {
  type Mode,
  modeOf,
  modes,
  type PaymentMethodType,
  paymentMethodTypes,
} from '../../contract/vocabulary.ts';
import { withConnector, withoutConnector } from '../../directory/network-credentials.ts';
import type { Organization } from '../../directory/organization.ts';
import { methodOfCall } from '../../domain/network-call.ts';
import type { NetworkCallRecord } from '../../domain/record.ts';
import { settingFaults } from '../../networks/connector-settings.ts';
import { type ConnectorName, connectorNames, ownerOfSetting } from '../../networks/connectors.ts';
import type { OpenCall } from '../../shard/protocol.ts';
import { listedMax, OperatorFailure } from '../socket/protocol.ts';
import { defineCommand, modeSchema, type OperatorCommand, unaudited, withSecrets } from './command.ts';
import type { OperatorServices } from './services.ts';

/** A connector as operators see it: secrets are only named. */
export interface PresentedConnector {
  readonly mode: Mode;
  readonly method: PaymentMethodType;
  /** `simulator` in test mode, when the organization has none of its own; `none` when only calls are left of one. */
  readonly network: ConnectorName | 'simulator' | 'none';
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Its calls that have no final outcome yet: the network in force is asked about them. */
  readonly open_calls: number;
}

export interface CheckedConnector extends Pick<PresentedConnector, 'mode' | 'method' | 'network'> {
  /** Why the network can't be used; null when it can. */
  readonly problem: string | null;
}

export interface PresentedNetworkCall {
  readonly id: string;
  readonly organization: string;
  readonly mode: Mode;
  readonly action: NetworkCallRecord['action'];
  readonly payment_intent: string;
  /** The network that is asked about it. */
  readonly network: PresentedConnector['network'];
  /** What went wrong when it was last made or asked about; null when nothing did. */
  readonly last_error: string | null;
  /** The network has taken the order, and has not said yet how it ended. */
  readonly accepted: boolean;
  readonly since: string;
}

const org = Type.String();
const network = Type.Enum(connectorNames);
const methods = Type.Optional(Type.Array(Type.Enum([...paymentMethodTypes]), { minItems: 1 }));
const values = Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 4096 }));

export const networkCommands: readonly OperatorCommand[] = [
  withSecrets(
    defineCommand(
      'network.set',
      { org, mode: modeSchema, network, methods, settings: values, secrets: values },
      async (params, services) => presentConnectors(await configureConnector(services, params), services),
    ),
    'secrets',
  ),
  defineCommand('network.show', { org }, async (params, services) =>
    presentConnectors(services.directory.organization(params.org), services),
  ),
  defineCommand('network.remove', { org, mode: modeSchema, network }, async (params, services) => {
    const changed = await services.directory.changeOrganization(params.org, (organization) =>
      withoutConnector(organization, params.mode, params.network),
    );
    return presentConnectors(changed, services);
  }),
  defineCommand('network.check', { org }, async (params, services) => {
    const organization = services.directory.organization(params.org);
    return Promise.all(connectorsOf(organization).map((each) => checked(each, organization.id, services)));
  }),
  unaudited(
    defineCommand('network.waiting', {}, async (_, services) =>
      (await services.openNetworkCalls(null, listedMax)).map((call) => presentCall(call, services)),
    ),
  ),
];

/** The settings of a connector, with its secrets still open. */
export interface NewConnector {
  readonly org: string;
  readonly mode: Mode;
  readonly network: ConnectorName;
  /** Whose payments go through it; without them those that do now, or that it is mostly for. */
  readonly methods?: readonly PaymentMethodType[];
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Checks the settings, seals the secrets, and puts them in force. Throws `OperatorFailure` or `DirectoryRefusal`. */
export async function configureConnector(
  services: OperatorServices,
  given: NewConnector,
): Promise<Organization> {
  refuseSettings(given, services);
  const { org, mode, network, methods = null, settings, secrets } = given;
  const { directory } = services;
  const { id } = directory.organization(org);
  const sealed = Object.entries(secrets).map(([name, secret]) => {
    return [name, services.secrets.seal(secret, ownerOfSetting(id, mode, network, name))];
  });
  const configured = { connector: network, settings, sealed: Object.fromEntries(sealed) };
  return directory.changeOrganization(id, (organization) =>
    withConnector(organization, mode, configured, methods),
  );
}

/** Throws when something is wrong with the settings. */
function refuseSettings(given: NewConnector, { networkAddressFault }: OperatorServices): void {
  const [first] = settingFaults(given.network, given, networkAddressFault);
  if (first !== undefined)
    throw new OperatorFailure(first.fault === 'address' ? 'refused' : 'usage', first.message);
}

type ConfiguredConnector = Omit<PresentedConnector, 'open_calls'>;

/** The network of a method, as it is configured; null when there is none. */
function connectorOf(
  { connectors: configured }: Organization,
  mode: Mode,
  method: PaymentMethodType,
): ConfiguredConnector | null {
  const own = configured[mode][method];
  if (own !== null)
    return { mode, method, network: own.connector, settings: own.settings, secrets: Object.keys(own.sealed) };
  return mode === 'test' ? { mode, method, network: 'simulator', settings: {}, secrets: [] } : null;
}

function connectorsOf(organization: Organization): ConfiguredConnector[] {
  return modes.flatMap((mode) =>
    paymentMethodTypes.flatMap((method) => connectorOf(organization, mode, method) ?? []),
  );
}

/** The networks of an organization, and the methods that have open calls and no network. */
async function presentConnectors(
  organization: Organization,
  services: OperatorServices,
): Promise<PresentedConnector[]> {
  const open = await services.openNetworkCalls(organization.id, listedMax);
  return modes.flatMap((mode) =>
    paymentMethodTypes.flatMap((method): PresentedConnector[] => {
      const { length } = open.filter(
        ({ record }) => modeOf(record.livemode) === mode && methodOfCall(record) === method,
      );
      const configured = connectorOf(organization, mode, method);
      if (configured !== null) return [{ ...configured, open_calls: length }];
      return length === 0
        ? []
        : [{ mode, method, network: 'none', settings: {}, secrets: [], open_calls: length }];
    }),
  );
}

async function checked(
  { mode, method, network }: ConfiguredConnector,
  org: string,
  { checkNetwork }: OperatorServices,
): Promise<CheckedConnector> {
  const problem = await checkNetwork(org, mode, method).then(
    () => null,
    (error: Error) => error.message,
  );
  return { mode, method, network, problem };
}

function presentCall({ record, lastError }: OpenCall, { directory }: OperatorServices): PresentedNetworkCall {
  const mode = modeOf(record.livemode);
  const configured = connectorOf(directory.organization(record.org), mode, methodOfCall(record));
  return {
    id: record.id,
    organization: record.org,
    mode,
    network: configured?.network ?? 'none',
    action: record.action,
    payment_intent: record.payment_intent,
    accepted: record.accepted,
    since: new Date(record.created * 1000).toISOString(),
    last_error: lastError,
  };
}
