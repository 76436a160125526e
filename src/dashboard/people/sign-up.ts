// Signing up, where the configuration lets anybody: an organization with its owner and its first
// keys. Where mails are sent, nothing is made before the address is confirmed by a link, and the
// form never says whether an address has an account. Elsewhere it says so last, after the work that
// an address without one causes. An address of the network may try a few times an hour.

import { checkedEmail } from '../../directory/members.ts';
import { checkedName } from '../../directory/organization.ts';
import { DirectoryRefusal, type RefusalCode } from '../../directory/refusal.ts';
import type { SignInLink } from '../../directory/sign-in-links.ts';
import { type SignedUp, signUp } from '../../directory/sign-up.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { memberPage, plainPage, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { link } from '../layout/links.ts';
import type { Incoming } from '../layout/row.ts';
import { sayMails } from '../messages/mails.ts';
import { sayPeople } from '../messages/people.ts';
import { newPasswordField, passwordProblems } from './fields.ts';
import { busySeconds, type People } from './people.ts';
import { tooMany } from './sign-in.ts';
import { mailSignUp } from './sign-up-mail.ts';
import { waitingMember, waitingStranger } from './turns.ts';

const address = '/dashboard/sign-up';

export async function showSignUp(incoming: Incoming, people: People): Promise<DashboardAnswer> {
  if (!people.isSignUpOpen) return errorPage(incoming, 'missing');
  return people.memberOf(incoming) === null
    ? signUpPage(incoming, people)
    : redirect(link(incoming, '/dashboard'));
}

export async function takeSignUp(incoming: Incoming, people: People): Promise<DashboardAnswer> {
  if (!people.isSignUpOpen) return errorPage(incoming, 'missing');
  const { cookie, secFetchSite, form } = incoming;
  if (!people.guard.accepts(address, cookie, secFetchSite, form)) return errorPage(incoming, 'stale');
  const [organization, email, password] = [
    field(form, 'organization'),
    field(form, 'email'),
    form.get('password') ?? '',
  ];
  const problems = {
    ...problemOf(incoming, 'organization', () => checkedName(organization)),
    ...problemOf(incoming, 'email', () => checkedEmail(email)),
    ...(people.mail === null && passwordProblems(incoming, password, { email, name: organization })),
  };
  if (Object.keys(problems).length > 0) return signUpPage(incoming, people, problems);
  const wait = people.countSignUp(incoming);
  if (wait !== null) return signUpPage(incoming, people, tooMany(incoming, wait), 429);
  if (people.mail !== null) return askToConfirm(incoming, people, people.mail, { organization, email });
  const hash = await people.passwords.hash(password, waitingStranger(incoming, incoming.visitor.site));
  if (hash === null) return signUpPage(incoming, people, tooMany(incoming, busySeconds), 429);
  try {
    const made = await signUp(people.directory, { organization, email, password: hash });
    return await welcome(incoming, people, made);
  } catch (error) {
    return refused(incoming, error, (problems, status) => signUpPage(incoming, people, problems, status));
  }
}

type Again = (problems: ui.Problems, status?: number) => DashboardAnswer;

/** The form once more, with why the directory refuses. */
function refused(incoming: Incoming, error: unknown, again: Again): DashboardAnswer {
  if (!(error instanceof DirectoryRefusal)) throw error;
  return again(problemFor(incoming, error.code), error.code === 'too_many_sign_ups' ? 429 : 400);
}

async function askToConfirm(
  incoming: Incoming,
  people: People,
  mail: NonNullable<People['mail']>,
  asked: { readonly organization: string; readonly email: string },
): Promise<DashboardAnswer> {
  const email = checkedEmail(asked.email);
  const organization = checkedName(asked.organization);
  const { language } = incoming;
  try {
    await mailSignUp(
      { directory: people.directory, baseUrl: people.baseUrl, mail, language },
      { organization, email },
    );
  } catch (error) {
    return refused(incoming, error, (problems, status) => signUpPage(incoming, people, problems, status));
  }
  const say = sayMails(incoming);
  return plainPage(incoming, {
    title: say('mailed_title'),
    body: html`<p>${say('mailed', { email })}</p>`,
  });
}

/** Somebody who reads the mails of the address chooses a password, and has an organization. */
export async function signUpByLink(
  incoming: Incoming,
  people: People,
  link: SignInLink & { readonly kind: 'sign_up' },
  again: Again,
): Promise<DashboardAnswer> {
  const { organization, email, digest } = link;
  const password = incoming.form.get('password') ?? '';
  const problems = passwordProblems(incoming, password, { email, name: organization });
  if (Object.keys(problems).length > 0) return again(problems);
  const hash = await people.passwords.hash(password, waitingMember(incoming, digest));
  if (hash === null) return again(tooMany(incoming, busySeconds), 429);
  try {
    // Of two who use the link at the same time, one finds the address taken.
    const made = await signUp(people.directory, { organization, email, password: hash });
    await people.directory.links.use(link);
    return await welcome(incoming, people, made);
  } catch (error) {
    return refused(incoming, error, again);
  }
}

function field(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}

/** What the directory has against the value of a field. */
function problemOf(incoming: Incoming, name: string, check: () => void): ui.Problems {
  const say = sayPeople(incoming);
  try {
    check();
    return {};
  } catch (error) {
    if (!(error instanceof DirectoryRefusal)) throw error;
    return { [name]: say(name === 'email' ? 'sign_up_email_invalid' : 'sign_up_name_invalid') };
  }
}

function problemFor(incoming: Incoming, code: RefusalCode | null): ui.Problems {
  const say = sayPeople(incoming);
  if (code === 'too_many_sign_ups') return { '': say('sign_up_later') };
  return { email: say('sign_up_email_taken') };
}

function signUpPage(
  incoming: Incoming,
  people: People,
  problems: ui.Problems = {},
  status = Object.keys(problems).length === 0 ? 200 : 400,
): DashboardAnswer {
  const { form } = incoming;
  const say = sayPeople(incoming);
  const { field: key, setCookie } = people.guard.protect(address, incoming.cookie);
  const organization = ui.field({
    name: 'organization',
    label: say('sign_up_name'),
    value: form.get('organization') ?? '',
    problems,
    required: true,
    attributes: html`autocomplete="organization" maxlength="100"`,
  });
  const email = ui.field({
    name: 'email',
    label: say('email'),
    type: 'email',
    value: form.get('email') ?? '',
    problems,
    required: true,
    ltr: true,
    attributes: html`autocomplete="username" maxlength="254"`,
  });
  const body = html`${key}${organization}${email}${people.mail === null ? newPasswordField(incoming, problems) : null}${ui.submit(say('sign_up'))}`;
  return plainPage(incoming, {
    status,
    title: say('sign_up'),
    problems,
    cookies: setCookie === null ? [] : [setCookie],
    body: [
      html`<p>${say('sign_up_text')}</p>`,
      html`<form method="post" action="${link(incoming, address)}" class="sheet stack" novalidate>${body}</form>`,
      html`<p class="muted">${say('sign_up_has_account')} <a href="${link(incoming, '/dashboard/sign-in')}">${say('sign_in')}</a></p>`,
    ],
  });
}

/** Signs the owner in and shows the keys, this once, so there is no redirect. */
async function welcome(
  incoming: Incoming,
  people: People,
  { organization, owner, keys }: SignedUp,
): Promise<DashboardAnswer> {
  const { id, name } = organization;
  await people.act(owner, 'member.sign-up', { organization: id, name }, async () => owner, id);
  const { cookie, request } = await people.signInHere(owner, incoming);
  const say = sayPeople(incoming);
  const { secret, publishable } = keys.test;
  const home = link(incoming, `/dashboard/${id}/test/home`);
  return memberPage(request, {
    title: say('sign_up_done_title', { organization: name }),
    cookies: [cookie],
    body: [
      html`<div class="notice warn"><p>${say('sign_up_keys_text')}</p></div>`,
      ui.definitions([
        [say('sign_up_secret_key'), ui.copyable(request, secret)],
        [say('sign_up_publishable_key'), ui.copyable(request, publishable)],
      ]),
      ui.section(say('sign_up_first_payment'), [
        html`<p>${say('sign_up_first_payment_text')}</p>`,
        ui.code(firstPayment(people.baseUrl, secret)),
      ]),
      html`<p>${ui.button(say('sign_up_to_dashboard'), home)} ${ui.button(say('sign_up_to_docs'), link(incoming, '/docs'), 'quiet')}</p>`,
    ],
  });
}

function firstPayment(baseUrl: string, key: string): string {
  return [
    `curl ${baseUrl}/v1/payment_intents \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -H "Idempotency-Key: try-$(date +%s)" \\`,
    `  -d '{"amount": 12000, "currency": "mad"}'`,
  ].join('\n');
}
