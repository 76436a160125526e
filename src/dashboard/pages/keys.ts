// The pages for API keys: create, roll with an overlap, revoke, and when each was last used. The
// text of a key is shown once, in the answer to the form that made it.

import { activeKeysMax, keysMadePerDayMax } from '../../contract/limits.ts';
import { type ApiKey, keyKinds, keyName, keyStatus } from '../../directory/api-key.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { formPage, page, redirect } from '../layout/document.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, refused, refusedBy, type Saying, saying } from '../layout/row.ts';
import { sayKeys } from '../messages/keys.ts';
import { mayDo } from '../people/roles.ts';
import { overlapField, overlapSecondsOf } from './overlap.ts';
import { about } from './own-record.ts';

const active = 'keys';

const stepUp = { stepUp: true } as const;

type Request = Saying<typeof sayKeys>;

export const keyRows: readonly Row[] = saying(sayKeys, [
  get('keys', 'developers.read', list),
  get('keys/new', 'keys.write', creation, stepUp),
  post('keys/new', 'keys.write', create, stepUp),
  get('keys/{id}/name', 'keys.write', about(keyIn, naming)),
  post('keys/{id}/name', 'keys.write', about(keyIn, name)),
  get('keys/{id}/roll', 'keys.write', about(keyIn, rolling), stepUp),
  post('keys/{id}/roll', 'keys.write', about(keyIn, roll), stepUp),
  get('keys/{id}/revoke', 'keys.write', about(keyIn, revoking), stepUp),
  post('keys/{id}/revoke', 'keys.write', about(keyIn, revoke), stepUp),
]);

/** The keys of the request's organization and mode, newest first. */
function keysOf({ organization, mode, services }: Request): ApiKey[] {
  return services.directory
    .keysOf(organization.id)
    .filter((key) => key.mode === mode)
    .reverse();
}

/** The key that the address names, if it belongs to the request's organization and mode. */
function keyIn(request: Request): ApiKey | undefined {
  return keysOf(request).find(({ id }) => id === request.id);
}

function list(request: Request): DashboardAnswer {
  const { language, mode, organization, role, say } = request;
  const { directory, now } = request.services;
  const mayWrite = mayDo(role, 'keys.write');
  const timeOr = (ms: number | null, otherwise: string) => (ms === null ? otherwise : ui.time(language, ms));
  const actionsOf = (key: ApiKey): Html | null => {
    if (!mayWrite || keyStatus(key, now()) !== 'active') return null;
    const action = (path: 'name' | 'roll' | 'revoke', text: string) =>
      html`<a href="${viewLink(request, `keys/${key.id}/${path}`)}">${text}</a>`;
    const rename = action('name', say(key.name === null ? 'give_name' : 'rename'));
    const roll = key.rolledTo === null && action('roll', say('roll'));
    return html`<span class="actions">${rename}${roll}${action('revoke', say('revoke'))}</span>`;
  };
  const badgeOf = (key: ApiKey) => {
    const status = keyStatus(key, now());
    return ui.badge(say(status), status === 'active' ? 'good' : 'plain');
  };
  const columns: ui.Column<ApiKey>[] = [
    [say('name'), ({ name }) => name ?? '–'],
    [say('key'), (key) => html`<code class="whole" dir="ltr">…${key.hint}</code>`],
    [say('kind'), (key) => say(key.kind)],
    [say('status'), badgeOf],
    [say('created'), (key) => ui.time(language, key.created * 1000)],
    [say('last_used'), (key) => timeOr(directory.keyUses.lastMs(key.id), say('never'))],
    [say('ends'), (key) => timeOr(key.revokedAtMs ?? key.expiresAtMs, '–')],
    ...(mayWrite ? [[say('actions'), actionsOf] as const] : []),
  ];
  return page(request, {
    actions: mayWrite ? ui.button(say('create'), viewLink(request, 'keys/new')) : null,
    body: [
      ui.doneOf(request, { revoked: 'done_revoked', again: 'done_again', named: 'done_named' }),
      html`<p>${say('intro')}</p>`,
      mode === 'live' && !organization.liveActivated ? html`<p class="muted">${say('not_live')}</p>` : null,
      ui.table(say('list'), columns, keysOf(request), ui.emptyState(say('none'))),
    ],
  });
}

function nameField(request: Request, value: string): Html {
  const attributes = html`maxlength="255" autocomplete="off"`;
  return ui.field(request, 'name', { value, hint: request.say('name_hint'), attributes });
}

/** A name that can't be given is refused at its field. */
const nameRefusals = { name_invalid: 'name' } as const;

function creation(request: Request): DashboardAnswer {
  const { say } = request;
  const kinds = keyKinds.map((each) => [each, say(each)] as const);
  const body = [
    nameField(request, ''),
    ui.select(request, 'kind', kinds, { hint: say('kind_hint') }),
    ui.submit(say('create')),
  ];
  return formPage(request, say('create'), 'keys/new', body);
}

async function create(request: Request): Promise<DashboardAnswer> {
  const { organization, mode } = request;
  const kind = keyKinds.find((each) => each === request.form.get('kind'));
  if (kind === undefined) return creation(request);
  const name = request.form.get('name') ?? '';
  try {
    keyName(name);
  } catch (error) {
    return creation(refusedBy(request, error, nameRefusals));
  }
  const params = { org: organization.id, mode, kind, name };
  const { directory } = request.services;
  const make = () => directory.createKey(organization.id, mode, kind, request.member.id, name);
  return shownOnce(request, async () => {
    const made = await request.act('key.create', params, async () => withId(await make()));
    return { ...made, old: null };
  });
}

/** The end of a key as a value of a text, which keeps the dots before it in Arabic, too. */
function endOf(hint: string): string {
  return `…${hint}`;
}

function naming(request: Request, { id, hint, name }: ApiKey): DashboardAnswer {
  const { say } = request;
  const body = [nameField(request, name ?? ''), ui.submit(say('save'))];
  return formPage(request, say('name_title', { hint: endOf(hint) }), `keys/${id}/name`, body);
}

async function name(request: Request, key: ApiKey): Promise<DashboardAnswer> {
  const typed = request.form.get('name') ?? '';
  try {
    await request.act('key.name', { key: key.id, name: typed }, () =>
      request.services.directory.nameKey(key.id, typed),
    );
  } catch (error) {
    return naming(refusedBy(request, error, nameRefusals), key);
  }
  return redirect(viewLink(request, active, { done: 'named' }));
}

function rolling(request: Request, { id, hint }: ApiKey): DashboardAnswer {
  const { say } = request;
  const body = [overlapField(request, 'overlap'), ui.submit(say('roll'))];
  const intro = html`<p>${say('roll_intro')}</p>`;
  return formPage(request, say('roll_title', { hint: endOf(hint) }), `keys/${id}/roll`, body, intro);
}

async function roll(request: Request, key: ApiKey): Promise<DashboardAnswer> {
  const overlapSeconds = overlapSecondsOf(request.form);
  if (overlapSeconds === null) return rolling(request, key);
  const params = { key: key.id, overlapSeconds };
  const change = () => request.services.directory.rollKey(key.id, overlapSeconds, request.member.id);
  return shownOnce(request, () => request.act('key.roll', params, async () => withId(await change())));
}

function revoking(request: Request, { id, hint }: ApiKey): DashboardAnswer {
  const { say } = request;
  return page(request, {
    title: say('revoke_title', { hint: endOf(hint) }),
    body: [
      html`<p>${say('revoke_intro')}</p>`,
      ui.form(request, `keys/${id}/revoke`, ui.submit(say('revoke'), 'danger')),
    ],
  });
}

async function revoke(request: Request, { id }: ApiKey): Promise<DashboardAnswer> {
  await request.act('key.revoke', { key: id }, () => request.services.directory.revokeKey(id));
  return redirect(viewLink(request, active, { done: 'revoked' }));
}

interface MadeKey {
  readonly key: ApiKey;
  readonly text: string;
}

/** A made key with the id that the audit record notes. */
function withId<M extends MadeKey>(made: M): M & { readonly id: string } {
  return { ...made, id: made.key.id };
}

function backToKeys(request: Request): Html {
  return html`<p>${ui.button(request.say('back'), viewLink(request, active), 'quiet')}</p>`;
}

/** Makes a key, and shows its text. A form that comes again makes none. */
async function shownOnce(
  request: Request,
  make: () => Promise<MadeKey & { readonly old: ApiKey | null }>,
): Promise<DashboardAnswer> {
  const { say } = request;
  try {
    const made = await request.once(make);
    if (made === null) return redirect(viewLink(request, active, { done: 'again' }));
    const { key, text, old } = made;
    return page(request, {
      title: say('shown_title'),
      body: [
        html`<div class="notice warn"><p>${say('shown_once')}</p></div>`,
        ui.definitions([
          [say('name'), key.name],
          [say('kind'), say(key.kind)],
          [say('key'), ui.copyable(request, text)],
          [say('old_works'), old && ui.time(request.language, old.expiresAtMs!)],
        ]),
        backToKeys(request),
      ],
    });
  } catch (error) {
    if (!(error instanceof DirectoryRefusal)) throw error;
    return page(refused(request, { '': refusalText(say, error) }), { body: backToKeys(request) });
  }
}

function refusalText(say: Request['say'], { code }: DirectoryRefusal): string {
  switch (code) {
    case 'too_many_keys':
      return say(code, { max: activeKeysMax });
    case 'too_many_new_keys':
      return say(code, { max: keysMadePerDayMax });
    default:
      return say('refused');
  }
}
