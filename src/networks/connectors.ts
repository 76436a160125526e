// THE table of connectors: how an organization's payments of a method reach a network, in each
// mode. A row says for which methods a connector is, and which settings it needs; the command line,
// the checks and the connections derive from it. Settings that are secret are sealed before they
// are stored.

import { type Mode, type PaymentMethodType, paymentMethodTypes } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { namesOf, tableOf } from '../core/tables.ts';
import type { AvailableNetworks } from '../shard/account.ts';
import { createCmiConnector } from './cmi/connector.ts';
import { createHttpConnector } from './http-connector.ts';
import type { ModeNetworks } from './network.ts';
import type { SendPost } from './post.ts';
import { simulatedAgents } from './simulator.ts';

/** One setting of a connector. On the command line a secret is read from a file. */
export interface ConnectorSetting {
  readonly name: string;
  readonly is: 'address' | 'text' | 'secret';
  readonly required: boolean;
  /** The setting that has to be given too when this one is. */
  readonly with?: string;
  readonly charactersMin?: number;
  readonly description: string;
}

/** What a connector needs besides its settings. */
export interface ConnectorWorld {
  readonly send: SendPost;
  readonly now: Clock;
  /** Why customers may not be sent to an address, in short; null when they may. */
  readonly addressFault: (url: string) => string | null;
  /** How long a call that was not answered may still be under way at a network. */
  readonly doubtMs: number;
}

export interface ConnectorRow {
  /** The methods that can go through it. The first one does unless others are chosen. */
  readonly methods: readonly PaymentMethodType[];
  readonly settings: readonly ConnectorSetting[];
  /** Makes the networks of its methods. `settings` has its values, the secrets opened. */
  readonly connect: (
    settings: Readonly<Record<string, string>>,
    world: ConnectorWorld,
  ) => Partial<ModeNetworks>;
}

/** A setting that was checked to be there when it was stored. */
function setting(settings: Readonly<Record<string, string>>, name: string): string {
  return defined(settings[name], `the connector has no ${name}`);
}

const needed = (
  name: string,
  is: ConnectorSetting['is'],
  description: string,
  charactersMin = 1,
): ConnectorSetting => ({ name, is, required: true, charactersMin, description });

/** `needing`: the setting that has to be given, too. */
const optional = (
  name: string,
  is: ConnectorSetting['is'],
  description: string,
  needing?: string,
): ConnectorSetting => ({
  name,
  is,
  required: false,
  ...(needing !== undefined && { with: needing }),
  description,
});

export const connectors = {
  http: {
    methods: ['cash', 'card'],
    settings: [
      needed('address', 'address', "where the integrator's server takes operations"),
      needed('secret', 'secret', 'the secret that signs in both directions', 16),
      optional('agents', 'text', 'the names of the cash agents, as customers are told where to pay'),
    ],
    connect: (settings, world) =>
      createHttpConnector({
        address: setting(settings, 'address'),
        secret: setting(settings, 'secret'),
        ...world,
      }),
  },
  cmi: {
    methods: ['card'],
    settings: [
      needed('gateway', 'address', "CMI's gateway, such as https://payment.cmi.co.ma"),
      needed('client_id', 'text', 'the number of the merchant at CMI'),
      needed('store_key', 'secret', 'the key that signs in both directions'),
      optional(
        'api_user',
        'text',
        "a user of CMI's interface for merchants, without whom nothing can be asked or refunded",
        'api_password',
      ),
      optional('api_password', 'secret', "this user's password", 'api_user'),
    ],
    connect: (settings, world) => ({
      card: createCmiConnector({
        gateway: setting(settings, 'gateway'),
        clientId: setting(settings, 'client_id'),
        storeKey: setting(settings, 'store_key'),
        api:
          settings.api_user === undefined
            ? null
            : { name: settings.api_user, password: setting(settings, 'api_password') },
        ...world,
      }),
    }),
  },
} as const satisfies Record<string, ConnectorRow>;

export type ConnectorName = keyof typeof connectors;
export const connectorNames: readonly ConnectorName[] = namesOf(connectors);

/** A connector as it is configured for an organization, a mode and a method. */
export interface ConnectorSettings {
  readonly connector: ConnectorName;
  /** Addresses and names. */
  readonly settings: Readonly<Record<string, string>>;
  /** Each secret, sealed. */
  readonly sealed: Readonly<Record<string, string>>;
}

/** By mode and method. Null: the simulator in test mode, no network in live mode. */
export type OrganizationConnectors = Readonly<
  Record<Mode, Readonly<Record<PaymentMethodType, ConnectorSettings | null>>>
>;

const none = tableOf(paymentMethodTypes, () => null);
export const noConnectors: OrganizationConnectors = { test: none, live: none };

/** The owner that a sealed setting is bound to. */
export function ownerOfSetting(org: string, mode: Mode, connector: ConnectorName, setting: string) {
  return { id: `network/${mode}/${connector}/${setting}`, org };
}

/** The methods with a network. Only the simulator's cards are typed on the service's page. */
export function availableIn(configured: OrganizationConnectors, mode: Mode): AvailableNetworks {
  const { card, cash } = configured[mode];
  const cardPage = mode === 'test' && card === null ? 'own' : 'hosted';
  const agents = mode === 'test' && cash === null ? simulatedAgents : (cash?.settings.agents ?? null);
  if (mode === 'test') return { card: true, cash: true, cardPage, agents };
  return { card: card !== null, cash: cash !== null, cardPage, agents };
}

/** The connectors with each sealed secret replaced. */
export function mapSealed(
  configured: OrganizationConnectors,
  replace: (sealed: string, mode: Mode, connector: ConnectorName, setting: string) => string,
): OrganizationConnectors {
  const inMode = (mode: Mode) =>
    tableOf(paymentMethodTypes, (method) => {
      const own = configured[mode][method];
      if (own === null) return null;
      const sealed = Object.entries(own.sealed).map(([name, secret]) => [
        name,
        replace(secret, mode, own.connector, name),
      ]);
      return { ...own, sealed: Object.fromEntries(sealed) };
    });
  return { test: inMode('test'), live: inMode('live') };
}
