// The payment networks of an organization, a part of the page of settings. Whoever may change
// settings connects and disconnects them. The forms derive from the table of connectors; secrets
// are sealed, and no page shows them.

import { networkPath } from '../../contract/page-paths.ts';
import { type PaymentMethodType, paymentMethodTypes } from '../../contract/vocabulary.ts';
import { withoutConnector } from '../../directory/network-credentials.ts';
import { type Html, html } from '../../html/html.ts';
import { type SettingFault, settingFaults } from '../../networks/connector-settings.ts';
import {
  type ConnectorName,
  type ConnectorRow,
  type ConnectorSetting,
  type ConnectorSettings,
  connectorNames,
  connectors,
} from '../../networks/connectors.ts';
import { configureConnector, type NewConnector } from '../../operator/use-cases/network-commands.ts';
import * as ui from '../layout/components.ts';
import type { Problems, Saying } from '../layout/row.ts';
import type { NetworkMessage, sayNetworks } from '../messages/networks.ts';
import { mayDo } from '../people/roles.ts';

const textCharactersMax = 2_048;

type Request = Saying<typeof sayNetworks>;

/** What the section about networks shows. */
export function networkSection(request: Request): Html[] {
  const { organization, mode, role, say } = request;
  const configured = organization.connectors[mode];
  const mayChange = mayDo(role, 'settings.write');
  const shown = paymentMethodTypes.flatMap((method) => definitionsOf(request, method, mayChange));
  const list = shown.length === 0 ? html`<p>${say('none')}</p>` : ui.definitions(shown);
  if (!mayChange) return [list];
  const forms = connectorNames.flatMap((name) => {
    const isUsed = paymentMethodTypes.some((method) => configured[method]?.connector === name);
    const heading = html`<h3>${say(isUsed ? name : `connect_${name}`)}</h3>`;
    return isUsed
      ? [heading, reportAddress(request, name), disconnectForm(request, name)]
      : [heading, connectForm(request, name)];
  });
  return [list, ...forms];
}

/** A method's network, with its settings (which may contain a token) for who may change them. */
function definitionsOf(
  { organization, mode, say }: Request,
  method: PaymentMethodType,
  mayChange: boolean,
): (readonly [name: string, value: Html | string])[] {
  const own: ConnectorSettings | null = organization.connectors[mode][method];
  const name = say(method);
  if (own === null) return mode === 'test' ? [[name, say('simulator')]] : [];
  const settings = mayChange ? settingsOf(own.connector) : [];
  const shown = settings.flatMap((setting): (readonly [string, Html])[] => {
    const label = say(labelOf(own.connector, setting));
    const value = own.settings[setting.name];
    if (value !== undefined) return [[label, html`<code dir="ltr">${value}</code>`]];
    const isSealed = own.sealed[setting.name] !== undefined;
    return isSealed ? [[label, html`${say('sealed')}`]] : [];
  });
  return [[name, say(own.connector)], ...shown];
}

function settingsOf(name: ConnectorName): readonly ConnectorSetting[] {
  return connectors[name].settings;
}

function labelOf(network: ConnectorName, { name }: ConnectorSetting): NetworkMessage {
  return `${network}_${name}` as NetworkMessage;
}

function reportAddress(request: Request, network: ConnectorName): Html {
  const { organization, mode, services, say } = request;
  const address = services.baseUrl + networkPath(network, organization.id, mode);
  return html`<p>${say('report_to')} ${ui.copyable(request, address)}</p>`;
}

function connectForm(request: Request, network: ConnectorName): Html {
  const { say } = request;
  const fields = settingsOf(network).map((setting) => {
    const { name, is, required } = setting;
    const label = labelOf(network, setting);
    return ui.field(request, label, {
      name,
      hint: say(`${label}_hint` as NetworkMessage),
      ...(is === 'address' && { type: 'url' }),
      ...(is === 'secret' && { type: 'password' }),
      ...(required && { required }),
      ltr: true,
      attributes: html`autocomplete="off"`,
    });
  });
  const fixed = ui.hidden('network', network);
  const body = [fixed, ...fields, methodChoice(request, network), ui.submit(say('connect'))];
  return ui.form(request, 'settings/network', body);
}

/** Which payments go through a network that is for several methods. */
function methodChoice(request: Request, network: ConnectorName): Html {
  const { methods }: ConnectorRow = connectors[network];
  if (methods.length === 1) return ui.hidden('methods', methods[0]!);
  const choices = ([...methods, 'both'] as const).map((choice) => [choice, request.say(choice)] as const);
  return ui.select(request, 'methods', choices);
}

function disconnectForm(request: Request, network: ConnectorName): Html {
  const end = ui.finalSubmit(request, request.say('disconnect'));
  const body = [ui.hidden('network', network), ui.hidden('disconnect', '1'), end];
  return ui.form(request, 'settings/network', body);
}

/** Connects or disconnects a network. Returns the problems of the form; none when it was done. */
export async function saveNetwork(request: Request): Promise<Problems> {
  const { organization, mode, form: typed, services, say } = request;
  const network = connectorNames.find((name) => name === typed.get('network'));
  if (network === undefined) return { '': say('unknown_network') };
  const params = { org: organization.id, mode, network };
  if (typed.has('disconnect')) {
    await request.act('network.remove', params, () =>
      services.directory.changeOrganization(organization.id, (each) => withoutConnector(each, mode, network)),
    );
    return {};
  }
  const chosen = typed.get('methods');
  const methods = paymentMethodTypes.filter((method) => chosen === method || chosen === 'both');
  const given = { ...params, ...(methods.length > 0 && { methods }), ...typedSettings(network, typed) };
  const faults = settingFaults(network, given, services.networkAddressFault);
  if (faults.length > 0)
    return Object.fromEntries(faults.map((fault) => [fault.setting, problemOf(network, fault, request)]));
  // The audit record has the settings, and not the secrets.
  await request.act('network.set', { ...params, methods, settings: given.settings }, () =>
    configureConnector(services, given),
  );
  return {};
}

/** What somebody has typed for a connector. A field that was left empty is not given. */
function typedSettings(
  network: ConnectorName,
  typed: URLSearchParams,
): Pick<NewConnector, 'settings' | 'secrets'> {
  const part = (isSecret: boolean) => {
    const names = settingsOf(network).filter(({ is }) => (is === 'secret') === isSecret);
    const values = names.map(({ name }) => [
      name,
      (typed.get(name) ?? '').trim().slice(0, textCharactersMax),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value !== ''));
  };
  return { settings: part(false), secrets: part(true) };
}

function problemOf(network: ConnectorName, { setting, fault }: SettingFault, { say }: Request): string {
  const row = settingsOf(network).find(({ name }) => name === setting)!;
  const label = say(labelOf(network, row));
  if (fault === 'too_short') return say('too_short', { label, count: row.charactersMin ?? 1 });
  return say(fault === 'address' ? 'address_invalid' : fault === 'hidden' ? 'hidden' : 'missing', { label });
}
