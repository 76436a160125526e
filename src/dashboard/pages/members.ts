// The room of the members: who may use the organization's dashboard, as what, and who is invited.

import type { ApiKey } from '../../directory/api-key.ts';
import { type Member, type Role, roles } from '../../directory/members.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { SignInLink } from '../../directory/sign-in-links.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import {
  changeRole as giveRole,
  inviteMember,
  keysKnownTo,
  removeMember,
} from '../../operator/use-cases/member-commands.ts';
import {
  badge,
  button,
  copyable,
  doneOf,
  errorSummary,
  field,
  finalSubmit,
  form,
  section,
  select,
  submit,
  table,
  time,
} from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { roomLink } from '../layout/links.ts';
import type { Desk, Row, Visit } from '../layout/row.ts';
import { sayFrame } from '../messages/frame.ts';
import { sayKeys } from '../messages/keys.ts';
import { type PeopleMessage, peopleMessages, sayPeople } from '../messages/people.ts';
import { mayDo } from '../people/roles.ts';

const doneTexts = {
  role: 'role_saved',
  removed: 'member_removed',
  sessions: 'sessions_ended',
  revoked: 'invitation_revoked',
} as const;

export const memberRows: readonly Row[] = [
  {
    method: 'GET',
    path: 'members',
    permission: 'members.read',
    handle: async (visit, desk) => listPage(visit, desk),
  },
  { method: 'POST', path: 'members', permission: 'members.write', stepUp: true, handle: invite },
  {
    method: 'GET',
    path: 'members/{id}',
    permission: 'members.read',
    handle: async (visit, desk) => memberPage(visit, desk),
  },
  {
    method: 'GET',
    path: 'members/{id}/keys',
    permission: 'members.write',
    handle: async (visit, desk) => keysPage(visit, desk),
  },
  {
    method: 'POST',
    path: 'members/{id}/role',
    permission: 'members.write',
    stepUp: true,
    handle: changeRole,
  },
  { method: 'POST', path: 'members/{id}/remove', permission: 'members.write', stepUp: true, handle: remove },
  { method: 'POST', path: 'members/{id}/end-sessions', permission: 'members.write', handle: endSessions },
  { method: 'POST', path: 'members/{id}/revoke', permission: 'members.write', handle: revoke },
];

/** The link is shown this once, so there is no redirect. */
async function invite(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { form: sent, organization, language } = visit;
  const email = sent.get('email') ?? '';
  const role = roleIn(sent) ?? 'viewer';
  const act = () => inviteMember(desk.services, organization.id, email, role);
  const made = await refusable(desk.act(visit, 'member.invite', { email, role }, act));
  if ('refused' in made) return listPage(visit, desk, made.refused);
  const { email: invited, link, expires } = made.result;
  return page(visit, {
    active: 'members',
    title: sayPeople('invitation_made', language),
    body: [
      html`<p>${sayPeople('invitation_give', language, { email: invited })}</p>`,
      html`<p>${copyable(visit, link)}</p>`,
      html`<p>${sayPeople('invitation_until', language)} ${time(language, Date.parse(expires))}</p>`,
      html`<p>${button(sayFrame('members', language), roomLink(visit, 'members'), 'quiet')}</p>`,
    ],
  });
}

async function changeRole(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const { organization, form: sent } = visit;
  const role = roleIn(sent);
  if (role === undefined || found(visit, desk) === null) return errorPage(visit, 'missing');
  const act = () => giveRole(desk.services.directory, organization.id, visit.id, role);
  const changed = await refusable(desk.act(visit, 'member.role', { member: visit.id, role }, act));
  if ('refused' in changed) return memberPage(visit, desk, changed.refused);
  // Who was an owner sees this room no more.
  if (visit.id === visit.member.id && role !== 'owner') return redirect(roomLink(visit, 'home'));
  return changed.result.keys.length === 0 ? done(visit, 'role') : toKeys(visit, 'role');
}

async function remove(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  if (found(visit, desk) === null) return errorPage(visit, 'missing');
  const act = () => removeMember(desk.services.directory, visit.organization.id, visit.id);
  const removed = await refusable(desk.act(visit, 'member.remove', { member: visit.id }, act));
  if ('refused' in removed) return memberPage(visit, desk, removed.refused);
  // One who has left sees nothing of the organization any more.
  if (visit.id === visit.member.id) return redirect(`${visit.prefix}/dashboard`);
  return removed.result.keys.length === 0 ? done(visit, 'removed') : toKeys(visit, 'removed');
}

async function endSessions(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  if (found(visit, desk) === null) return errorPage(visit, 'missing');
  const except = visit.id === visit.member.id ? visit.session.id : null;
  const { sessions } = desk.services.directory;
  const act = () => sessions.endAllIn(visit.id, visit.organization.id, except);
  await desk.act(visit, 'member.end-sessions', { member: visit.id }, act);
  return done(visit, 'sessions');
}

async function revoke(visit: Visit, desk: Desk): Promise<DashboardAnswer> {
  const act = () => desk.services.directory.links.revoke(visit.organization.id, visit.id);
  const revoked = await refusable(desk.act(visit, 'member.revoke-invitation', { id: visit.id }, act));
  return 'refused' in revoked ? errorPage(visit, 'missing') : done(visit, 'revoked');
}

/** The result of an action, or why the directory has refused it. */
async function refusable<T>(
  run: Promise<T>,
): Promise<{ readonly result: T } | { readonly refused: PeopleMessage }> {
  try {
    return { result: await run };
  } catch (error) {
    const isKnown = error instanceof DirectoryRefusal && error.code !== null && error.code in peopleMessages;
    if (isKnown) return { refused: error.code as PeopleMessage };
    throw error;
  }
}

function found({ id, organization }: Visit, desk: Desk): Member | null {
  const member = desk.services.directory.members.find(id);
  return member !== undefined && Object.hasOwn(member.roles, organization.id) ? member : null;
}

function roleIn(sent: URLSearchParams): Role | undefined {
  return roles.find((each) => each === sent.get('role'));
}

function done(visit: Visit, what: keyof typeof doneTexts): DashboardAnswer {
  return redirect(roomLink(visit, 'members', { done: what }));
}

function toKeys(visit: Visit, what: 'role' | 'removed'): DashboardAnswer {
  return redirect(roomLink(visit, `members/${visit.id}/keys`, { done: what }));
}

/** The keys that somebody may know who is not to use them any more, each with the ways to roll and to stop it. */
function keysPage(visit: Visit, desk: Desk): DashboardAnswer {
  const { language, organization, prefix } = visit;
  const say = (key: PeopleMessage) => sayPeople(key, language);
  const way = ({ mode, id }: ApiKey, action: 'roll' | 'revoke') =>
    button(
      sayKeys(action, language),
      `${prefix}/dashboard/${organization.id}/${mode}/keys/${id}/${action}`,
      'quiet',
    );
  // One that was rolled already, and works until its overlap ends, can only be stopped.
  const waysOf = (key: ApiKey) =>
    html`<span class="actions">${key.rolledTo === null && way(key, 'roll')}${way(key, 'revoke')}</span>`;
  const keys = keysKnownTo(desk.services.directory, organization.id, visit.id);
  const columns = [
    { heading: sayKeys('key', language), cell: ({ hint }: ApiKey) => html`<code dir="ltr">…${hint}</code>` },
    { heading: say('mode'), cell: ({ mode }: ApiKey) => sayFrame(`${mode}_mode`, language) },
    { heading: sayKeys('kind', language), cell: ({ kind }: ApiKey) => sayKeys(kind, language) },
    { heading: sayKeys('created', language), cell: ({ created }: ApiKey) => time(language, created * 1000) },
    { heading: sayKeys('actions', language), cell: waysOf },
  ];
  return page(visit, {
    active: 'members',
    title: say('known_keys'),
    body: [
      doneOf(visit, doneTexts, sayPeople),
      html`<p>${keys.length === 0 ? say('known_keys_none') : say('known_keys_text')}</p>`,
      keys.length === 0 ? null : table(say('known_keys'), columns, keys),
      html`<p>${button(sayFrame('members', language), roomLink(visit, 'members'), 'quiet')}</p>`,
    ],
  });
}

function listPage(visit: Visit, desk: Desk, refused: PeopleMessage | null = null): DashboardAnswer {
  const { language, organization } = visit;
  const { members, links } = desk.services.directory;
  const invitations = links.invitationsOf(organization.id);
  return page(visit, {
    active: 'members',
    status: refused === null ? 200 : 400,
    title: sayFrame('members', language),
    alert: refused === null ? null : errorSummary(language, { email: sayPeople(refused, language) }),
    body: [
      doneOf(visit, doneTexts, sayPeople),
      memberTable(visit, members.of(organization.id)),
      invitations.length === 0
        ? null
        : section(sayPeople('invitations', language), invitationTable(visit, invitations)),
      mayDo(visit.role, 'members.write')
        ? section(sayPeople('invite', language), invitationForm(visit))
        : null,
    ],
  });
}

function memberTable(visit: Visit, members: readonly Member[]): Html {
  const { language, organization } = visit;
  const say = (key: PeopleMessage) => sayPeople(key, language);
  return table(
    sayFrame('members', language),
    [
      {
        heading: say('person'),
        cell: ({ id, name }) => html`<a href="${roomLink(visit, `members/${id}`)}"><bdi>${name}</bdi></a>`,
      },
      { heading: say('email'), cell: ({ email }) => html`<bdi dir="ltr">${email}</bdi>` },
      { heading: say('role'), cell: ({ roles: each }) => sayFrame(each[organization.id]!, language) },
      {
        heading: say('two_step'),
        cell: ({ totp }) =>
          totp === null ? badge(say('two_step_is_off')) : badge(say('two_step_is_on'), 'good'),
      },
    ],
    members,
  );
}

function invitationTable(visit: Visit, invitations: readonly SignInLink[]): Html {
  const { language } = visit;
  return table(
    sayPeople('invitations', language),
    [
      { heading: sayPeople('email', language), cell: ({ email }) => html`<bdi dir="ltr">${email}</bdi>` },
      {
        heading: sayPeople('role', language),
        cell: (each) => (each.kind === 'invitation' ? sayFrame(each.role, language) : null),
      },
      {
        heading: sayPeople('invitation_until', language),
        cell: ({ expiresMs }) => time(language, expiresMs),
      },
      {
        heading: sayPeople('invitation_revoke', language),
        cell: ({ id }) =>
          form(
            visit,
            roomLink(visit, `members/${id}/revoke`),
            html`<button class="plain">${sayPeople('invitation_revoke', language)}</button>`,
          ),
      },
    ],
    invitations,
  );
}

function invitationForm(visit: Visit): Html {
  const { language, form: sent } = visit;
  const email = field({
    name: 'email',
    label: sayPeople('email', language),
    type: 'email',
    value: sent.get('email') ?? '',
    required: true,
    ltr: true,
    attributes: html`autocomplete="off" maxlength="254"`,
  });
  const body = html`<div class="pair">${email}${roleChoice(visit, roleIn(sent) ?? 'viewer')}</div>${roleList(visit)}${submit(sayPeople('invite', language))}`;
  return form(visit, roomLink(visit, 'members'), body);
}

function roleChoice({ language }: Visit, value: Role): Html {
  const choices = roles.map((each) => [each, sayFrame(each, language)] as const);
  return select({ name: 'role', label: sayPeople('role', language), value, choices });
}

function roleList({ language }: Visit): Html {
  const items = roles.map(
    (each) =>
      html`<div><dt>${sayFrame(each, language)}</dt><dd>${sayPeople(`role_${each}`, language)}</dd></div>`,
  );
  return html`<dl>${items}</dl>`;
}

function memberPage(visit: Visit, desk: Desk, refused: PeopleMessage | null = null): DashboardAnswer {
  const { language, organization } = visit;
  const member = found(visit, desk);
  if (member === null) return errorPage(visit, 'missing');
  const { id, name, email } = member;
  const role = member.roles[organization.id]!;
  const say = (key: PeopleMessage, values = {}) => sayPeople(key, language, values);
  const sessions = desk.services.directory.sessions.into(id, organization.id).length;
  return page(visit, {
    active: 'members',
    status: refused === null ? 200 : 400,
    title: name,
    alert: refused === null ? null : errorSummary(language, { '': say(refused) }),
    body: [
      html`<p><bdi dir="ltr">${email}</bdi></p>`,
      ...(mayDo(visit.role, 'members.write') ? changes(visit, role, sessions) : []),
    ],
  });
}

/** What an owner may change of a member. */
function changes(visit: Visit, role: Role, sessions: number): Html[] {
  const { id, language } = visit;
  const say = (key: PeopleMessage, values = {}) => sayPeople(key, language, values);
  const ending = form(
    visit,
    roomLink(visit, `members/${id}/end-sessions`),
    submit(say('session_end'), 'quiet'),
  );
  const removal = form(
    visit,
    roomLink(visit, `members/${id}/remove`),
    finalSubmit(visit, say('member_remove')),
  );
  return [
    section(say('role'), roleForm(visit, role)),
    section(say('sessions'), [html`<p>${say('sessions_open', { count: sessions })}</p>`, ending]),
    section(say('member_remove'), [html`<p>${say('member_remove_text')}</p>`, removal]),
  ];
}

function roleForm(visit: Visit, role: Role): Html {
  const body = html`${roleChoice(visit, role)}${submit(sayPeople('save', visit.language), 'quiet')}`;
  return form(visit, roomLink(visit, `members/${visit.id}/role`), body);
}
