// The pages behind links that work once: an invitation, a new password, a sign-up, and the first
// sign-in in development. A GET changes nothing, because mail programs and chats open links, too;
// the form uses the link up.

import type { Member } from '../../directory/members.ts';
import { linkDays, type SignInLink } from '../../directory/sign-in-links.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { plainPage, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { homeLink, link as linkTo } from '../layout/links.ts';
import { refused } from '../layout/row.ts';
import { sayLayout } from '../messages/layout.ts';
import { sayMails } from '../messages/mails.ts';
import {
  guardedForm,
  nameField,
  nameProblems,
  newPasswordField,
  type OpenRequest,
  passwordProblems,
  tooMany,
} from './fields.ts';
import { busySeconds, type People } from './people.ts';
import { signUpByLink } from './sign-up.ts';
import { waitingMember } from './turns.ts';

type Invitation = SignInLink & { readonly kind: 'invitation' };

export async function showLink(
  request: OpenRequest,
  people: People,
  token: string,
): Promise<DashboardAnswer> {
  const link = findLink(people, token);
  return link === null ? goneLink(request) : linkPage(request, people, link);
}

export async function useLink(request: OpenRequest, people: People, token: string): Promise<DashboardAnswer> {
  const link = findLink(people, token);
  if (link === null) return goneLink(request);
  if (!people.isGenuine(request, link.digest)) return errorPage(request, 'stale');
  if (link.kind === 'sign_in') return signInByLink(request, people, link);
  if (link.kind === 'reset') return reset(request, people, link);
  if (link.kind === 'sign_up')
    return signUpByLink(request, people, link, (shown) => linkPage(shown, people, link));
  const member = people.directory.members.findByEmail(link.email);
  const isSignedIn = member !== undefined && people.memberOf(request)?.member.id === member.id;
  return isSignedIn ? join(request, people, link, member) : joinAsNew(request, people, link);
}

/** The link, unless its organization is not active or sign-up is not possible any more. */
function findLink({ directory, isSignUpOpen }: People, token: string): SignInLink | null {
  const link = directory.links.find(token);
  if (link?.kind === 'sign_up' && !isSignUpOpen) return null;
  if (link?.kind !== 'invitation') return link;
  return directory.organization(link.org).status === 'active' ? link : null;
}

async function signInByLink(
  request: OpenRequest,
  people: People,
  link: SignInLink,
): Promise<DashboardAnswer> {
  const member = people.directory.members.findByEmail(link.email);
  if (member === undefined || !(await people.directory.links.use(link))) return goneLink(request);
  return redirect(linkTo(request, '/dashboard'), await people.signIn(member, request));
}

async function reset(request: OpenRequest, people: People, link: SignInLink): Promise<DashboardAnswer> {
  const { members, links, sessions } = people.directory;
  const member = members.findByEmail(link.email);
  if (member === undefined) return goneLink(request);
  const password = request.form.get('password') ?? '';
  const problems = passwordProblems(request, password, member);
  if (Object.keys(problems).length > 0) return linkPage(refused(request, problems), people, link);
  const hash = await people.passwords.hash(password, waitingMember(request, link.digest));
  if (hash === null) return linkPage(tooMany(request, busySeconds), people, link);
  if (!(await links.use(link))) return goneLink(request);
  const rule = (each: Member): Member => ({ ...each, password: hash, totp: null, recoveryCodes: [] });
  const endings = () => [links.endingOwn(member.email), sessions.ending(member.id)];
  const changed = await people.act(member, 'member.reset-password', {}, () =>
    members.change(member.id, rule, endings),
  );
  return redirect(linkTo(request, '/dashboard'), await people.signIn(changed, request));
}

/**
 * Whether the address has an account is told last, after the same work: what is wrong with the form
 * is said before, and a password that is not used takes its turn, too. It is not tried as the
 * account's, which is for the sign-in.
 */
async function joinAsNew(request: OpenRequest, people: People, link: Invitation): Promise<DashboardAnswer> {
  const { form: sent, say } = request;
  const { members, links } = people.directory;
  const name = sent.get('name') ?? '';
  const password = sent.get('password') ?? '';
  const problems = {
    ...nameProblems(request, name),
    ...passwordProblems(request, password, { email: link.email, name }),
  };
  if (Object.keys(problems).length > 0) return linkPage(refused(request, problems), people, link);
  const hash = await people.passwords.hash(password, waitingMember(request, link.digest));
  if (hash === null) return linkPage(tooMany(request, busySeconds), people, link);
  if (members.findByEmail(link.email) !== undefined) {
    const problem = say('invitation_sign_in', { email: link.email });
    return linkPage(refused(request, { '': problem }), people, link);
  }
  if (!(await links.use(link))) return goneLink(request);
  const member = await members.create(link.email, name, hash, { [link.org]: link.role });
  const joined = { org: link.org, role: link.role };
  await people.act(member, 'member.join', joined, async () => member, link.org);
  return redirect(
    homeLink(request, people.directory.organization(link.org)),
    await people.signIn(member, request),
  );
}

/** The member who was invited is signed in. */
async function join(
  request: OpenRequest,
  people: People,
  link: Invitation,
  invited: Member,
): Promise<DashboardAnswer> {
  const { members, links } = people.directory;
  if (!(await links.use(link))) return goneLink(request);
  const joined = { org: link.org, role: link.role };
  const act = () => members.join(invited.id, link.org, link.role);
  await people.act(invited, 'member.join', joined, act, link.org);
  return redirect(homeLink(request, people.directory.organization(link.org)));
}

function linkPage(request: OpenRequest, people: People, link: SignInLink): DashboardAnswer {
  const { title, text, body } = contentOf(request, people, link);
  const fields = html`${ui.hidden('email', link.email)}${body}`;
  const { form, cookies } = guardedForm(request, people, link.digest, request.address, fields);
  const isForNewMember = link.kind === 'invitation' && !isForVisitor(request, people, link);
  return plainPage(request, {
    title,
    cookies,
    body: [html`<p>${text}</p>`, isForNewMember ? signInToJoin(request) : null, form],
  });
}

/** Whether the visitor is signed in as the member who was invited. */
function isForVisitor(request: OpenRequest, people: People, { email }: Invitation): boolean {
  return people.memberOf(request)?.member.email === email;
}

/** The page is the same whether the address has an account or not. */
function signInToJoin(request: OpenRequest): Html {
  const { address, say } = request;
  const href = linkTo(request, '/dashboard/sign-in', { next: address });
  return html`<p>${say('invitation_has_account')} <a href="${href}">${say('sign_in')}</a></p>`;
}

interface LinkContent {
  readonly title: string;
  readonly text: string;
  readonly body: Html;
}

function contentOf(request: OpenRequest, people: People, link: SignInLink): LinkContent {
  const { say } = request;
  const { email } = link;
  const password = newPasswordField(request);
  switch (link.kind) {
    case 'sign_in':
      return {
        title: say('sign_in'),
        text: say('link_sign_in_text', { email }),
        body: ui.submit(say('sign_in')),
      };
    case 'reset':
      return {
        title: say('reset_title'),
        text: say('reset_text', { email }),
        body: html`${password}${ui.submit(say('save'))}`,
      };
    case 'sign_up':
      return {
        title: say('sign_up'),
        text: sayMails(request)('confirmed', { email, organization: link.organization }),
        body: html`${password}${ui.submit(say('sign_up'))}`,
      };
    case 'invitation': {
      const organization = people.directory.organization(link.org).name;
      const fields = isForVisitor(request, people, link) ? null : html`${nameField(request)}${password}`;
      return {
        title: say('invitation_title', { organization }),
        text: say('invitation_text', { email, role: sayLayout(request)(link.role) }),
        body: html`${fields}${ui.submit(say('join'))}`,
      };
    }
  }
}

function goneLink(request: OpenRequest): DashboardAnswer {
  const { say } = request;
  return plainPage(request, {
    status: 404,
    title: say('link_missing_title'),
    body: html`<p>${say('link_missing', { days: linkDays })}</p>`,
  });
}
