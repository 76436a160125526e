// Signing up, where the configuration lets anybody: an organization with its owner and its first
// keys. Where mails are sent, nothing is made before the address is confirmed by a link, and the
// form never says whether an address has an account. Elsewhere it says so last, after the work that
// an address without one causes. An address of the network may try a few times an hour.

import { formatAmount } from '../../core/money.ts';
import { checkedEmail } from '../../directory/members.ts';
import { checkedName } from '../../directory/organization.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { SignInLink } from '../../directory/sign-in-links.ts';
import { type SignedUp, signUp } from '../../directory/sign-up.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { memberPage, plainPage, redirect } from '../layout/document.ts';
import { errorPage } from '../layout/errors.ts';
import { link } from '../layout/links.ts';
import { refused } from '../layout/row.ts';
import { sayMails } from '../messages/mails.ts';
import {
  emailField,
  guardedForm,
  newPasswordField,
  type OpenRequest,
  passwordProblems,
  problemOf,
  tooMany,
} from './fields.ts';
import { busySeconds, type People } from './people.ts';
import { mailSignUp } from './sign-up-mail.ts';
import { waitingMember, waitingStranger } from './turns.ts';

const address = '/dashboard/sign-up';

export async function showSignUp(request: OpenRequest, people: People): Promise<DashboardAnswer> {
  if (!people.isSignUpOpen) return errorPage(request, 'missing');
  return people.memberOf(request) === null
    ? signUpPage(request, people)
    : redirect(link(request, '/dashboard'));
}

export async function takeSignUp(request: OpenRequest, people: People): Promise<DashboardAnswer> {
  if (!people.isSignUpOpen) return errorPage(request, 'missing');
  if (!people.isGenuine(request, address)) return errorPage(request, 'stale');
  const { form: sent, say } = request;
  const again = (shown: OpenRequest) => signUpPage(shown, people);
  const [organization = '', email = ''] = ['organization', 'email'].map((name) =>
    (sent.get(name) ?? '').trim(),
  );
  const password = sent.get('password') ?? '';
  const problems = {
    ...problemOf('organization', say('sign_up_name_invalid'), () => checkedName(organization)),
    ...problemOf('email', say('sign_up_email_invalid'), () => checkedEmail(email)),
    ...(people.mail === null && passwordProblems(request, password, { email, name: organization })),
  };
  if (Object.keys(problems).length > 0) return again(refused(request, problems));
  const wait = people.countSignUp(request);
  if (wait !== null) return again(tooMany(request, wait));
  if (people.mail !== null) return askToConfirm(request, people, people.mail, { organization, email });
  const hash = await people.passwords.hash(password, waitingStranger(request, request.visitor.site));
  if (hash === null) return again(tooMany(request, busySeconds));
  try {
    const made = await signUp(people.directory, { organization, email, password: hash });
    return await welcome(request, people, made);
  } catch (error) {
    return again(refusedSignUp(request, error));
  }
}

/** The request with why the directory refuses. */
function refusedSignUp(request: OpenRequest, error: unknown): OpenRequest {
  if (!(error instanceof DirectoryRefusal)) throw error;
  const { say } = request;
  if (error.code === 'too_many_sign_ups') return refused(request, { '': say('sign_up_later') }, 429);
  return refused(request, { email: say('sign_up_email_taken') });
}

async function askToConfirm(
  request: OpenRequest,
  people: People,
  mail: NonNullable<People['mail']>,
  asked: { readonly organization: string; readonly email: string },
): Promise<DashboardAnswer> {
  const { directory, baseUrl } = people;
  const email = checkedEmail(asked.email);
  const organization = checkedName(asked.organization);
  try {
    await mailSignUp({ directory, baseUrl, mail, language: request.language }, { organization, email });
  } catch (error) {
    return signUpPage(refusedSignUp(request, error), people);
  }
  const say = sayMails(request);
  return plainPage(request, {
    title: say('mailed_title'),
    body: html`<p>${say('mailed', { email })}</p>`,
  });
}

/** Somebody who reads the mails of the address chooses a password, and has an organization. */
export async function signUpByLink(
  request: OpenRequest,
  people: People,
  link: SignInLink & { readonly kind: 'sign_up' },
  again: (request: OpenRequest) => DashboardAnswer,
): Promise<DashboardAnswer> {
  const { organization, email, digest } = link;
  const password = request.form.get('password') ?? '';
  const problems = passwordProblems(request, password, { email, name: organization });
  if (Object.keys(problems).length > 0) return again(refused(request, problems));
  const hash = await people.passwords.hash(password, waitingMember(request, digest));
  if (hash === null) return again(tooMany(request, busySeconds));
  try {
    // Of two who use the link at the same time, one finds the address taken.
    const made = await signUp(people.directory, { organization, email, password: hash });
    await people.directory.links.use(link);
    return await welcome(request, people, made);
  } catch (error) {
    return again(refusedSignUp(request, error));
  }
}

function signUpPage(request: OpenRequest, people: People): DashboardAnswer {
  const { say } = request;
  const organization = ui.field(request, 'sign_up_name', {
    name: 'organization',
    required: true,
    attributes: html`autocomplete="organization" maxlength="100"`,
  });
  const email = emailField(request, 'username');
  const password = people.mail === null ? newPasswordField(request) : null;
  const body = html`${organization}${email}${password}${ui.submit(say('sign_up'))}`;
  const { form, cookies } = guardedForm(request, people, address, address, body);
  return plainPage(request, {
    title: say('sign_up'),
    cookies,
    body: [
      html`<p>${say('sign_up_text')}</p>`,
      form,
      html`<p class="muted">${say('sign_up_has_account')} <a href="${link(request, '/dashboard/sign-in')}">${say('sign_in')}</a></p>`,
    ],
  });
}

/** Signs the owner in and shows the keys, this once, so there is no redirect. */
async function welcome(
  incoming: OpenRequest,
  people: People,
  { organization, owner, keys }: SignedUp,
): Promise<DashboardAnswer> {
  const { id, name } = organization;
  await people.act(owner, 'member.sign-up', { organization: id, name }, async () => owner, id);
  const { cookie, request } = await people.signInHere(owner, incoming);
  const { language, say } = request;
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
        html`<p>${say('sign_up_first_payment_text', { amount: formatAmount(firstAmount, 'mad', language) })}</p>`,
        ui.code(firstPayment(people.baseUrl, secret)),
      ]),
      html`<p>${ui.button(say('sign_up_to_dashboard'), home)} ${ui.button(say('sign_up_to_docs'), link(incoming, '/docs'), 'quiet')}</p>`,
    ],
  });
}

/** Of the payment that a new member may try, in centimes. */
const firstAmount = 12_000;

function firstPayment(baseUrl: string, key: string): string {
  return [
    `curl ${baseUrl}/v1/payment_intents \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -H "Idempotency-Key: try-$(date +%s)" \\`,
    `  -d '{"amount": ${firstAmount}, "currency": "mad"}'`,
  ].join('\n');
}
