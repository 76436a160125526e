// The payment networks of all organizations, as they are configured: the simulator in test mode,
// unless an organization has a connector there; in live mode its connectors alone. A connection is
// made when it is first used, and again after a change.

import type { Config } from '../config/config-schema.ts';
import { networkPath } from '../contract/page-paths.ts';
import { type Mode, type PaymentMethodType, paymentMethodTypes } from '../contract/vocabulary.ts';
import { systemTimers } from '../core/scheduler.ts';
import type { SecretBox } from '../crypto/secret-box.ts';
import { checkWebhookUrl } from '../http-client/address-guard.ts';
import { headerLines, Posts } from '../http-client/posts.ts';
import { callsAtOnceMax } from '../networks/call-turns.ts';
import {
  availableIn,
  type ConnectorName,
  type ConnectorRow,
  type ConnectorSettings,
  type ConnectorWorld,
  connectors,
  noConnectors,
  type OrganizationConnectors,
  ownerOfSetting,
} from '../networks/connectors.ts';
import type { ModeNetworks, Networks, OutcomeListener, TellingNetworks } from '../networks/network.ts';
import { postTimeoutMs, type SendPost } from '../networks/post.ts';
import { createSimulator } from '../networks/simulator.ts';
import type { AvailableNetworks } from '../shard/account.ts';
import { outboundOf } from './outbound.ts';

/** Why an address can't be that of a payment network or of its page, in short; null when it can. */
export function networkAddressFaultOf({ webhooks }: Config): (url: string) => string | null {
  return (url) => {
    const checked = checkWebhookUrl(url, webhooks);
    return checked.ok ? null : checked.reason;
  };
}

export function simulatorOf({ simulator }: Config): ReturnType<typeof createSimulator> {
  return createSimulator('test', {
    latencyMs: simulator.latencyMs,
    refundSettleMs: simulator.refundSettleMs,
    processingSettleMs: simulator.refundSettleMs,
    now: Date.now,
    timers: systemTimers,
  });
}

/**
 * Sends the requests of connectors, to public https addresses unless the configuration allows more
 * in development. `mayWrite` is asked right before each is written.
 */
export function createSend(config: Config, mayWrite?: () => boolean): SendPost {
  const posts = new Posts({
    ...outboundOf(config, postTimeoutMs),
    mayWrite,
    connectionsMax: callsAtOnceMax,
  });
  return async (post) => {
    const input = { ...post, endpoint: post.url, headers: headerLines(post.headers) };
    const { status, failure, answer } = await posts.post(input);
    // A status below 300 has failed only when its answer did not come to its end.
    if (status === null || (status < 300 && failure !== null))
      throw new Error(failure ?? 'the request failed');
    return { status, body: answer };
  };
}

interface ConfiguredNetworksOptions {
  readonly config: Config;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly send: SendPost;
}

const noNetworks: ModeNetworks = { card: null, cash: null };

export class ConfiguredNetworks implements Networks {
  readonly #simulator: TellingNetworks;
  readonly #secrets: Pick<SecretBox, 'open'>;
  readonly #world: ConnectorWorld;
  readonly #configured = new Map<string, OrganizationConnectors>();
  /** By organization: those of each mode that were used. */
  readonly #made = new Map<string, Partial<Record<Mode, ModeNetworks>>>();

  constructor({ config, secrets, send }: ConfiguredNetworksOptions) {
    this.#simulator = simulatorOf(config);
    this.#secrets = secrets;
    const doubtMs = config.networks.doubtSeconds * 1000;
    this.#world = { send, now: Date.now, addressFault: networkAddressFaultOf(config), doubtMs };
  }

  /** Makes the connectors of an organization the active ones. */
  put(org: string, configured: OrganizationConnectors): void {
    this.#configured.set(org, configured);
    this.#made.delete(org);
  }

  #connectorsOf(org: string): OrganizationConnectors {
    return this.#configured.get(org) ?? noConnectors;
  }

  available(org: string, mode: Mode): AvailableNetworks {
    return availableIn(this.#connectorsOf(org), mode);
  }

  /** What the payments of a method go through: for people and metrics. */
  nameOf(org: string, mode: Mode, method: PaymentMethodType): ConnectorName | 'simulator' | 'none' {
    const configured = this.#connectorsOf(org)[mode][method];
    return configured?.connector ?? (mode === 'test' ? 'simulator' : 'none');
  }

  of(org: string, mode: Mode): ModeNetworks {
    const made = this.#made.get(org) ?? {};
    const networks = made[mode] ?? this.#make(org, mode);
    this.#made.set(org, { ...made, [mode]: networks });
    return networks;
  }

  posting(org: string, mode: Mode, connector: string): ModeNetworks {
    const { card, cash } = this.#connectorsOf(org)[mode];
    const networks = this.of(org, mode);
    return {
      card: card?.connector === connector ? networks.card : null,
      cash: cash?.connector === connector ? networks.cash : null,
    };
  }

  callbackPath(org: string, mode: Mode): string {
    return networkPath(this.#connectorsOf(org)[mode].card?.connector ?? '', org, mode);
  }

  #make(org: string, mode: Mode): ModeNetworks {
    const configured = this.#connectorsOf(org)[mode];
    const networks: ModeNetworks = mode === 'test' ? this.#simulator : noNetworks;
    const own = paymentMethodTypes.flatMap((method) => {
      const settings = configured[method];
      return settings === null ? [] : [[method, this.#connect(org, mode, settings)[method] ?? null]];
    });
    return { ...networks, ...Object.fromEntries(own) };
  }

  #connect(
    org: string,
    mode: Mode,
    { connector, settings, sealed }: ConnectorSettings,
  ): Partial<ModeNetworks> {
    const opened = Object.entries(sealed).map(([name, secret]) => [
      name,
      this.#secrets.open(secret, ownerOfSetting(org, mode, connector, name)),
    ]);
    const row: ConnectorRow = connectors[connector];
    return row.connect({ ...settings, ...Object.fromEntries(opened) }, this.#world);
  }

  onOutcome(listener: OutcomeListener): void {
    this.#simulator.onOutcome(listener);
  }
}
