// The pages behind links that work once: an invitation, a new password, a sign-up, and the first
// sign-in in development. A GET changes nothing, because mail programs and chats open links, too;
// the form uses the link up.

import { checkedPersonName, type Member, type Role } from '../../directory/members.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import { linkDays, type SignInLink } from '../../directory/sign-in-links.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { plainPage, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { link as linkTo } from '../layout/links.ts';
import type { Incoming } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayMails } from '../messages/mails.ts';
import { sayPeople } from '../messages/people.ts';
import { nameField, newPasswordField, passwordProblems } from './fields.ts';
import { busySeconds, type People } from './people.ts';
import { tooMany } from './sign-in.ts';
import { signUpByLink } from './sign-up.ts';
import { waitingMember } from './turns.ts';

type Invitation = SignInLink & { readonly kind: 'invitation' };

export async function showLink(incoming: Incoming, people: People, token: string): Promise<DashboardAnswer> {
  const link = findLink(people, token);
  return link === null ? goneLink(incoming) : linkPage(incoming, people, link);
}

export async function useLink(incoming: Incoming, people: People, token: string): Promise<DashboardAnswer> {
  const link = findLink(people, token);
  if (link === null) return goneLink(incoming);
  const { cookie, secFetchSite, form } = incoming;
  if (!people.guard.accepts(link.digest, cookie, secFetchSite, form)) return errorPage(incoming, 'stale');
  if (link.kind === 'sign_in') return signInByLink(incoming, people, link);
  if (link.kind === 'reset') return reset(incoming, people, link);
  if (link.kind === 'sign_up')
    return signUpByLink(incoming, people, link, (problems, status) =>
      linkPage(incoming, people, link, problems, status),
    );
  const member = people.directory.members.findByEmail(link.email);
  const isSignedIn = member !== undefined && people.memberOf(incoming)?.member.id === member.id;
  return isSignedIn ? join(incoming, people, link, member) : joinAsNew(incoming, people, link);
}

/**
 * An invitation into an organization that is not active works for nobody, nor does a sign-up where
 * none is possible any more.
 */
function findLink({ directory, isSignUpOpen }: People, token: string): SignInLink | null {
  const link = directory.links.find(token);
  if (link?.kind === 'sign_up' && !isSignUpOpen) return null;
  if (link?.kind !== 'invitation') return link;
  return directory.organization(link.org).status === 'active' ? link : null;
}

async function signInByLink(incoming: Incoming, people: People, link: SignInLink): Promise<DashboardAnswer> {
  const member = people.directory.members.findByEmail(link.email);
  if (member === undefined || !(await people.directory.links.use(link))) return goneLink(incoming);
  return redirect(linkTo(incoming, '/dashboard'), [await people.signIn(member, incoming)]);
}

async function reset(incoming: Incoming, people: People, link: SignInLink): Promise<DashboardAnswer> {
  const { members, links, sessions } = people.directory;
  const member = members.findByEmail(link.email);
  if (member === undefined) return goneLink(incoming);
  const password = incoming.form.get('password') ?? '';
  const problems = passwordProblems(incoming, password, member);
  if (Object.keys(problems).length > 0) return linkPage(incoming, people, link, problems);
  const hash = await people.passwords.hash(password, waitingMember(incoming, link.digest));
  if (hash === null) return linkPage(incoming, people, link, tooMany(incoming, busySeconds), 429);
  if (!(await links.use(link))) return goneLink(incoming);
  const changed = await people.act(member, 'member.reset-password', {}, () =>
    members.change(member.id, (each) => ({ ...each, password: hash, totp: null, recoveryCodes: [] })),
  );
  await links.endOwn(member.email);
  await sessions.endAll(member.id);
  return redirect(linkTo(incoming, '/dashboard'), [await people.signIn(changed, incoming)]);
}

/**
 * Whether the address has an account is told last, after the same work: what is wrong with the form
 * is said before, and a password that is not used takes its turn, too. It is not tried as the
 * account's, which is for the sign-in.
 */
async function joinAsNew(incoming: Incoming, people: People, link: Invitation): Promise<DashboardAnswer> {
  const say = sayPeople(incoming);
  const { members, links } = people.directory;
  const name = incoming.form.get('name') ?? '';
  const password = incoming.form.get('password') ?? '';
  const problems = {
    ...nameProblems(incoming, name),
    ...passwordProblems(incoming, password, { email: link.email, name }),
  };
  if (Object.keys(problems).length > 0) return linkPage(incoming, people, link, problems);
  const hash = await people.passwords.hash(password, waitingMember(incoming, link.digest));
  if (hash === null) return linkPage(incoming, people, link, tooMany(incoming, busySeconds), 429);
  if (members.findByEmail(link.email) !== undefined) {
    const problem = say('invitation_sign_in', { email: link.email });
    return linkPage(incoming, people, link, { '': problem });
  }
  if (!(await links.use(link))) return goneLink(incoming);
  const member = await members.create(link.email, name, hash, { [link.org]: link.role });
  const joined = { org: link.org, role: link.role };
  await people.act(member, 'member.join', joined, async () => member, link.org);
  return redirect(homeOf(incoming, link), [await people.signIn(member, incoming)]);
}

/** The member who was invited is signed in. */
async function join(
  incoming: Incoming,
  people: People,
  link: Invitation,
  invited: Member,
): Promise<DashboardAnswer> {
  const { members, links } = people.directory;
  if (!(await links.use(link))) return goneLink(incoming);
  const joined = { org: link.org, role: link.role };
  const act = () => members.setRole(invited.id, link.org, link.role);
  await people.act(invited, 'member.join', joined, act, link.org);
  return redirect(homeOf(incoming, link));
}

function homeOf(incoming: Incoming, { org }: Invitation): string {
  return linkTo(incoming, `/dashboard/${org}/test/home`);
}

export function nameProblems({ language }: Incoming, name: string): ui.Problems {
  const say = sayPeople({ language });
  try {
    checkedPersonName(name);
    return {};
  } catch (error) {
    if (!(error instanceof DirectoryRefusal)) throw error;
    return { name: say('name_invalid') };
  }
}

function linkPage(
  incoming: Incoming,
  people: People,
  link: SignInLink,
  problems: ui.Problems = {},
  status = Object.keys(problems).length === 0 ? 200 : 400,
): DashboardAnswer {
  const { address } = incoming;
  const { field: key, setCookie } = people.guard.protect(link.digest, incoming.cookie);
  const { title, text, body } = contentOf(incoming, people, link, problems);
  const action = html`<form method="post" action="${linkTo(incoming, address)}" class="sheet stack" novalidate>${key}${ui.hidden('email', link.email)}${body}</form>`;
  const isForNewMember = link.kind === 'invitation' && !isForVisitor(incoming, people, link);
  return plainPage(incoming, {
    status,
    title,
    problems,
    cookies: setCookie === null ? [] : [setCookie],
    body: [html`<p>${text}</p>`, isForNewMember ? signInToJoin(incoming) : null, action],
  });
}

/** Whether the visitor is signed in as the member who was invited. */
function isForVisitor(incoming: Incoming, people: People, { email }: Invitation): boolean {
  return people.memberOf(incoming)?.member.email === email;
}

/** The page is the same whether the address has an account or not. */
function signInToJoin(incoming: Incoming): Html {
  const say = sayPeople(incoming);
  const href = linkTo(incoming, '/dashboard/sign-in', { next: incoming.address });
  return html`<p>${say('invitation_has_account')} <a href="${href}">${say('sign_in')}</a></p>`;
}

interface LinkContent {
  readonly title: string;
  readonly text: string;
  readonly body: Html;
}

function contentOf(incoming: Incoming, people: People, link: SignInLink, problems: ui.Problems): LinkContent {
  const say = sayPeople(incoming);
  const { email } = link;
  if (link.kind === 'sign_in')
    return {
      title: say('sign_in'),
      text: say('link_sign_in_text', { email }),
      body: ui.submit(say('sign_in')),
    };
  const password = newPasswordField(incoming, problems);
  if (link.kind === 'reset')
    return {
      title: say('reset_title'),
      text: say('reset_text', { email }),
      body: html`${password}${ui.submit(say('save'))}`,
    };
  if (link.kind === 'sign_up')
    return {
      title: say('sign_up'),
      text: sayMails(incoming)('confirmed', { email, organization: link.organization }),
      body: html`${password}${ui.submit(say('sign_up'))}`,
    };
  return invitationContent(incoming, people, link, problems, password);
}

function invitationContent(
  incoming: Incoming,
  people: People,
  link: Invitation,
  problems: ui.Problems,
  password: Html,
): LinkContent {
  const say = sayPeople(incoming);
  const { email, org, role } = link;
  const organization = people.directory.organization(org).name;
  const title = say('invitation_title', { organization });
  const text = say('invitation_text', { email, role: roleName(role, incoming) });
  if (isForVisitor(incoming, people, link)) return { title, text, body: ui.submit(say('join')) };
  const name = nameField(incoming, incoming.form.get('name') ?? '', problems);
  return { title, text, body: html`${name}${password}${ui.submit(say('join'))}` };
}

function roleName(role: Role, { language }: Incoming): string {
  const say = sayLayout({ language });
  return say(role);
}

function goneLink(incoming: Incoming): DashboardAnswer {
  const say = sayPeople(incoming);
  return plainPage(incoming, {
    status: 404,
    title: say('link_missing_title'),
    body: html`<p>${say('link_missing', { days: linkDays })}</p>`,
  });
}
