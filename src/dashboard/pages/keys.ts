// The pages for API keys: create, roll with an overlap, revoke, and when each was last used. The
// text of a key is shown once, in the answer to the form that made it.

import { activeKeysMax } from '../../contract/limits.ts';
import { type ApiKey, keyKinds, keyName, keyStatus } from '../../directory/api-key.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, type ViewRequest } from '../layout/row.ts';
import { sayKeys } from '../messages/keys.ts';
import { mayDo } from '../people/roles.ts';
import { overlapField, overlapSecondsOf } from './overlap.ts';

const active = 'keys';

const stepUp = { stepUp: true } as const;

export const keyRows: readonly Row[] = [
  get('keys', 'developers.read', list),
  get('keys/new', 'keys.write', (request) => creation(request), stepUp),
  post('keys/new', 'keys.write', create, stepUp),
  get('keys/{id}/name', 'keys.write', withKey(naming)),
  post('keys/{id}/name', 'keys.write', withKey(name)),
  get('keys/{id}/roll', 'keys.write', withKey(rolling), stepUp),
  post('keys/{id}/roll', 'keys.write', withKey(roll), stepUp),
  get('keys/{id}/revoke', 'keys.write', withKey(revoking), stepUp),
  post('keys/{id}/revoke', 'keys.write', withKey(revoke), stepUp),
];

/** The keys of the request's organization and mode, newest first. */
function keysOf({ organization, mode, services }: ViewRequest): ApiKey[] {
  return services.directory
    .keysOf(organization.id)
    .filter((key) => key.mode === mode)
    .reverse();
}

type Handle = (request: ViewRequest, key: ApiKey) => ReturnType<Row['handle']>;

/**
 * Handles a request about the key that the address names, if it belongs to the request's
 * organization and mode.
 */
function withKey(handle: Handle): Row['handle'] {
  return (request) => {
    const key = keysOf(request).find(({ id }) => id === request.id);
    return key === undefined ? errorPage(request, 'missing') : handle(request, key);
  };
}

const tones = { active: 'good', revoked: 'plain', expired: 'plain' } as const satisfies Record<
  string,
  ui.Tone
>;

function list(request: ViewRequest): DashboardAnswer {
  const { language, mode, organization, role } = request;
  const say = sayKeys(request);
  const { directory, now } = request.services;
  const mayWrite = mayDo(role, 'keys.write');
  const actionsOf = (key: ApiKey): Html | null => {
    if (!mayWrite || keyStatus(key, now()) !== 'active') return null;
    const rename = html`<a href="${viewLink(request, `keys/${key.id}/name`)}">${say(key.name === null ? 'give_name' : 'rename')}</a>`;
    const roll = html`<a href="${viewLink(request, `keys/${key.id}/roll`)}">${say('roll')}</a>`;
    const revoke = html`<a href="${viewLink(request, `keys/${key.id}/revoke`)}">${say('revoke')}</a>`;
    return html`<span class="actions">${rename}${key.rolledTo === null && roll}${revoke}</span>`;
  };
  const keys = keysOf(request);
  const columns: ui.Column<ApiKey>[] = [
    [say('name'), ({ name }) => name ?? '–'],
    [say('key'), (key) => html`<code dir="ltr">…${key.hint}</code>`],
    [say('kind'), (key) => say(key.kind)],
    [
      say('status'),
      (key) => {
        const status = keyStatus(key, now());
        return ui.badge(say(status), tones[status]);
      },
    ],
    [say('created'), (key) => ui.time(language, key.created * 1000)],
    [
      say('last_used'),
      (key) => {
        const lastMs = directory.keyUses.lastMs(key.id);
        return lastMs === null ? say('never') : ui.time(language, lastMs);
      },
    ],
    [
      say('ends'),
      (key) => {
        const endMs = key.revokedAtMs ?? key.expiresAtMs;
        return endMs === null ? '–' : ui.time(language, endMs);
      },
    ],
    ...(mayWrite ? [[say('actions'), actionsOf] as const] : []),
  ];
  return page(request, {
    actions: mayWrite ? ui.button(say('create'), viewLink(request, 'keys/new')) : null,
    body: [
      ui.doneOf(request, { revoked: 'done_revoked', again: 'done_again', named: 'done_named' } as const, say),
      html`<p>${say('intro')}</p>`,
      mode === 'live' && !organization.liveActivated ? html`<p class="muted">${say('not_live')}</p>` : null,
      ui.table(say('list'), columns, keys, ui.emptyState(say('none'))),
    ],
  });
}

function nameField({ language, form: typed }: ViewRequest, name: string | null, problems: ui.Problems): Html {
  const say = sayKeys({ language });
  return ui.field({
    name: 'name',
    label: say('name'),
    hint: say('name_hint'),
    value: typed.get('name') ?? name ?? '',
    problems,
    attributes: html`maxlength="255" autocomplete="off"`,
  });
}

/** The problem of a form whose name was refused; throws what it is not about. */
function nameProblem({ language }: ViewRequest, error: unknown): ui.Problems {
  if (!(error instanceof DirectoryRefusal) || error.code !== 'name_invalid') throw error;
  return { name: sayKeys({ language })('name_invalid') };
}

function creation(request: ViewRequest, problems: ui.Problems = {}): DashboardAnswer {
  const say = sayKeys(request);
  const kind = ui.select({
    name: 'kind',
    label: say('kind'),
    hint: say('kind_hint'),
    value: request.form.get('kind') ?? '',
    choices: keyKinds.map((each) => [each, say(each)]),
  });
  const body = [nameField(request, null, problems), kind, ui.submit(say('create'))];
  return page(request, {
    title: say('create'),
    problems,
    body: ui.form(request, viewLink(request, 'keys/new'), body, { className: 'sheet stack' }),
  });
}

async function create(request: ViewRequest): Promise<DashboardAnswer> {
  const { organization, mode } = request;
  const kind = keyKinds.find((each) => each === request.form.get('kind'));
  if (kind === undefined) return creation(request);
  const name = request.form.get('name') ?? '';
  try {
    keyName(name);
  } catch (error) {
    return creation(request, nameProblem(request, error));
  }
  const params = { org: organization.id, mode, kind, name };
  const { directory } = request.services;
  const make = () => directory.createKey(organization.id, mode, kind, request.member.id, name);
  return shownOnce(request, async () => {
    const made = await request.act('key.create', params, async () => withId(await make()));
    return { ...made, old: null };
  });
}

function naming(
  request: ViewRequest,
  { id, hint, name: current }: ApiKey,
  problems: ui.Problems = {},
): DashboardAnswer {
  const say = sayKeys(request);
  const body = [nameField(request, current, problems), ui.submit(say('save'))];
  return page(request, {
    title: say('name_title', { hint }),
    problems,
    body: ui.form(request, viewLink(request, `keys/${id}/name`), body, { className: 'sheet stack' }),
  });
}

async function name(request: ViewRequest, key: ApiKey): Promise<DashboardAnswer> {
  const typed = request.form.get('name') ?? '';
  try {
    await request.act('key.name', { key: key.id, name: typed }, () =>
      request.services.directory.nameKey(key.id, typed),
    );
  } catch (error) {
    return naming(request, key, nameProblem(request, error));
  }
  return redirect(viewLink(request, active, { done: 'named' }));
}

function rolling(request: ViewRequest, { id, hint }: ApiKey): DashboardAnswer {
  const say = sayKeys(request);
  const body = [overlapField(request.language, say('overlap')), ui.submit(say('roll'))];
  return page(request, {
    title: say('roll_title', { hint }),
    body: [
      html`<p>${say('roll_intro')}</p>`,
      ui.form(request, viewLink(request, `keys/${id}/roll`), body, { className: 'sheet stack' }),
    ],
  });
}

async function roll(request: ViewRequest, key: ApiKey): Promise<DashboardAnswer> {
  const overlapSeconds = overlapSecondsOf(request.form);
  if (overlapSeconds === null) return rolling(request, key);
  const params = { key: key.id, overlapSeconds };
  const change = () => request.services.directory.rollKey(key.id, overlapSeconds, request.member.id);
  return shownOnce(request, () => request.act('key.roll', params, async () => withId(await change())));
}

function revoking(request: ViewRequest, { id, hint }: ApiKey): DashboardAnswer {
  const say = sayKeys(request);
  const action = viewLink(request, `keys/${id}/revoke`);
  return page(request, {
    title: say('revoke_title', { hint }),
    body: [html`<p>${say('revoke_intro')}</p>`, ui.form(request, action, ui.submit(say('revoke'), 'danger'))],
  });
}

async function revoke(request: ViewRequest, { id }: ApiKey): Promise<DashboardAnswer> {
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

/** Makes a key, and shows its text. A form that comes again makes none. */
async function shownOnce(
  request: ViewRequest,
  make: () => Promise<MadeKey & { readonly old: ApiKey | null }>,
): Promise<DashboardAnswer> {
  const say = sayKeys(request);
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
        html`<p>${ui.button(say('back'), viewLink(request, active), 'quiet')}</p>`,
      ],
    });
  } catch (error) {
    if (!(error instanceof DirectoryRefusal)) throw error;
    const reason = error.code === 'too_many_keys' ? 'too_many_keys' : 'refused';
    const problems = { '': say(reason, { max: activeKeysMax }) };
    const back = ui.button(say('back'), viewLink(request, active), 'quiet');
    return page(request, { problems, body: html`<p>${back}</p>` });
  }
}
