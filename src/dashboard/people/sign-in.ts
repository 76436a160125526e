// Signing in: the e-mail address with the password, then a code where the member has an
// authenticator app. What takes place between the two steps is in the second form, sealed, so that
// nothing has to be remembered for a stranger.

import { digestOf } from '../../directory/api-key.ts';
import type { Member } from '../../directory/members.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import { lockIcon } from '../../html/marks.ts';
import * as ui from '../layout/components.ts';
import { plainPage, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { link, nextAddress } from '../layout/links.ts';
import { refused } from '../layout/row.ts';
import { emailField, guardedForm, knownPasswordField, type OpenRequest, tooMany } from './fields.ts';
import { type People, untried } from './people.ts';
import { isCode } from './second-step.ts';
import { waitingStranger } from './turns.ts';

const address = '/dashboard/sign-in';
const codeAddress = '/dashboard/sign-in/code';
/** The time between the two steps. */
const pendingMs = 5 * 60_000;
const pendingOwner = { id: 'sign-in', org: '' };

interface Pending {
  readonly member: string;
  /** Tells whether the password was changed meanwhile. */
  readonly password: string;
  readonly untilMs: number;
  readonly next: string;
}

export async function showSignIn(request: OpenRequest, people: People): Promise<DashboardAnswer> {
  const next = nextAddress(request.query.get('next'));
  return people.memberOf(request) === null || request.query.has('again')
    ? signInPage(request, people, next)
    : redirect(request.prefix + next);
}

export async function signIn(request: OpenRequest, people: People): Promise<DashboardAnswer> {
  const { form: sent, prefix, say, visitor } = request;
  if (!people.isGenuine(request, address)) return errorPage(request, 'stale');
  const next = nextAddress(sent.get('next'));
  const email = sent.get('email') ?? '';
  const tried = await people.tryGuess(request, `password ${email.trim().toLowerCase()}`, async () => {
    const member = people.directory.members.findByEmail(email) ?? null;
    const waiter = waitingStranger(request, visitor.site);
    const stored = member?.password ?? null;
    const isRight = await people.passwords.isRight(sent.get('password') ?? '', stored, waiter);
    return isRight === null ? untried : isRight ? member : null;
  });
  if (tried === null) return signInPage(refused(request, { '': say('wrong_sign_in') }), people, next);
  if ('waitSeconds' in tried) return signInPage(tooMany(request, tried.waitSeconds), people, next);
  const member = tried.right;
  if (member.totp !== null) return codePage(request, people, sealPending(people, member, next));
  return redirect(prefix + next, await people.signIn(member, request));
}

export async function signInWithCode(request: OpenRequest, people: People): Promise<DashboardAnswer> {
  const { form: sent, prefix, say } = request;
  if (!people.isGenuine(request, codeAddress)) return errorPage(request, 'stale');
  const sealed = sent.get('pending') ?? '';
  const pending = openPending(people, sealed);
  if (pending === null) return redirect(link(request, address));
  const { member, next } = pending;
  const tried = await people.tryGuess(request, `code ${member.id}`, () =>
    isCode(people, member, sent.get('code') ?? ''),
  );
  if (tried === null) return codePage(refused(request, { code: say('wrong_code') }), people, sealed);
  if ('waitSeconds' in tried) return codePage(tooMany(request, tried.waitSeconds), people, sealed);
  // The password was tried in the first step.
  return redirect(prefix + next, await people.signIn(member, request));
}

function signInPage(request: OpenRequest, people: People, next: string): DashboardAnswer {
  const { say } = request;
  const email = emailField(request, 'username');
  const { form, cookies } = guardedForm(
    request,
    people,
    address,
    address,
    html`${ui.hidden('next', next)}
${email}
${knownPasswordField(request, 'password', 'password')}
${ui.submit(say('sign_in'))}
<p class="safe muted">${lockIcon}<span>${say('check_address')} <bdi dir="ltr">${people.baseUrl}</bdi></span></p>`,
  );
  return plainPage(request, {
    title: say('sign_in'),
    cookies,
    body: [
      form,
      people.isSignUpOpen
        ? html`<p class="muted">${say('no_account_yet')} <a href="${link(request, '/dashboard/sign-up')}">${say('sign_up')}</a></p>`
        : html`<p class="muted">${say('no_account')}</p>`,
      html`<p class="muted">${say('lost_password')}</p>`,
    ],
  });
}

function codePage(request: OpenRequest, people: People, sealed: string): DashboardAnswer {
  const { say } = request;
  const code = ui.field(request, 'code', {
    fresh: true,
    hint: say('code_hint'),
    required: true,
    ltr: true,
    attributes: html`autocomplete="one-time-code" maxlength="40" autocapitalize="off" spellcheck="false"`,
  });
  const body = html`${ui.hidden('pending', sealed)}
${code}${ui.submit(say('continue'))}`;
  const { form, cookies } = guardedForm(request, people, codeAddress, codeAddress, body);
  return plainPage(request, { title: say('code_title'), cookies, body: form });
}

function sealPending(people: People, { id, password }: Member, next: string): string {
  const untilMs = people.directory.store.now() + pendingMs;
  const pending: Pending = { member: id, password: passwordMark(password), untilMs, next };
  return people.secrets.seal(JSON.stringify(pending), pendingOwner);
}

/** The member that signs in by a form of the second step; null when it is too old or not ours. */
function openPending(people: People, sealed: string): { member: Member; next: string } | null {
  try {
    const pending = JSON.parse(people.secrets.open(sealed, pendingOwner)) as Pending;
    const member = people.directory.members.find(pending.member);
    const isValid =
      member !== undefined &&
      pending.untilMs > people.directory.store.now() &&
      pending.password === passwordMark(member.password);
    return isValid ? { member, next: pending.next } : null;
  } catch {
    return null;
  }
}

function passwordMark(password: Member['password']): string {
  return password === null ? '' : digestOf(password.hash);
}
