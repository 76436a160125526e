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
import { get, post, type Row, refusedBy, type Saying, saying } from '../layout/row.ts';
import { sayKeys } from '../messages/keys.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayPeople } from '../messages/people.ts';
import { emailField } from '../people/fields.ts';
import { mayDo } from '../people/roles.ts';
import { about } from './own-record.ts';

const doneTexts = {
  role: 'role_saved',
  removed: 'member_removed',
  sessions: 'sessions_ended',
  revoked: 'invitation_revoked',
} as const;

type Request = Saying<typeof sayPeople>;
const stepUp = { stepUp: true } as const;

export const memberRows: readonly Row[] = saying(sayPeople, [
  get('members', 'members.read', listPage),
  post('members', 'members.write', invite, stepUp),
  get('members/{id}', 'members.read', about(memberIn, memberPage)),
  get('members/{id}/keys', 'members.write', keysPage),
  post('members/{id}/role', 'members.write', about(memberIn, changeRole), stepUp),
  post('members/{id}/remove', 'members.write', about(memberIn, remove), stepUp),
  post('members/{id}/end-sessions', 'members.write', about(memberIn, endSessions)),
  post('members/{id}/revoke', 'members.write', revoke),
]);

/** The link is shown this once, so there is no redirect. */
async function invite(request: Request): Promise<DashboardAnswer> {
  const { form: sent, organization, language, say } = request;
  const email = sent.get('email') ?? '';
  const role = roleIn(sent) ?? 'viewer';
  const act = () => inviteMember(request.services, organization.id, email, role);
  try {
    const {
      email: invited,
      link,
      expires,
      mailed,
    } = await request.act('member.invite', { email, role }, act);
    return page(request, {
      title: say('invitation_made'),
      body: [
        html`<p>${say('invitation_give', { email: invited })}</p>`,
        mailed ? html`<p>${say('invitation_mailed')}</p>` : null,
        html`<p>${ui.copyable(request, link)}</p>`,
        html`<p>${say('invitation_until')} ${ui.time(language, Date.parse(expires))}</p>`,
        backToMembers(request),
      ],
    });
  } catch (error) {
    return listPage(refusedBy(request, error, invitationRefusals));
  }
}

/** The fields that refusals are about, of an invitation and of a change to a member. */
const invitationRefusals = {
  email_invalid: 'email',
  member_exists: 'email',
  member_missing: 'email',
  too_many_links: 'email',
} as const;
const changeRefusals = { last_owner: '', member_missing: '' } as const;

function backToMembers(request: Request): Html {
  return html`<p>${ui.button(sayLayout(request)('members'), viewLink(request, 'members'), 'quiet')}</p>`;
}

async function changeRole(request: Request, member: Member): Promise<DashboardAnswer> {
  const { organization, form: sent } = request;
  const role = roleIn(sent);
  if (role === undefined) return errorPage(request, 'missing');
  const act = () => giveRole(request.services.directory, organization.id, member.id, role);
  try {
    const { keys } = await request.act('member.role', { member: member.id, role }, act);
    // Who is no owner any more does not see this page.
    if (member.id === request.member.id && role !== 'owner') return redirect(viewLink(request, 'home'));
    return done(request, 'role', keys);
  } catch (error) {
    return memberPage(refusedBy(request, error, changeRefusals), member);
  }
}

async function remove(request: Request, member: Member): Promise<DashboardAnswer> {
  const act = () => removeMember(request.services.directory, request.organization.id, member.id);
  try {
    const { keys } = await request.act('member.remove', { member: member.id }, act);
    // One who has left sees nothing of the organization any more.
    if (member.id === request.member.id) return redirect(`${request.prefix}/dashboard`);
    return done(request, 'removed', keys);
  } catch (error) {
    return memberPage(refusedBy(request, error, changeRefusals), member);
  }
}

async function endSessions(request: Request, { id }: Member): Promise<DashboardAnswer> {
  const except = id === request.member.id ? request.session.id : null;
  const { sessions } = request.services.directory;
  const act = () => sessions.endAllIn(id, request.organization.id, except);
  await request.act('member.end-sessions', { member: id }, act);
  return done(request, 'sessions');
}

async function revoke(request: Request): Promise<DashboardAnswer> {
  const act = () => request.services.directory.links.revoke(request.organization.id, request.id);
  try {
    await request.act('member.revoke-invitation', { id: request.id }, act);
    return done(request, 'revoked');
  } catch (error) {
    if (error instanceof DirectoryRefusal) return errorPage(request, 'missing');
    throw error;
  }
}

function memberIn({ id, organization, services }: Request): Member | null {
  const member = services.directory.members.find(id);
  return member !== undefined && Object.hasOwn(member.roles, organization.id) ? member : null;
}

function roleIn(sent: URLSearchParams): Role | undefined {
  return roles.find((each) => each === sent.get('role'));
}

/** Leads to the members, or first to the keys that somebody should not use any more. */
function done(request: Request, what: keyof typeof doneTexts, keys: readonly ApiKey[] = []): DashboardAnswer {
  const path = keys.length === 0 ? 'members' : `members/${request.id}/keys`;
  return redirect(viewLink(request, path, { done: what }));
}

/** The keys that a former member may know, each with the ways to roll and to stop it. */
function keysPage(request: Request): DashboardAnswer {
  const { language, organization, say } = request;
  const sayKey = sayKeys(request);
  const way = ({ mode, id }: ApiKey, action: 'roll' | 'revoke') =>
    ui.button(sayKey(action), viewLink({ ...request, mode }, `keys/${id}/${action}`), 'quiet');
  // One that was rolled already, and works until its overlap ends, can only be stopped.
  const waysOf = (key: ApiKey) =>
    html`<span class="actions">${key.rolledTo === null && way(key, 'roll')}${way(key, 'revoke')}</span>`;
  const keys = keysKnownTo(request.services.directory, organization.id, request.id);
  const columns: ui.Column<ApiKey>[] = [
    [sayKey('key'), ({ hint }) => html`<code class="whole" dir="ltr">…${hint}</code>`],
    [say('mode'), ({ mode }) => sayLayout(request)(`${mode}_mode`)],
    [sayKey('kind'), ({ kind }) => sayKey(kind)],
    [sayKey('created'), ({ created }) => ui.time(language, created * 1000)],
    [sayKey('actions'), waysOf],
  ];
  return page(request, {
    title: say('known_keys'),
    body: [
      ui.doneOf(request, doneTexts),
      html`<p>${say(keys.length === 0 ? 'known_keys_none' : 'known_keys_text')}</p>`,
      keys.length === 0 ? null : ui.table(say('known_keys'), columns, keys),
      backToMembers(request),
    ],
  });
}

function listPage(request: Request): DashboardAnswer {
  const { organization, say } = request;
  const { members, links } = request.services.directory;
  const invitations = links.invitationsOf(organization.id);
  return page(request, {
    body: [
      ui.doneOf(request, doneTexts),
      memberTable(request, members.of(organization.id)),
      invitations.length === 0 ? null : ui.section(say('invitations'), invitationTable(request, invitations)),
      mayDo(request.role, 'members.write') ? ui.section(say('invite'), invitationForm(request)) : null,
    ],
  });
}

function memberTable(request: Request, members: readonly Member[]): Html {
  const { say } = request;
  return ui.table(
    sayLayout(request)('members'),
    [
      [say('person'), ({ id, name }) => ui.linked(request, `members/${id}`, name)],
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

function invitationTable(request: Request, invitations: readonly SignInLink[]): Html {
  const { say } = request;
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
            `members/${id}/revoke`,
            html`<button class="plain">${say('invitation_revoke')}</button>`,
          ),
      ],
    ],
    invitations,
  );
}

function invitationForm(request: Request): Html {
  const { say } = request;
  const email = emailField(request, 'off');
  const body = html`<div class="pair">${email}${roleChoice(request, 'viewer')}</div>${roleList(request)}${ui.submit(say('invite'))}`;
  return ui.form(request, 'members', body);
}

function roleChoice(request: Request, value: Role, fresh?: true): Html {
  const choices = roles.map((each) => [each, sayLayout(request)(each)] as const);
  return ui.select(request, 'role', choices, { value, ...(fresh && { fresh }) });
}

function roleList({ language, say }: Request): Html {
  const items = roles.map(
    (each) => html`<div><dt>${sayLayout({ language })(each)}</dt><dd>${say(`role_${each}`)}</dd></div>`,
  );
  return html`<dl>${items}</dl>`;
}

function memberPage(request: Request, { id, name, email, roles: held }: Member): DashboardAnswer {
  const { organization, role, services } = request;
  const own = held[organization.id]!;
  const sessions = services.directory.sessions.into(id, organization.id).length;
  return page(request, {
    title: name,
    body: [
      html`<p><bdi dir="ltr">${email}</bdi></p>`,
      ...(mayDo(role, 'members.write') ? changes(request, own, sessions) : []),
    ],
  });
}

/** What an owner may change of a member. */
function changes(request: Request, role: Role, sessions: number): Html[] {
  const { id, say } = request;
  const choice = [roleChoice(request, role, true), ui.submit(say('save'), 'quiet')];
  return [
    ui.section(say('role'), ui.form(request, `members/${id}/role`, choice)),
    ui.section(say('sessions'), [
      html`<p>${say('sessions_open', { count: sessions })}</p>`,
      ui.form(request, `members/${id}/end-sessions`, ui.submit(say('session_end'), 'quiet')),
    ]),
    ui.section(say('member_remove'), [
      html`<p>${say('member_remove_text')}</p>`,
      ui.form(request, `members/${id}/remove`, ui.finalSubmit(request, say('member_remove'))),
    ]),
  ];
}
