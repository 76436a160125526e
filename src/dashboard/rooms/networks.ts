// The payment networks of an organization, a part of the room for settings. Whoever may change settings connects a cash network
// and disconnects it; its secret is sealed, and no page shows it.

import { paymentMethodTypes } from '../../contract/vocabulary.ts';
import { withoutConnector } from '../../directory/network-credentials.ts';
import { type Html, html } from '../../edge/pages/html.ts';
import { configureConnector } from '../../operator/server/network-commands.ts';
import {
  copyable,
  definitions,
  field,
  finalSubmit,
  form,
  hidden,
  type Problems,
  submit,
} from '../components.ts';
import { roomLink } from '../links.ts';
import { sayNetworks } from '../messages/networks.ts';
import { mayDo } from '../roles.ts';
import type { Desk, Visit } from '../row.ts';

const network = 'http';
const secretCharactersMin = 16;
const textCharactersMax = 2_048;

/** What the section about networks shows. `problems` are those of its form. */
export function networkSection(visit: Visit, baseUrl: string, problems: Problems): Html[] {
  const { organization, mode, language, role } = visit;
  const configured = organization.connectors[mode];
  const mayChange = mayDo(role, 'settings.write');
  const shown = paymentMethodTypes.flatMap((method) => {
    const own = configured[method];
    const name = sayNetworks(method, language);
    if (own === null) return mode === 'test' ? [[name, sayNetworks('simulator', language)] as const] : [];
    // The address may hold a token.
    const address = (mayChange && own.settings.address) || own.connector;
    return [
      [name, html`<code dir="ltr">${address}</code>`] as const,
      [sayNetworks('secret', language), sayNetworks('sealed', language)] as const,
    ];
  });
  const list = shown.length === 0 ? html`<p>${sayNetworks('none', language)}</p>` : definitions(shown);
  if (!mayChange) return [list];
  return configured.cash === null
    ? [list, connectForm(visit, problems)]
    : [list, reportAddress(visit, baseUrl), disconnectForm(visit)];
}

function reportAddress(visit: Visit, baseUrl: string): Html {
  const { organization, mode, language } = visit;
  const address = `${baseUrl}/networks/${network}/${organization.id}/${mode}`;
  return html`<p>${sayNetworks('report_to', language)}: ${copyable(visit, address)}</p>`;
}

function connectForm(visit: Visit, problems: Problems): Html {
  const { language, form: typed } = visit;
  return html`<h3>${sayNetworks('connect_cash', language)}</h3>
${form(visit, roomLink(visit, 'settings/network'), [
  field({
    name: 'address',
    label: sayNetworks('address', language),
    hint: sayNetworks('address_hint', language),
    type: 'url',
    value: typed.get('address') ?? '',
    problems,
    required: true,
    ltr: true,
  }),
  field({
    name: 'secret',
    label: sayNetworks('secret', language),
    hint: sayNetworks('secret_hint', language),
    type: 'password',
    problems,
    required: true,
    ltr: true,
    attributes: html`autocomplete="off"`,
  }),
  submit(sayNetworks('connect', language)),
])}`;
}

function disconnectForm(visit: Visit): Html {
  const body = [hidden('disconnect', '1'), finalSubmit(visit, sayNetworks('disconnect', visit.language))];
  return form(visit, roomLink(visit, 'settings/network'), body);
}

/** Connects or disconnects the cash network. Returns the problems of the form; none when it was done. */
export async function saveNetwork(visit: Visit, desk: Desk): Promise<Problems> {
  const { organization, mode, form: typed, language } = visit;
  const { services } = desk;
  const params = { org: organization.id, mode, network } as const;
  if (typed.has('disconnect')) {
    await desk.act(visit, 'network.remove', params, () =>
      services.directory.changeOrganization(organization.id, (each) => withoutConnector(each, mode, network)),
    );
  } else {
    const address = (typed.get('address') ?? '').trim();
    const secret = (typed.get('secret') ?? '').trim();
    const problems = {
      ...(isAddress(address, desk) ? {} : { address: sayNetworks('address_invalid', language) }),
      ...(isSecret(secret) ? {} : { secret: sayNetworks('secret_invalid', language) }),
    };
    if (Object.keys(problems).length > 0) return problems;
    // The audit record has the address, and not the secret.
    await desk.act(visit, 'network.set', { ...params, settings: { address } }, () =>
      configureConnector(services, { ...params, settings: { address }, secrets: { secret } }),
    );
  }
  return {};
}

function isAddress(address: string, { services }: Desk): boolean {
  return address.length <= textCharactersMax && services.networkAddressFault(address) === null;
}

function isSecret(secret: string): boolean {
  return secret.length >= secretCharactersMin && secret.length <= textCharactersMax;
}
