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
import type { Incoming } from '../layout/row.ts';
import { sayPeople } from '../messages/people.ts';
import { knownPasswordField } from './fields.ts';
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

export async function showSignIn(incoming: Incoming, people: People): Promise<DashboardAnswer> {
  const next = nextAddress(incoming.query.get('next'));
  return people.memberOf(incoming) === null || incoming.query.has('again')
    ? signInPage(incoming, people, next)
    : redirect(incoming.prefix + next);
}

export async function signIn(incoming: Incoming, people: People): Promise<DashboardAnswer> {
  const { form, prefix } = incoming;
  const say = sayPeople(incoming);
  if (!isGenuine(incoming, people, address)) return errorPage(incoming, 'stale');
  const next = nextAddress(form.get('next'));
  const email = form.get('email') ?? '';
  const tried = await people.tryGuess(incoming, `password ${email.trim().toLowerCase()}`, async () => {
    const member = people.directory.members.findByEmail(email) ?? null;
    const waiter = waitingStranger(incoming, incoming.visitor.site);
    const isRight = await people.passwords.isRight(
      form.get('password') ?? '',
      member?.password ?? null,
      waiter,
    );
    return isRight === null ? untried : isRight ? member : null;
  });
  if (tried === null) return signInPage(incoming, people, next, 400, { '': say('wrong_sign_in') });
  if ('waitSeconds' in tried)
    return signInPage(incoming, people, next, 429, tooMany(incoming, tried.waitSeconds));
  const member = tried.right;
  if (member.totp !== null) return codePage(incoming, people, sealPending(people, member, next));
  return redirect(prefix + next, [await people.signIn(member, incoming)]);
}

export async function signInWithCode(incoming: Incoming, people: People): Promise<DashboardAnswer> {
  const { form, prefix } = incoming;
  const say = sayPeople(incoming);
  if (!isGenuine(incoming, people, codeAddress)) return errorPage(incoming, 'stale');
  const sealed = form.get('pending') ?? '';
  const pending = openPending(people, sealed);
  if (pending === null) return redirect(link(incoming, address));
  const { member, next } = pending;
  const tried = await people.tryGuess(incoming, `code ${member.id}`, () =>
    isCode(people, member, form.get('code') ?? ''),
  );
  if (tried === null) return codePage(incoming, people, sealed, 400, { code: say('wrong_code') });
  if ('waitSeconds' in tried)
    return codePage(incoming, people, sealed, 429, tooMany(incoming, tried.waitSeconds));
  return redirect(prefix + next, [await people.signIn(tried.right, incoming)]);
}

function isGenuine({ cookie, secFetchSite, form }: Incoming, people: People, id: string): boolean {
  return people.guard.accepts(id, cookie, secFetchSite, form);
}

export function tooMany({ language }: Pick<Incoming, 'language'>, waitSeconds: number): ui.Problems {
  const say = sayPeople({ language });
  const text =
    waitSeconds > 60
      ? say('too_many_attempts', { minutes: Math.ceil(waitSeconds / 60) })
      : say('too_many_attempts_now', { seconds: waitSeconds });
  return { '': text };
}

function signInPage(
  incoming: Incoming,
  people: People,
  next: string,
  status = 200,
  problems: ui.Problems = {},
): DashboardAnswer {
  const { form } = incoming;
  const say = sayPeople(incoming);
  const { field: key, setCookie } = people.guard.protect(address, incoming.cookie);
  return plainPage(incoming, {
    status,
    title: say('sign_in'),
    problems,
    cookies: setCookie === null ? [] : [setCookie],
    body: [
      html`<form method="post" action="${link(incoming, address)}" class="sheet stack" novalidate>${key}${ui.hidden('next', next)}
${ui.field({ name: 'email', label: say('email'), type: 'email', value: form.get('email') ?? '', required: true, ltr: true, attributes: html`autocomplete="username" maxlength="254"` })}
${knownPasswordField('password', say('password'), {})}
${ui.submit(say('sign_in'))}
<p class="safe muted">${lockIcon}<span>${say('check_address')} <bdi dir="ltr">${people.baseUrl}</bdi></span></p></form>`,
      people.isSignUpOpen
        ? html`<p class="muted">${say('no_account_yet')} <a href="${link(incoming, '/dashboard/sign-up')}">${say('sign_up')}</a></p>`
        : html`<p class="muted">${say('no_account')}</p>`,
      html`<p class="muted">${say('lost_password')}</p>`,
    ],
  });
}

function codePage(
  incoming: Incoming,
  people: People,
  sealed: string,
  status = 200,
  problems: ui.Problems = {},
): DashboardAnswer {
  const say = sayPeople(incoming);
  const { field: key } = people.guard.protect(codeAddress, incoming.cookie);
  return plainPage(incoming, {
    status,
    title: say('code_title'),
    problems,
    body: html`<form method="post" action="${link(incoming, codeAddress)}" class="sheet stack" novalidate>${key}${ui.hidden('pending', sealed)}
${codeField(incoming, problems)}${ui.submit(say('continue'))}</form>`,
  });
}

function codeField({ language }: Incoming, problems: ui.Problems) {
  const say = sayPeople({ language });
  return ui.field({
    name: 'code',
    label: say('code'),
    hint: say('code_hint'),
    problems,
    required: true,
    ltr: true,
    attributes: html`autocomplete="one-time-code" maxlength="40" autocapitalize="off" spellcheck="false"`,
  });
}

function sealPending(people: People, { id, password }: Member, next: string): string {
  const untilMs = people.directory.store.now() + pendingMs;
  const pending: Pending = { member: id, password: passwordMark(password), untilMs, next };
  return people.secrets.seal(JSON.stringify(pending), pendingOwner);
}

/**
 * The member that a form between the two steps is about; null when it is too old, or not one of
 * ours.
 */
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
