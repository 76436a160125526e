// The pages of the members: who may use the organization's dashboard, as what, and who is invited.

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
import * as ui from '../layout/components.ts';
import { page, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { viewLink } from '../layout/links.ts';
import { get, post, type Row, type ViewRequest } from '../layout/row.ts';
import { sayKeys } from '../messages/keys.ts';
import { sayLayout } from '../messages/layout.ts';
import { type PeopleMessage, peopleMessages, sayPeople } from '../messages/people.ts';
import { mayDo } from '../people/roles.ts';

const doneTexts = {
  role: 'role_saved',
  removed: 'member_removed',
  sessions: 'sessions_ended',
  revoked: 'invitation_revoked',
} as const;

export const memberRows: readonly Row[] = [
  get('members', 'members.read', listPage),
  post('members', 'members.write', invite, { stepUp: true }),
  get('members/{id}', 'members.read', memberPage),
  get('members/{id}/keys', 'members.write', keysPage),
  post('members/{id}/role', 'members.write', changeRole, { stepUp: true }),
  post('members/{id}/remove', 'members.write', remove, { stepUp: true }),
  post('members/{id}/end-sessions', 'members.write', endSessions),
  post('members/{id}/revoke', 'members.write', revoke),
];

/** The link is shown this once, so there is no redirect. */
async function invite(request: ViewRequest): Promise<DashboardAnswer> {
  const { form: sent, organization, language } = request;
  const say = sayPeople(request);
  const email = sent.get('email') ?? '';
  const role = roleIn(sent) ?? 'viewer';
  const act = () => inviteMember(request.services, organization.id, email, role);
  const made = await refusable(request.act('member.invite', { email, role }, act));
  if ('refused' in made) return listPage(request, made.refused);
  const { email: invited, link, expires, mailed } = made.result;
  return page(request, {
    title: say('invitation_made'),
    body: [
      html`<p>${say('invitation_give', { email: invited })}</p>`,
      mailed ? html`<p>${say('invitation_mailed')}</p>` : null,
      html`<p>${ui.copyable(request, link)}</p>`,
      html`<p>${say('invitation_until')} ${ui.time(language, Date.parse(expires))}</p>`,
      html`<p>${ui.button(sayLayout(request)('members'), viewLink(request, 'members'), 'quiet')}</p>`,
    ],
  });
}

async function changeRole(request: ViewRequest): Promise<DashboardAnswer> {
  const { organization, form: sent } = request;
  const role = roleIn(sent);
  if (role === undefined || found(request) === null) return errorPage(request, 'missing');
  const act = () => giveRole(request.services.directory, organization.id, request.id, role);
  const changed = await refusable(request.act('member.role', { member: request.id, role }, act));
  if ('refused' in changed) return memberPage(request, changed.refused);
  // Who is no owner any more does not see this page.
  if (request.id === request.member.id && role !== 'owner') return redirect(viewLink(request, 'home'));
  return changed.result.keys.length === 0 ? done(request, 'role') : toKeys(request, 'role');
}

async function remove(request: ViewRequest): Promise<DashboardAnswer> {
  if (found(request) === null) return errorPage(request, 'missing');
  const act = () => removeMember(request.services.directory, request.organization.id, request.id);
  const removed = await refusable(request.act('member.remove', { member: request.id }, act));
  if ('refused' in removed) return memberPage(request, removed.refused);
  // One who has left sees nothing of the organization any more.
  if (request.id === request.member.id) return redirect(`${request.prefix}/dashboard`);
  return removed.result.keys.length === 0 ? done(request, 'removed') : toKeys(request, 'removed');
}

async function endSessions(request: ViewRequest): Promise<DashboardAnswer> {
  if (found(request) === null) return errorPage(request, 'missing');
  const except = request.id === request.member.id ? request.session.id : null;
  const { sessions } = request.services.directory;
  const act = () => sessions.endAllIn(request.id, request.organization.id, except);
  await request.act('member.end-sessions', { member: request.id }, act);
  return done(request, 'sessions');
}

async function revoke(request: ViewRequest): Promise<DashboardAnswer> {
  const act = () => request.services.directory.links.revoke(request.organization.id, request.id);
  const revoked = await refusable(request.act('member.revoke-invitation', { id: request.id }, act));
  return 'refused' in revoked ? errorPage(request, 'missing') : done(request, 'revoked');
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

function found({ id, organization, services }: ViewRequest): Member | null {
  const member = services.directory.members.find(id);
  return member !== undefined && Object.hasOwn(member.roles, organization.id) ? member : null;
}

function roleIn(sent: URLSearchParams): Role | undefined {
  return roles.find((each) => each === sent.get('role'));
}

function done(request: ViewRequest, what: keyof typeof doneTexts): DashboardAnswer {
  return redirect(viewLink(request, 'members', { done: what }));
}

function toKeys(request: ViewRequest, what: 'role' | 'removed'): DashboardAnswer {
  return redirect(viewLink(request, `members/${request.id}/keys`, { done: what }));
}

/**
 * The keys that somebody may know who is not to use them any more, each with the ways to roll and
 * to stop it.
 */
function keysPage(request: ViewRequest): DashboardAnswer {
  const { language, organization, prefix } = request;
  const say = sayPeople(request);
  const way = ({ mode, id }: ApiKey, action: 'roll' | 'revoke') =>
    ui.button(
      sayKeys(request)(action),
      `${prefix}/dashboard/${organization.id}/${mode}/keys/${id}/${action}`,
      'quiet',
    );
  // One that was rolled already, and works until its overlap ends, can only be stopped.
  const waysOf = (key: ApiKey) =>
    html`<span class="actions">${key.rolledTo === null && way(key, 'roll')}${way(key, 'revoke')}</span>`;
  const keys = keysKnownTo(request.services.directory, organization.id, request.id);
  const columns: ui.Column<ApiKey>[] = [
    [sayKeys(request)('key'), ({ hint }) => html`<code dir="ltr">…${hint}</code>`],
    [say('mode'), ({ mode }) => sayLayout(request)(`${mode}_mode`)],
    [sayKeys(request)('kind'), ({ kind }) => sayKeys(request)(kind)],
    [sayKeys(request)('created'), ({ created }) => ui.time(language, created * 1000)],
    [sayKeys(request)('actions'), waysOf],
  ];
  return page(request, {
    title: say('known_keys'),
    body: [
      ui.doneOf(request, doneTexts, say),
      html`<p>${keys.length === 0 ? say('known_keys_none') : say('known_keys_text')}</p>`,
      keys.length === 0 ? null : ui.table(say('known_keys'), columns, keys),
      html`<p>${ui.button(sayLayout(request)('members'), viewLink(request, 'members'), 'quiet')}</p>`,
    ],
  });
}

function listPage(request: ViewRequest, refused: PeopleMessage | null = null): DashboardAnswer {
  const { organization } = request;
  const say = sayPeople(request);
  const { members, links } = request.services.directory;
  const invitations = links.invitationsOf(organization.id);
  return page(request, {
    problems: refused === null ? {} : { email: say(refused) },
    body: [
      ui.doneOf(request, doneTexts, say),
      memberTable(request, members.of(organization.id)),
      invitations.length === 0 ? null : ui.section(say('invitations'), invitationTable(request, invitations)),
      mayDo(request.role, 'members.write') ? ui.section(say('invite'), invitationForm(request)) : null,
    ],
  });
}

function memberTable(request: ViewRequest, members: readonly Member[]): Html {
  const say = sayPeople(request);
  return ui.table(
    sayLayout(request)('members'),
    [
      [
        say('person'),
        ({ id, name }) => html`<a href="${viewLink(request, `members/${id}`)}"><bdi>${name}</bdi></a>`,
      ],
      [say('email'), ({ email }) => html`<bdi dir="ltr">${email}</bdi>`],
      [say('role'), ({ roles: each }) => sayLayout(request)(each[request.organization.id]!)],
      [
        say('two_step'),
        ({ totp }) =>
          totp === null ? ui.badge(say('two_step_is_off')) : ui.badge(say('two_step_is_on'), 'good'),
      ],
    ],
    members,
  );
}

function invitationTable(request: ViewRequest, invitations: readonly SignInLink[]): Html {
  const say = sayPeople(request);
  return ui.table(
    say('invitations'),
    [
      [say('email'), ({ email }) => html`<bdi dir="ltr">${email}</bdi>`],
      [say('role'), (each) => (each.kind === 'invitation' ? sayLayout(request)(each.role) : null)],
      [say('invitation_until'), ({ expiresMs }) => ui.time(request.language, expiresMs)],
      [
        say('invitation_revoke'),
        ({ id }) =>
          ui.form(
            request,
            viewLink(request, `members/${id}/revoke`),
            html`<button class="plain">${say('invitation_revoke')}</button>`,
          ),
      ],
    ],
    invitations,
  );
}

function invitationForm(request: ViewRequest): Html {
  const { form: sent } = request;
  const say = sayPeople(request);
  const email = ui.field({
    name: 'email',
    label: say('email'),
    type: 'email',
    value: sent.get('email') ?? '',
    required: true,
    ltr: true,
    attributes: html`autocomplete="off" maxlength="254"`,
  });
  const body = html`<div class="pair">${email}${roleChoice(request, roleIn(sent) ?? 'viewer')}</div>${roleList(request)}${ui.submit(say('invite'))}`;
  return ui.form(request, viewLink(request, 'members'), body);
}

function roleChoice({ language }: ViewRequest, value: Role): Html {
  const say = sayPeople({ language });
  const choices = roles.map((each) => [each, sayLayout({ language })(each)] as const);
  return ui.select({ name: 'role', label: say('role'), value, choices });
}

function roleList({ language }: ViewRequest): Html {
  const say = sayPeople({ language });
  const items = roles.map(
    (each) => html`<div><dt>${sayLayout({ language })(each)}</dt><dd>${say(`role_${each}`)}</dd></div>`,
  );
  return html`<dl>${items}</dl>`;
}

function memberPage(request: ViewRequest, refused: PeopleMessage | null = null): DashboardAnswer {
  const { organization } = request;
  const say = sayPeople(request);
  const member = found(request);
  if (member === null) return errorPage(request, 'missing');
  const { id, name, email } = member;
  const role = member.roles[organization.id]!;
  const sessions = request.services.directory.sessions.into(id, organization.id).length;
  return page(request, {
    title: name,
    problems: refused === null ? {} : { '': say(refused) },
    body: [
      html`<p><bdi dir="ltr">${email}</bdi></p>`,
      ...(mayDo(request.role, 'members.write') ? changes(request, role, sessions) : []),
    ],
  });
}

/** What an owner may change of a member. */
function changes(request: ViewRequest, role: Role, sessions: number): Html[] {
  const { id } = request;
  const say = sayPeople(request);
  const ending = ui.form(
    request,
    viewLink(request, `members/${id}/end-sessions`),
    ui.submit(say('session_end'), 'quiet'),
  );
  const removal = ui.form(
    request,
    viewLink(request, `members/${id}/remove`),
    ui.finalSubmit(request, say('member_remove')),
  );
  return [
    ui.section(say('role'), roleForm(request, role)),
    ui.section(say('sessions'), [html`<p>${say('sessions_open', { count: sessions })}</p>`, ending]),
    ui.section(say('member_remove'), [html`<p>${say('member_remove_text')}</p>`, removal]),
  ];
}

function roleForm(request: ViewRequest, role: Role): Html {
  const say = sayPeople(request);
  const body = html`${roleChoice(request, role)}${ui.submit(say('save'), 'quiet')}`;
  return ui.form(request, viewLink(request, `members/${request.id}/role`), body);
}
