// The room for settings: the organization's name, the colour and logo of the pages where its customers pay, and the payment
// networks.

import { checkedColour, logoOf, logoPathOf, logoTypes } from '../../directory/branding.ts';
import { type Organization, withBranding, withName } from '../../directory/organization.ts';
import { DirectoryRefusal, type RefusalCode } from '../../directory/refusal.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import {
  checkbox,
  copyable,
  definitions,
  doneOf,
  errorSummary,
  field,
  form,
  hidden,
  type Problems,
  section,
  submit,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { link, roomLink } from '../layout/links.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayNetworks } from '../messages/networks.ts';
import { saySettings } from '../messages/settings.ts';
import { mayDo } from '../people/roles.ts';
import { networkSection, saveNetwork } from './networks.ts';

const active = 'settings';

export const settingsRows: readonly Row[] = [
  {
    method: 'GET',
    path: 'settings',
    permission: 'settings.read',
    handle: async (visit, desk) => show(visit, desk, {}),
  },
  { method: 'POST', path: 'settings', permission: 'settings.write', handle: saveShop },
  {
    method: 'POST',
    path: 'settings/network',
    permission: 'settings.write',
    stepUp: true,
    handle: connectNetwork,
  },
  { method: 'POST', path: 'settings/logo', permission: 'settings.write', handle: saveLogo },
];

/** What a colour input shows when the organization has no colour. */
const presetColour = '#1b5cc4';

function show(visit: Visit, desk: Desk, problems: Problems): DashboardAnswer {
  const { language, organization, role } = visit;
  const { id, liveActivated, apiVersion, created } = organization;
  const say = (key: Parameters<typeof saySettings>[0]) => saySettings(key, language);
  return page(visit, {
    active,
    title: sayFrame(active, language),
    ...(Object.keys(problems).length > 0 && { status: 400 }),
    alert: errorSummary(language, problems),
    body: [
      doneOf(visit, { saved: 'done' } as const, saySettings),
      html`<p>${say('intro')}</p>`,
      ...(mayDo(role, 'settings.write')
        ? [section(say('shop'), shopForm(visit, problems)), section(say('logo'), logoForm(visit, problems))]
        : [
            definitions([
              [say('name'), organization.name],
              [say('colour'), colourOf(visit)],
              [say('logo'), logo(visit)],
            ]),
          ]),
      section(sayNetworks('networks', language), networkSection(visit, desk.services.baseUrl, problems)),
      section(
        say('organization'),
        definitions([
          [say('id'), copyable(visit, id)],
          [say('live'), say(liveActivated ? 'activated' : 'not_activated')],
          [say('version'), apiVersion],
          [say('created'), time(language, created * 1000)],
        ]),
      ),
    ],
  });
}

function colourOf({ organization: { branding }, language }: Visit) {
  return branding.colour === null
    ? saySettings('standard', language)
    : html`<code dir="ltr">${branding.colour}</code>`;
}

function logo(visit: Visit) {
  const { organization, language } = visit;
  const { id, name, branding } = organization;
  const path = logoPathOf(id, branding);
  if (path === null) return saySettings('no_logo', language);
  return html`<img src="${link(visit, path)}" alt="${saySettings('logo_of', language, { name })}" height="64">`;
}

function shopForm(visit: Visit, problems: Problems) {
  const { language, organization, form: typed } = visit;
  const { name, branding } = organization;
  const isTyped = typed.has('name');
  const body = [
    field({
      name: 'name',
      label: saySettings('name', language),
      value: typed.get('name') ?? name,
      problems,
      required: true,
      attributes: html`maxlength="255" autocomplete="organization"`,
    }),
    checkbox({
      name: 'own_colour',
      label: saySettings('own_colour', language),
      checked: isTyped ? typed.has('own_colour') : branding.colour !== null,
    }),
    field({
      name: 'colour',
      label: saySettings('colour', language),
      hint: saySettings('colour_hint', language),
      type: 'color',
      value: typed.get('colour') ?? branding.colour ?? presetColour,
      problems,
    }),
    submit(saySettings('save', language)),
  ];
  return form(visit, roomLink(visit, active), body);
}

function logoForm(visit: Visit, problems: Problems) {
  const { language, organization } = visit;
  const action = roomLink(visit, 'settings/logo');
  const wrong = problems.logo ?? null;
  const choose = html`<div class="field"><label for="logo">${saySettings('logo', language)}</label>
<span class="hint" id="logo-hint">${saySettings('logo_hint', language)}</span>
${wrong && html`<span class="wrong" id="logo-wrong">${wrong}</span>`}
<input type="file" id="logo" name="logo" accept="${logoTypes.join(',')}" aria-describedby="logo-hint"${wrong !== null && html` aria-invalid="true"`}></div>`;
  const upload = form(visit, action, [choose, submit(saySettings('upload', language))], { files: true });
  if (organization.branding.logo === null) return [html`<p>${logo(visit)}</p>`, upload];
  const remove = [hidden('remove', '1'), submit(saySettings('remove', language), 'danger')];
  return [html`<p>${logo(visit)}</p>`, upload, form(visit, action, remove)];
}

async function saveShop(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { form: typed, organization } = visit;
  const name = typed.get('name') ?? '';
  const colour = typed.has('own_colour') ? (typed.get('colour') ?? '') : null;
  return save(visit, desk, { org: organization.id, name, colour }, (each) =>
    withBranding(withName(each, name), { colour: colour === null ? null : checkedColour(colour) }),
  );
}

async function saveLogo(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { organization, files, form: typed } = visit;
  const isRemoved = typed.has('remove');
  const file = files.get('logo') ?? new Uint8Array();
  return save(visit, desk, { org: organization.id, logo: isRemoved ? null : `${file.length} B` }, (each) =>
    withBranding(each, { logo: isRemoved ? null : logoOf(file) }),
  );
}

async function connectNetwork(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const problems = await saveNetwork(visit, desk);
  if (Object.keys(problems).length > 0) return show(visit, desk, problems);
  return redirect(roomLink(visit, active, { done: 'saved' }));
}

/** The field that each refusal of the directory is about. */
const fieldsOf = {
  name_invalid: 'name',
  colour_invalid: 'colour',
  logo_invalid: 'logo',
  logo_too_large: 'logo',
} as const satisfies Partial<Record<RefusalCode, string>>;

async function save(
  visit: Visit,
  desk: Desk,
  params: object,
  rule: (organization: Organization) => Organization,
): Promise<DashboardAnswer> {
  const { organization, language } = visit;
  try {
    await desk.act(visit, 'org.settings', params, () =>
      desk.services.directory.changeOrganization(organization.id, rule),
    );
  } catch (error) {
    const code = error instanceof DirectoryRefusal ? (error.code as keyof typeof fieldsOf | null) : null;
    if (code === null || !(code in fieldsOf)) throw error;
    return show(visit, desk, { [fieldsOf[code]]: saySettings(code, language) });
  }
  return redirect(roomLink(visit, active, { done: 'saved' }));
}
