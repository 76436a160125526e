// The pages for settings: the organization's name, the colour and logo of the pages where its
// customers pay, and the payment networks.

import { type Language, languages } from '../../contract/vocabulary.ts';
import { checkedColour, logoOf, logoPathOf, logoTypes } from '../../directory/branding.ts';
import { type Organization, withBranding, withName, withReceipts } from '../../directory/organization.ts';
import type { RefusalCode } from '../../directory/refusal.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { languageNames } from '../../html/language-links.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { link, viewLink } from '../layout/links.ts';
import { get, post, type Row, refused, refusedBy, type Saying, saying } from '../layout/row.ts';
import { sayNetworks } from '../messages/networks.ts';
import { saySettings } from '../messages/settings.ts';
import { mayDo } from '../people/roles.ts';
import { networkSection, saveNetwork } from './networks.ts';

const active = 'settings';

type Request = Saying<typeof saySettings>;

export const settingsRows: readonly Row[] = saying(saySettings, [
  get('settings', 'settings.read', show),
  post('settings', 'settings.write', saveShop),
  post('settings/network', 'settings.write', connectNetwork, { stepUp: true }),
  post('settings/logo', 'settings.write', saveLogo),
  post('settings/receipts', 'settings.write', saveReceipts),
]);

/** What a colour input shows when the organization has no colour. */
const presetColour = '#1b5cc4';

function show(request: Request): DashboardAnswer {
  const { language, organization, role, say } = request;
  const { id, liveActivated, apiVersion, created } = organization;
  const networks = { ...request, say: sayNetworks(request) };
  return page(request, {
    body: [
      ui.doneOf(request, { saved: 'done' }),
      html`<p>${say('intro')}</p>`,
      ...(mayDo(role, 'settings.write')
        ? [
            ui.section(say('shop'), shopForm(request)),
            ui.section(say('logo'), logoForm(request)),
            request.services.mail === null ? null : ui.section(say('receipts'), receiptsForm(request)),
          ]
        : [
            ui.definitions([
              [say('name'), organization.name],
              [say('colour'), colourOf(request)],
              [say('logo'), logo(request)],
            ]),
          ]),
      ui.section(networks.say('networks'), networkSection(networks)),
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

function colourOf(request: Request) {
  const { colour } = request.organization.branding;
  return colour === null ? saySettings(request)('standard') : html`<code dir="ltr">${colour}</code>`;
}

function logo(request: Request) {
  const { id, name, branding } = request.organization;
  const path = logoPathOf(id, branding);
  if (path === null) return request.say('no_logo');
  return html`<img src="${link(request, path)}" alt="${request.say('logo_of', { name })}" height="64">`;
}

function shopForm(request: Request): Html {
  const { organization, form: typed, say } = request;
  const { name, branding } = organization;
  const hasColour = typed.has('name') ? typed.has('own_colour') : branding.colour !== null;
  const attributes = html`maxlength="255" autocomplete="organization"`;
  return ui.form(request, active, [
    ui.field(request, 'name', { value: name, required: true, attributes }),
    ui.checkbox('own_colour', say('own_colour'), hasColour),
    ui.field(request, 'colour', {
      hint: say('colour_hint'),
      type: 'color',
      value: branding.colour ?? presetColour,
    }),
    ui.submit(say('save')),
  ]);
}

function logoForm(request: Request): Html[] {
  const { organization, problems, say } = request;
  const path = 'settings/logo';
  const wrong = problems.logo ?? null;
  const choose = html`<div class="field"><label for="logo">${say('logo')}</label>
<span class="hint" id="logo-hint">${say('logo_hint')}</span>
${wrong && html`<span class="wrong" id="logo-wrong">${wrong}</span>`}
<input type="file" id="logo" name="logo" accept="${logoTypes.join(',')}" aria-describedby="logo-hint"${wrong !== null && html` aria-invalid="true"`}></div>`;
  const upload = ui.form(request, path, [choose, ui.submit(say('upload'))], { files: true });
  const remove = [ui.hidden('remove', '1'), ui.submit(say('remove'), 'danger')];
  const parts = [html`<p>${logo(request)}</p>`, upload];
  return organization.branding.logo === null ? parts : [...parts, ui.form(request, path, remove)];
}

function receiptsForm(request: Request): Html {
  const { say } = request;
  const named = languages.map((language) => [language, languageNames[language]] as const);
  const choice = ui.select(request, 'receipts_language', [['', say('receipts_off')], ...named], {
    name: 'receipts',
    value: request.organization.receipts ?? '',
  });
  const form = ui.form(request, 'settings/receipts', [choice, ui.submit(say('save'))]);
  return html`<p>${say('receipts_text')}</p>${form}`;
}

async function saveShop(request: Request): Promise<DashboardAnswer> {
  const { form: typed, organization } = request;
  const name = typed.get('name') ?? '';
  const colour = typed.has('own_colour') ? (typed.get('colour') ?? '') : null;
  return save(request, { org: organization.id, name, colour }, (each) =>
    withBranding(withName(each, name), { colour: colour === null ? null : checkedColour(colour) }),
  );
}

async function saveLogo(request: Request): Promise<DashboardAnswer> {
  const { organization, files, form: typed } = request;
  const isRemoved = typed.has('remove');
  const file = files.get('logo') ?? new Uint8Array();
  return save(request, { org: organization.id, logo: isRemoved ? null : `${file.length} B` }, (each) =>
    withBranding(each, { logo: isRemoved ? null : logoOf(file) }),
  );
}

async function saveReceipts(request: Request): Promise<DashboardAnswer> {
  const typed = request.form.get('receipts') ?? '';
  const receipts = languages.find((language): language is Language => language === typed) ?? null;
  return save(request, { org: request.organization.id, receipts }, (each) => withReceipts(each, receipts));
}

async function connectNetwork(request: Request): Promise<DashboardAnswer> {
  try {
    request.countChange();
  } catch (error) {
    return show(refusedBy(request, error, fieldsOf));
  }
  const problems = await saveNetwork({ ...request, say: sayNetworks(request) });
  if (Object.keys(problems).length > 0) return show(refused(request, problems));
  return redirect(viewLink(request, active, { done: 'saved' }));
}

/** The field that each refusal of the directory is about. */
const fieldsOf = {
  name_invalid: 'name',
  colour_invalid: 'colour',
  logo_invalid: 'logo',
  logo_too_large: 'logo',
  too_many_changes: '',
} as const satisfies Partial<Record<RefusalCode, string>>;

async function save(
  request: Request,
  params: object,
  rule: (organization: Organization) => Organization,
): Promise<DashboardAnswer> {
  const { organization } = request;
  try {
    request.countChange();
    await request.act('org.settings', params, () =>
      request.services.directory.changeOrganization(organization.id, rule),
    );
  } catch (error) {
    return show(refusedBy(request, error, fieldsOf));
  }
  return redirect(viewLink(request, active, { done: 'saved' }));
}
