// The payment networks of an organization, a part of the room for settings. Whoever may change settings connects and disconnects
// them. The forms derive from the table of connectors; secrets are sealed, and no page shows them.

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
import {
  copyable,
  definitions,
  field,
  finalSubmit,
  form,
  hidden,
  type Problems,
  select,
  submit,
} from '../layout/components.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, Visit } from '../layout/row.ts';
import { type NetworkMessage, sayNetworks } from '../messages/networks.ts';
import { mayDo } from '../people/roles.ts';

const textCharactersMax = 2_048;

/** What the section about networks shows. `problems` are those of its forms. */
export function networkSection(visit: Visit, baseUrl: string, problems: Problems): Html[] {
  const { organization, mode, language, role } = visit;
  const configured = organization.connectors[mode];
  const mayChange = mayDo(role, 'settings.write');
  const shown = paymentMethodTypes.flatMap((method) => definitionsOf(visit, method, mayChange));
  const list = shown.length === 0 ? html`<p>${sayNetworks('none', language)}</p>` : definitions(shown);
  if (!mayChange) return [list];
  const forms = connectorNames.flatMap((name) => {
    const isUsed = paymentMethodTypes.some((method) => configured[method]?.connector === name);
    const heading = html`<h3>${sayNetworks(isUsed ? name : `connect_${name}`, language)}</h3>`;
    return isUsed
      ? [heading, reportAddress(visit, baseUrl, name), disconnectForm(visit, name)]
      : [heading, connectForm(visit, name, problems)];
  });
  return [list, ...forms];
}

/** The network of a method, and its settings for whoever may change them: an address may hold a token. */
function definitionsOf(
  { organization, mode, language }: Visit,
  method: PaymentMethodType,
  mayChange: boolean,
): (readonly [name: string, value: Html | string])[] {
  const own: ConnectorSettings | null = organization.connectors[mode][method];
  const name = sayNetworks(method, language);
  if (own === null) return mode === 'test' ? [[name, sayNetworks('simulator', language)]] : [];
  const settings = mayChange ? settingsOf(own.connector) : [];
  const shown = settings.flatMap((setting): (readonly [string, Html])[] => {
    const label = sayNetworks(labelOf(own.connector, setting), language);
    const value = own.settings[setting.name];
    if (value !== undefined) return [[label, html`<code dir="ltr">${value}</code>`]];
    const isSealed = own.sealed[setting.name] !== undefined;
    return isSealed ? [[label, html`${sayNetworks('sealed', language)}`]] : [];
  });
  return [[name, sayNetworks(own.connector, language)], ...shown];
}

function settingsOf(name: ConnectorName): readonly ConnectorSetting[] {
  return connectors[name].settings;
}

function labelOf(network: ConnectorName, { name }: ConnectorSetting): NetworkMessage {
  return `${network}_${name}` as NetworkMessage;
}

function reportAddress(
  { organization, mode, language }: Visit,
  baseUrl: string,
  network: ConnectorName,
): Html {
  const address = baseUrl + networkPath(network, organization.id, mode);
  return html`<p>${sayNetworks('report_to', language)}: ${copyable({ language }, address)}</p>`;
}

function connectForm(visit: Visit, network: ConnectorName, problems: Problems): Html {
  const { language, form: typed } = visit;
  const fields = settingsOf(network).map((setting) => {
    const { name, is, required } = setting;
    const label = labelOf(network, setting);
    return field({
      name,
      label: sayNetworks(label, language),
      hint: sayNetworks(`${label}_hint` as NetworkMessage, language),
      type: is === 'address' ? 'url' : is === 'secret' ? 'password' : 'text',
      ...(is !== 'secret' && { value: typed.get(name) ?? '' }),
      problems,
      ...(required && { required }),
      ltr: true,
      attributes: html`autocomplete="off"`,
    });
  });
  const body = [
    hidden('network', network),
    ...fields,
    methodChoice(visit, network),
    submit(sayNetworks('connect', language)),
  ];
  return form(visit, roomLink(visit, 'settings/network'), body);
}

/** Which payments go through a network that is for several methods. */
function methodChoice({ language, form: typed }: Visit, network: ConnectorName): Html {
  const { methods }: ConnectorRow = connectors[network];
  if (methods.length === 1) return hidden('methods', methods[0]!);
  return select({
    name: 'methods',
    label: sayNetworks('methods', language),
    value: typed.get('methods') ?? '',
    choices: ([...methods, 'both'] as const).map((choice) => [choice, sayNetworks(choice, language)]),
  });
}

function disconnectForm(visit: Visit, network: ConnectorName): Html {
  const end = finalSubmit(visit, sayNetworks('disconnect', visit.language));
  const body = [hidden('network', network), hidden('disconnect', '1'), end];
  return form(visit, roomLink(visit, 'settings/network'), body);
}

/** Connects or disconnects a network. Returns the problems of the form; none when it was done. */
export async function saveNetwork(visit: Visit, desk: Desk): Promise<Problems> {
  const { organization, mode, form: typed, language } = visit;
  const { services } = desk;
  const network = connectorNames.find((name) => name === typed.get('network'));
  if (network === undefined) return { '': sayNetworks('unknown_network', language) };
  const params = { org: organization.id, mode, network };
  if (typed.has('disconnect')) {
    await desk.act(visit, 'network.remove', params, () =>
      services.directory.changeOrganization(organization.id, (each) => withoutConnector(each, mode, network)),
    );
    return {};
  }
  const chosen = typed.get('methods');
  const methods = paymentMethodTypes.filter((method) => chosen === method || chosen === 'both');
  const given = { ...params, ...(methods.length > 0 && { methods }), ...typedSettings(network, typed) };
  const faults = settingFaults(network, given, services.networkAddressFault);
  if (faults.length > 0)
    return Object.fromEntries(faults.map((fault) => [fault.setting, problemOf(network, fault, visit)]));
  // The audit record has the settings, and not the secrets.
  await desk.act(visit, 'network.set', { ...params, methods, settings: given.settings }, () =>
    configureConnector(services, given),
  );
  return {};
}

/** What somebody has typed for a connector. A field that was left empty is not given. */
function typedSettings(
  network: ConnectorName,
  typed: Visit['form'],
): Pick<NewConnector, 'settings' | 'secrets'> {
  const given = settingsOf(network).flatMap(({ name, is }) => {
    const value = (typed.get(name) ?? '').trim().slice(0, textCharactersMax);
    return value === '' ? [] : [{ name, value, isSecret: is === 'secret' }];
  });
  const part = (wanted: boolean) =>
    Object.fromEntries(
      given.filter(({ isSecret }) => isSecret === wanted).map(({ name, value }) => [name, value]),
    );
  return { settings: part(false), secrets: part(true) };
}

function problemOf(network: ConnectorName, { setting, fault }: SettingFault, { language }: Visit): string {
  const row = settingsOf(network).find(({ name }) => name === setting)!;
  const label = sayNetworks(labelOf(network, row), language);
  switch (fault) {
    case 'address':
      return sayNetworks('address_invalid', language, { label });
    case 'too_short':
      return sayNetworks('too_short', language, { label, count: row.charactersMin ?? 1 });
    case 'hidden':
      return sayNetworks('hidden', language, { label });
    default:
      return sayNetworks('missing', language, { label });
  }
}
