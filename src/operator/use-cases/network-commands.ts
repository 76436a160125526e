// The operators' commands about payment networks, and about the calls that wait for an outcome.

import { Type } from 'typebox';
import { listedMax } from '../../contract/limits.ts';
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
import type { NetworkOutcome } from '../../domain/network-outcomes.ts';
import { settingFaults } from '../../networks/connector-settings.ts';
import { type ConnectorName, connectorNames, ownerOfSetting } from '../../networks/connectors.ts';
import type { NotSettled } from '../../networks/runner.ts';
import type { OpenCall } from '../../shard/protocol.ts';
import { defineCommand, modeSchema } from './command.ts';
import { OperatorFailure } from './failures.ts';
import { isoTime } from './present.ts';
import type { OperatorServices } from './services.ts';
import { findRecord, refuseOther } from './shard-records.ts';

const org = Type.String();
const network = Type.Enum(connectorNames);
const settlingReason = Type.String({ pattern: '\\S', maxLength: 200 });
const methods = Type.Optional(Type.Array(Type.Enum([...paymentMethodTypes]), { minItems: 1 }));
const values = Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 4096 }));

export const networkCommands = {
  'network.set': defineCommand(
    { org, mode: modeSchema, network, methods, settings: values, secrets: values },
    async (params, services) => presentConnectors(await configureConnector(services, params), services),
    { secrets: 'secrets' },
  ),
  'network.show': defineCommand({ org }, async ({ org }, services) =>
    presentConnectors(services.directory.organization(org), services),
  ),
  'network.remove': defineCommand(
    { org, mode: modeSchema, network },
    async ({ org, mode, network }, services) => {
      const changed = await services.directory.changeOrganization(org, (organization) =>
        withoutConnector(organization, mode, network),
      );
      return presentConnectors(changed, services);
    },
  ),
  'network.check': defineCommand({ org }, async (params, services) => {
    const organization = services.directory.organization(params.org);
    const used = connectorsOf(organization).filter(({ network }) => network !== 'none');
    return Promise.all(used.map((each) => checked(each, organization.id, services)));
  }),
  'network.waiting': defineCommand(
    {},
    async (_, services) =>
      (await services.openNetworkCalls(null, listedMax)).map((call) => presentCall(call, services)),
    { audited: false },
  ),
  'network.settle': defineCommand(
    { call: Type.String(), as: Type.Enum(['done', 'failed']), reason: settlingReason },
    ({ call, as }, services) => settleCall(services, call, as),
  ),
};

const outcomes = {
  done: { result: 'done' },
  failed: { result: 'failed', reason: 'settled_by_operator' },
} as const satisfies Record<string, NetworkOutcome>;

/** A person has found out how a call ended of which its network can't tell. */
async function settleCall(services: OperatorServices, id: string, as: keyof typeof outcomes) {
  refuseOther(id, 'network_call');
  const record = await findRecord(services, id, 'network_call');
  if (record === null) throw new OperatorFailure('refused', whyNotSettled(id, { because: 'not_open' }));
  if (record.action === 'await_card_payment' && as === 'done')
    throw new OperatorFailure(
      'refused',
      `${id} asks whether a customer has paid, which the network's report or its statement tells: see "payments reconcile"`,
    );
  const refusal = await services.settleNetworkCall(id, outcomes[as], services.author);
  if (refusal !== null) throw new OperatorFailure('refused', whyNotSettled(id, refusal));
  const { action, payment_intent, charge, refund } = record;
  const about = { action, payment_intent, charge, refund, mode: modeOf(record.livemode) };
  // The audit record names what the call was about: the call itself is gone.
  return { id: refund ?? payment_intent, call: id, organization: record.org, ...about, as };
}

function whyNotSettled(id: string, refusal: NotSettled): string {
  switch (refusal.because) {
    case 'not_open':
      return `${id} is not open: it has its outcome, or never was ("payments history ${id}" tells)`;
    case 'busy':
      return `${id} is just being sent, asked about or settled: look at "payments network calls", then try again`;
    case 'under_way':
      return `${id} may have been sent, and still be under way to the network: look there again in ${Math.ceil(refusal.ms / 1000)} seconds, and settle it then`;
    case 'goes_on':
      return `${id} goes on by itself: nothing went wrong when it was last sent or asked about`;
  }
}

export interface NewConnector {
  readonly org: string;
  readonly mode: Mode;
  readonly network: ConnectorName;
  /** Whose payments go through it; without them those that do now, or that it is mostly for. */
  readonly methods?: readonly PaymentMethodType[];
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Checks the settings, seals the secrets, and activates both, or refuses them. */
export async function configureConnector(
  services: OperatorServices,
  given: NewConnector,
): Promise<Organization> {
  const [first] = settingFaults(given.network, given, services.networkAddressFault);
  if (first !== undefined)
    throw new OperatorFailure(first.fault === 'address' ? 'refused' : 'usage', first.message);
  const { org, mode, network, methods = null, settings, secrets } = given;
  const { directory } = services;
  const { id } = directory.organization(org);
  const sealed = Object.entries(secrets).map(([name, secret]) => [
    name,
    services.secrets.seal(secret, ownerOfSetting(id, mode, network, name)),
  ]);
  const configured = { connector: network, settings, sealed: Object.fromEntries(sealed) };
  return directory.changeOrganization(id, (organization) =>
    withConnector(organization, mode, configured, methods),
  );
}

/** A connector as operators see it: secrets are only named. */
interface ConfiguredConnector {
  readonly mode: Mode;
  readonly method: PaymentMethodType;
  /** `simulator`: test mode without a network; `none`: only calls are left of a network. */
  readonly network: ConnectorName | 'simulator' | 'none';
  readonly settings: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

function connectorOf(
  { connectors: configured }: Organization,
  mode: Mode,
  method: PaymentMethodType,
): ConfiguredConnector {
  const own = configured[mode][method];
  if (own === null)
    return { mode, method, network: mode === 'test' ? 'simulator' : 'none', settings: {}, secrets: [] };
  return { mode, method, network: own.connector, settings: own.settings, secrets: Object.keys(own.sealed) };
}

function connectorsOf(organization: Organization): ConfiguredConnector[] {
  return modes.flatMap((mode) => paymentMethodTypes.map((method) => connectorOf(organization, mode, method)));
}

/**
 * The networks of an organization, and the methods that have open calls but no network. The active
 * network is asked about the open calls, which have no final outcome yet.
 */
async function presentConnectors(organization: Organization, services: OperatorServices) {
  const open = await services.openNetworkCalls(organization.id, listedMax);
  const callsOf = ({ mode, method }: ConfiguredConnector) =>
    open.filter(({ record }) => modeOf(record.livemode) === mode && methodOfCall(record) === method).length;
  return connectorsOf(organization)
    .map((connector) => ({ ...connector, open_calls: callsOf(connector) }))
    .filter(({ network, open_calls }) => network !== 'none' || open_calls > 0);
}

/** The problem says why the network can't be used; null when it can. */
async function checked(
  { mode, method, network }: ConfiguredConnector,
  org: string,
  services: OperatorServices,
) {
  const problem = await services.checkNetwork(org, mode, method).then(
    () => null,
    (error: Error) => error.message,
  );
  return { mode, method, network, problem };
}

function presentCall({ record, lastError }: OpenCall, { directory }: OperatorServices) {
  const mode = modeOf(record.livemode);
  const { network } = connectorOf(directory.organization(record.org), mode, methodOfCall(record));
  return {
    id: record.id,
    organization: record.org,
    mode,
    network,
    action: record.action,
    payment_intent: record.payment_intent,
    // What the network knows the payment by, if it is by card.
    charge: record.charge,
    refund: record.refund,
    // The network has taken the order, and has not said yet how it ended.
    accepted: record.accepted,
    since: isoTime(record.created * 1000),
    // What went wrong when it was last made or asked about; null when nothing did.
    last_error: lastError,
  };
}
