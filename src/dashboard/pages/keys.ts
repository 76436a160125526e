// The room for API keys: create, roll with an overlap, revoke, and when each was last used. The text of a key is shown once, in the
// answer to the form that made it.

import { activeKeysMax } from '../../contract/limits.ts';
import { type ApiKey, keyKinds, keyStatus } from '../../directory/api-key.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import {
  badge,
  button,
  copyable,
  definitions,
  doneOf,
  emptyState,
  errorSummary,
  form,
  select,
  submit,
  type Tone,
  table,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import { recentForms } from '../layout/recent-forms.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayKeys } from '../messages/keys.ts';
import { mayDo } from '../people/roles.ts';
import { overlapField, overlapSecondsOf } from './overlap.ts';

const active = 'keys';

export const keyRows: readonly Row[] = [
  {
    method: 'GET',
    path: 'keys',
    permission: 'developers.read',
    handle: async (visit, desk) => list(visit, desk),
  },
  {
    method: 'GET',
    path: 'keys/new',
    permission: 'keys.write',
    stepUp: true,
    handle: async (visit) => creation(visit),
  },
  { method: 'POST', path: 'keys/new', permission: 'keys.write', stepUp: true, handle: create },
  {
    method: 'GET',
    path: 'keys/{id}/roll',
    permission: 'keys.write',
    stepUp: true,
    handle: async (visit, desk) => withKey(visit, desk, (key) => rolling(visit, key)),
  },
  {
    method: 'POST',
    path: 'keys/{id}/roll',
    permission: 'keys.write',
    stepUp: true,
    handle: async (visit, desk) => withKey(visit, desk, (key) => roll(visit, desk, key)),
  },
  {
    method: 'GET',
    path: 'keys/{id}/revoke',
    permission: 'keys.write',
    stepUp: true,
    handle: async (visit, desk) => withKey(visit, desk, (key) => revoking(visit, key)),
  },
  {
    method: 'POST',
    path: 'keys/{id}/revoke',
    permission: 'keys.write',
    stepUp: true,
    handle: async (visit, desk) => withKey(visit, desk, (key) => revoke(visit, desk, key)),
  },
];

/** The keys of the visit's organization and mode, newest first. */
function keysOf({ organization, mode }: Visit, { services }: Desk): ApiKey[] {
  return services.directory
    .keysOf(organization.id)
    .filter((key) => key.mode === mode)
    .reverse();
}

/** Calls `handle` with the key that the address names, if it belongs to the visit's organization and mode. */
function withKey<A>(visit: Visit, desk: Desk, handle: (key: ApiKey) => A): A | DashboardAnswer {
  const key = keysOf(visit, desk).find(({ id }) => id === visit.id);
  return key === undefined ? errorPage(visit, 'missing') : handle(key);
}

const tones = { active: 'good', revoked: 'plain', expired: 'plain' } as const satisfies Record<string, Tone>;

function list(visit: Visit, desk: Desk): DashboardAnswer {
  const { language, mode, organization, role } = visit;
  const { directory, now } = desk.services;
  const say = (key: Parameters<typeof sayKeys>[0]) => sayKeys(key, language);
  const mayWrite = mayDo(role, 'keys.write');
  const actionsOf = (key: ApiKey): Html | null => {
    if (!mayWrite || keyStatus(key, now()) !== 'active') return null;
    const roll = html`<a href="${roomLink(visit, `keys/${key.id}/roll`)}">${say('roll')}</a>`;
    const revoke = html`<a href="${roomLink(visit, `keys/${key.id}/revoke`)}">${say('revoke')}</a>`;
    return html`<span class="actions">${key.rolledTo === null && roll}${revoke}</span>`;
  };
  const keys = keysOf(visit, desk);
  const columns = [
    { heading: say('key'), cell: (key: ApiKey) => html`<code dir="ltr">…${key.hint}</code>` },
    { heading: say('kind'), cell: (key: ApiKey) => say(key.kind) },
    {
      heading: say('status'),
      cell: (key: ApiKey) => {
        const status = keyStatus(key, now());
        return badge(say(status), tones[status]);
      },
    },
    { heading: say('created'), cell: (key: ApiKey) => time(language, key.created * 1000) },
    {
      heading: say('last_used'),
      cell: (key: ApiKey) => {
        const lastMs = directory.keyUses.lastMs(key.id);
        return lastMs === null ? say('never') : time(language, lastMs);
      },
    },
    {
      heading: say('ends'),
      cell: (key: ApiKey) => {
        const endMs = key.revokedAtMs ?? key.expiresAtMs;
        return endMs === null ? '–' : time(language, endMs);
      },
    },
    ...(mayWrite ? [{ heading: say('actions'), cell: actionsOf }] : []),
  ];
  return page(visit, {
    active,
    title: sayTitle(visit),
    actions: mayWrite ? button(say('create'), roomLink(visit, 'keys/new')) : null,
    body: [
      doneOf(visit, { revoked: 'done_revoked', again: 'done_again' } as const, sayKeys),
      html`<p>${say('intro')}</p>`,
      mode === 'live' && !organization.liveActivated ? html`<p class="muted">${say('not_live')}</p>` : null,
      keys.length === 0 ? emptyState(say('none')) : table(say('list'), columns, keys),
    ],
  });
}

function sayTitle({ language }: Visit): string {
  return sayFrame(active, language);
}

function creation(visit: Visit): DashboardAnswer {
  const { language } = visit;
  const kind = select({
    name: 'kind',
    label: sayKeys('kind', language),
    hint: sayKeys('kind_hint', language),
    choices: keyKinds.map((each) => [each, sayKeys(each, language)]),
  });
  const body = [kind, submit(sayKeys('create', language))];
  return page(visit, {
    active,
    title: sayKeys('create', language),
    body: form(visit, roomLink(visit, 'keys/new'), body, { className: 'sheet stack' }),
  });
}

async function create(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { organization, mode } = visit;
  const kind = keyKinds.find((each) => each === visit.form.get('kind'));
  if (kind === undefined) return creation(visit);
  const params = { org: organization.id, mode, kind };
  const make = () => desk.services.directory.createKey(organization.id, mode, kind, visit.member.id);
  return shownOnce(visit, async () => {
    const made = await desk.act(visit, 'key.create', params, async () => withId(await make()));
    return { ...made, old: null };
  });
}

function rolling(visit: Visit, { id, hint }: ApiKey): DashboardAnswer {
  const { language } = visit;
  const body = [overlapField(language, sayKeys('overlap', language)), submit(sayKeys('roll', language))];
  return page(visit, {
    active,
    title: sayKeys('roll_title', language, { hint }),
    body: [
      html`<p>${sayKeys('roll_intro', language)}</p>`,
      form(visit, roomLink(visit, `keys/${id}/roll`), body, { className: 'sheet stack' }),
    ],
  });
}

async function roll(visit: Visit, desk: Desk, key: ApiKey): Promise<DashboardAnswer> {
  const overlapSeconds = overlapSecondsOf(visit.form);
  if (overlapSeconds === null) return rolling(visit, key);
  const params = { key: key.id, overlapSeconds };
  const change = () => desk.services.directory.rollKey(key.id, overlapSeconds, visit.member.id);
  return shownOnce(visit, () => desk.act(visit, 'key.roll', params, async () => withId(await change())));
}

function revoking(visit: Visit, { id, hint }: ApiKey): DashboardAnswer {
  const { language } = visit;
  const action = roomLink(visit, `keys/${id}/revoke`);
  return page(visit, {
    active,
    title: sayKeys('revoke_title', language, { hint }),
    body: [
      html`<p>${sayKeys('revoke_intro', language)}</p>`,
      form(visit, action, submit(sayKeys('revoke', language), 'danger')),
    ],
  });
}

async function revoke(visit: Visit, desk: Desk, { id }: ApiKey): Promise<DashboardAnswer> {
  await desk.act(visit, 'key.revoke', { key: id }, () => desk.services.directory.revokeKey(id));
  return redirect(roomLink(visit, active, { done: 'revoked' }));
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
  visit: Visit,
  make: () => Promise<MadeKey & { readonly old: ApiKey | null }>,
): Promise<DashboardAnswer> {
  const { language, member, form } = visit;
  try {
    const made = await recentForms.once(member.id, form, make);
    if (made === null) return redirect(roomLink(visit, active, { done: 'again' }));
    const { key, text, old } = made;
    return page(visit, {
      active,
      title: sayKeys('shown_title', language),
      body: [
        html`<div class="notice warn"><p>${sayKeys('shown_once', language)}</p></div>`,
        definitions([
          [sayKeys('kind', language), sayKeys(key.kind, language)],
          [sayKeys('key', language), copyable(visit, text)],
          [sayKeys('old_works', language), old && time(language, old.expiresAtMs!)],
        ]),
        html`<p>${button(sayKeys('back', language), roomLink(visit, active), 'quiet')}</p>`,
      ],
    });
  } catch (error) {
    if (!(error instanceof DirectoryRefusal)) throw error;
    const title = sayTitle(visit);
    const reason = error.code === 'too_many_keys' ? 'too_many_keys' : 'refused';
    const alert = errorSummary(language, { '': sayKeys(reason, language, { max: activeKeysMax }) });
    const back = button(sayKeys('back', language), roomLink(visit, active), 'quiet');
    return page(visit, { active, status: 400, title, alert, body: html`<p>${back}</p>` });
  }
}
