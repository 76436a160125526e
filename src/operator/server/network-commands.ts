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
import type { NetworkCallRecord } from '../../domain/record.ts';
import {
  type ConnectorName,
  type ConnectorRow,
  type ConnectorSetting,
  connectorNames,
  connectors,
  ownerOfSetting,
} from '../../networks/connectors.ts';
import { listedMax, OperatorFailure } from '../protocol.ts';
import { defineCommand, modeSchema, type OperatorCommand, unaudited, withSecrets } from './command.ts';
import type { OperatorServices } from './services.ts';

/** A connector as operators see it: secrets are only named. */
export interface PresentedConnector {
  readonly mode: Mode;
  readonly method: PaymentMethodType;
  /** `simulator` in test mode, when the organization has none of its own. */
  readonly network: ConnectorName | 'simulator';
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
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
  /** The network has taken the order, and has not said yet how it ended. */
  readonly accepted: boolean;
  readonly since: string;
}

const org = Type.String();
const network = Type.Enum(connectorNames);
const values = Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 4096 }));

export const networkCommands: readonly OperatorCommand[] = [
  withSecrets(
    defineCommand(
      'network.set',
      { org, mode: modeSchema, network, settings: values, secrets: values },
      async (params, services) => presentConnectors(await configureConnector(services, params)),
    ),
    'secrets',
  ),
  defineCommand('network.show', { org }, async (params, { directory }) =>
    presentConnectors(directory.organization(params.org)),
  ),
  defineCommand('network.remove', { org, mode: modeSchema, network }, async (params, { directory }) =>
    presentConnectors(
      await directory.changeOrganization(params.org, (organization) =>
        withoutConnector(organization, params.mode, params.network),
      ),
    ),
  ),
  defineCommand('network.check', { org }, async (params, services) => {
    const organization = services.directory.organization(params.org);
    return Promise.all(
      presentConnectors(organization).map((each) => checked(each, organization.id, services)),
    );
  }),
  unaudited(
    defineCommand('network.waiting', {}, async (_, services) =>
      (await services.openNetworkCalls(listedMax)).map(presentCall),
    ),
  ),
];

/** The settings of a connector, with its secrets still open. */
export interface NewConnector {
  readonly org: string;
  readonly mode: Mode;
  readonly network: ConnectorName;
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Checks the settings, seals the secrets, and puts them in force. Throws `OperatorFailure` or `DirectoryRefusal`. */
export async function configureConnector(
  services: OperatorServices,
  { org, mode, network, settings, secrets }: NewConnector,
): Promise<Organization> {
  refuseSettings(network, settings, secrets, services);
  const { directory } = services;
  const { id } = directory.organization(org);
  const sealed = Object.entries(secrets).map(([name, secret]) => {
    return [name, services.secrets.seal(secret, ownerOfSetting(id, mode, network, name))];
  });
  const configured = { connector: network, settings, sealed: Object.fromEntries(sealed) };
  return directory.changeOrganization(id, (organization) => withConnector(organization, mode, configured));
}

/** Throws when a setting is missing, unknown or no address that may be used. */
function refuseSettings(
  network: ConnectorName,
  settings: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
  { networkAddressFault }: OperatorServices,
): void {
  const row: ConnectorRow = connectors[network];
  const given: Readonly<Record<string, string>> = { ...settings, ...secrets };
  const isSecret = ({ is }: ConnectorSetting) => is === 'secret';
  for (const setting of row.settings) {
    const value = (isSecret(setting) ? secrets : settings)[setting.name];
    if (value === undefined && setting.required)
      throw new OperatorFailure('usage', `${network} needs ${setting.name}: ${setting.description}`);
    if (value !== undefined && setting.with !== undefined && given[setting.with] === undefined)
      throw new OperatorFailure('usage', `${network} needs ${setting.with} when ${setting.name} is given`);
    const fault = setting.is === 'address' && value !== undefined ? networkAddressFault(value) : null;
    if (fault !== null) throw new OperatorFailure('refused', `${setting.name} can't be used: ${fault}`);
  }
  const unknown = Object.keys(given).find((name) => !row.settings.some((setting) => setting.name === name));
  if (unknown !== undefined) throw new OperatorFailure('usage', `${network} has no setting ${unknown}`);
}

function presentConnectors(organization: Organization): PresentedConnector[] {
  const configured = organization.connectors;
  return modes.flatMap((mode) =>
    paymentMethodTypes.flatMap((method): PresentedConnector[] => {
      const own = configured[mode][method];
      if (own !== null)
        return [
          { mode, method, network: own.connector, settings: own.settings, secrets: Object.keys(own.sealed) },
        ];
      return mode === 'test' ? [{ mode, method, network: 'simulator', settings: {}, secrets: [] }] : [];
    }),
  );
}

async function checked(
  { mode, method, network }: PresentedConnector,
  org: string,
  { checkNetwork }: OperatorServices,
): Promise<CheckedConnector> {
  const problem = await checkNetwork(org, mode, method).then(
    () => null,
    (error: Error) => error.message,
  );
  return { mode, method, network, problem };
}

function presentCall(call: NetworkCallRecord): PresentedNetworkCall {
  return {
    id: call.id,
    organization: call.org,
    mode: modeOf(call.livemode),
    action: call.action,
    payment_intent: call.payment_intent,
    accepted: call.accepted,
    since: new Date(call.created * 1000).toISOString(),
  };
}
