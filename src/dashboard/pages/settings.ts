// The pages for settings: the organization's name, the colour and logo of the pages where its
// customers pay, and the payment networks.

import { type Language, languages } from '../../contract/vocabulary.ts';
import { checkedColour, logoOf, logoPathOf, logoTypes } from '../../directory/branding.ts';
import { type Organization, withBranding, withName, withReceipts } from '../../directory/organization.ts';
import { DirectoryRefusal, type RefusalCode } from '../../directory/refusal.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import { languageNames } from '../../html/language-links.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { link, viewLink } from '../layout/links.ts';
import { get, post, type Row, type ViewRequest } from '../layout/row.ts';
import { sayNetworks } from '../messages/networks.ts';
import { saySettings } from '../messages/settings.ts';
import { mayDo } from '../people/roles.ts';
import { networkSection, saveNetwork } from './networks.ts';

const active = 'settings';

export const settingsRows: readonly Row[] = [
  get('settings', 'settings.read', (request) => show(request, {})),
  post('settings', 'settings.write', saveShop),
  post('settings/network', 'settings.write', connectNetwork, { stepUp: true }),
  post('settings/logo', 'settings.write', saveLogo),
  post('settings/receipts', 'settings.write', saveReceipts),
];

/** What a colour input shows when the organization has no colour. */
const presetColour = '#1b5cc4';

function show(request: ViewRequest, problems: ui.Problems): DashboardAnswer {
  const { language, organization, role } = request;
  const say = saySettings(request);
  const { id, liveActivated, apiVersion, created } = organization;
  return page(request, {
    problems,
    body: [
      ui.doneOf(request, { saved: 'done' } as const, say),
      html`<p>${say('intro')}</p>`,
      ...(mayDo(role, 'settings.write')
        ? [
            ui.section(say('shop'), shopForm(request, problems)),
            ui.section(say('logo'), logoForm(request, problems)),
            request.services.mail === null ? null : ui.section(say('receipts'), receiptsForm(request)),
          ]
        : [
            ui.definitions([
              [say('name'), organization.name],
              [say('colour'), colourOf(request)],
              [say('logo'), logo(request)],
            ]),
          ]),
      ui.section(
        sayNetworks(request)('networks'),
        networkSection(request, request.services.baseUrl, problems),
      ),
      ui.section(
        say('organization'),
        ui.definitions([
          [say('id'), ui.copyable(request, id)],
          [say('live'), say(liveActivated ? 'activated' : 'not_activated')],
          [say('version'), apiVersion],
          [say('created'), ui.time(language, created * 1000)],
        ]),
      ),
    ],
  });
}

function colourOf(request: ViewRequest) {
  const { colour } = request.organization.branding;
  return colour === null ? saySettings(request)('standard') : html`<code dir="ltr">${colour}</code>`;
}

function logo(request: ViewRequest) {
  const say = saySettings(request);
  const { id, name, branding } = request.organization;
  const path = logoPathOf(id, branding);
  if (path === null) return say('no_logo');
  return html`<img src="${link(request, path)}" alt="${say('logo_of', { name })}" height="64">`;
}

function shopForm(request: ViewRequest, problems: ui.Problems) {
  const { organization, form: typed } = request;
  const say = saySettings(request);
  const { name, branding } = organization;
  const isTyped = typed.has('name');
  const body = [
    ui.field({
      name: 'name',
      label: say('name'),
      value: typed.get('name') ?? name,
      problems,
      required: true,
      attributes: html`maxlength="255" autocomplete="organization"`,
    }),
    ui.checkbox({
      name: 'own_colour',
      label: say('own_colour'),
      checked: isTyped ? typed.has('own_colour') : branding.colour !== null,
    }),
    ui.field({
      name: 'colour',
      label: say('colour'),
      hint: say('colour_hint'),
      type: 'color',
      value: typed.get('colour') ?? branding.colour ?? presetColour,
      problems,
    }),
    ui.submit(say('save')),
  ];
  return ui.form(request, viewLink(request, active), body);
}

function logoForm(request: ViewRequest, problems: ui.Problems) {
  const say = saySettings(request);
  const action = viewLink(request, 'settings/logo');
  const wrong = problems.logo ?? null;
  const choose = html`<div class="field"><label for="logo">${say('logo')}</label>
<span class="hint" id="logo-hint">${say('logo_hint')}</span>
${wrong && html`<span class="wrong" id="logo-wrong">${wrong}</span>`}
<input type="file" id="logo" name="logo" accept="${logoTypes.join(',')}" aria-describedby="logo-hint"${wrong !== null && html` aria-invalid="true"`}></div>`;
  const upload = ui.form(request, action, [choose, ui.submit(say('upload'))], { files: true });
  if (request.organization.branding.logo === null) return [html`<p>${logo(request)}</p>`, upload];
  const remove = [ui.hidden('remove', '1'), ui.submit(say('remove'), 'danger')];
  return [html`<p>${logo(request)}</p>`, upload, ui.form(request, action, remove)];
}

function receiptsForm(request: ViewRequest) {
  const say = saySettings(request);
  const { receipts } = request.organization;
  const choice = ui.select({
    name: 'receipts',
    label: say('receipts_language'),
    value: receipts ?? '',
    choices: [
      ['', say('receipts_off')],
      ...languages.map((language) => [language, languageNames[language]] as const),
    ],
  });
  const form = ui.form(request, viewLink(request, 'settings/receipts'), [choice, ui.submit(say('save'))]);
  return html`<p>${say('receipts_text')}</p>${form}`;
}

async function saveShop(request: ViewRequest): Promise<DashboardAnswer> {
  const { form: typed, organization } = request;
  const name = typed.get('name') ?? '';
  const colour = typed.has('own_colour') ? (typed.get('colour') ?? '') : null;
  return save(request, { org: organization.id, name, colour }, (each) =>
    withBranding(withName(each, name), { colour: colour === null ? null : checkedColour(colour) }),
  );
}

async function saveLogo(request: ViewRequest): Promise<DashboardAnswer> {
  const { organization, files, form: typed } = request;
  const isRemoved = typed.has('remove');
  const file = files.get('logo') ?? new Uint8Array();
  return save(request, { org: organization.id, logo: isRemoved ? null : `${file.length} B` }, (each) =>
    withBranding(each, { logo: isRemoved ? null : logoOf(file) }),
  );
}

async function saveReceipts(request: ViewRequest): Promise<DashboardAnswer> {
  const typed = request.form.get('receipts') ?? '';
  const receipts = languages.find((language): language is Language => language === typed) ?? null;
  return save(request, { org: request.organization.id, receipts }, (each) => withReceipts(each, receipts));
}

async function connectNetwork(request: ViewRequest): Promise<DashboardAnswer> {
  const problems = await saveNetwork(request);
  if (Object.keys(problems).length > 0) return show(request, problems);
  return redirect(viewLink(request, active, { done: 'saved' }));
}

/** The field that each refusal of the directory is about. */
const fieldsOf = {
  name_invalid: 'name',
  colour_invalid: 'colour',
  logo_invalid: 'logo',
  logo_too_large: 'logo',
} as const satisfies Partial<Record<RefusalCode, string>>;

async function save(
  request: ViewRequest,
  params: object,
  rule: (organization: Organization) => Organization,
): Promise<DashboardAnswer> {
  const { organization } = request;
  const say = saySettings(request);
  try {
    await request.act('org.settings', params, () =>
      request.services.directory.changeOrganization(organization.id, rule),
    );
  } catch (error) {
    const code = error instanceof DirectoryRefusal ? (error.code as keyof typeof fieldsOf | null) : null;
    if (code === null || !(code in fieldsOf)) throw error;
    return show(request, { [fieldsOf[code]]: say(code) });
  }
  return redirect(viewLink(request, active, { done: 'saved' }));
}
