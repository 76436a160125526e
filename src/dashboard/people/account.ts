// The member's own account: name, password, the authenticator app with its recovery codes, and the sessions.

import { checkedPersonName } from '../../directory/members.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { qrCode } from '../../html/qr-code.ts';
import type { Incoming } from '../incoming.ts';
import {
  badge,
  button,
  code,
  copyable,
  definitions,
  doneOf,
  errorSummary,
  field,
  finalSubmit,
  form,
  hidden,
  type Problems,
  section,
  submit,
  table,
  time,
} from '../layout/components.ts';
import { memberPage, redirect } from '../layout/document.ts';
import { link } from '../layout/links.ts';
import type { MemberContext } from '../layout/row.ts';
import { type PeopleMessage, sayPeople } from '../messages/people.ts';
import { nameProblems, newPasswordField, passwordProblems } from './link-pages.ts';
import { hashPassword, passwordCharactersMax } from './password.ts';
import { busySeconds, type People } from './people.ts';
import { newRecoveryCodes, newSecret, openSecret, stepOf } from './second-step.ts';
import { tooMany } from './sign-in.ts';

const address = '/dashboard/me';
const doneTexts = {
  name: 'name_saved',
  password: 'password_saved',
  two_step: 'two_step_off',
  sessions: 'sessions_ended',
} as const;

export async function showAccount(context: MemberContext, people: People): Promise<DashboardAnswer> {
  return accountPage(context, people);
}

export async function saveName(
  context: MemberContext,
  people: People,
  incoming: Incoming,
): Promise<DashboardAnswer> {
  const name = context.form.get('name') ?? '';
  const problems = nameProblems(incoming, name);
  if (Object.keys(problems).length > 0) return accountPage(context, people, 400, problems);
  await change(context, people, 'member.rename', (member) => ({ ...member, name: checkedPersonName(name) }));
  return done(context, 'name');
}

/** A new password ends all other sessions: whoever knew the old one is signed out. */
export async function savePassword(
  context: MemberContext,
  people: People,
  incoming: Incoming,
): Promise<DashboardAnswer> {
  const { member, session, language, form: sent } = context;
  const password = sent.get('password') ?? '';
  const weak = passwordProblems(context, password, member);
  if (Object.keys(weak).length > 0) return accountPage(context, people, 400, weak);
  if (member.password !== null) {
    const tried = await people.tryPassword(incoming, context, sent.get('current') ?? '');
    if (tried === null)
      return accountPage(context, people, 400, { current: sayPeople('wrong_password', language) });
    if ('waitSeconds' in tried)
      return accountPage(context, people, 429, tooMany(incoming, tried.waitSeconds));
  }
  const hash = await hashPassword(password, { kind: 'member', who: member.id, gone: incoming.gone });
  if (hash === null) return accountPage(context, people, 429, tooMany(incoming, busySeconds));
  await change(context, people, 'member.change-password', (each) => ({ ...each, password: hash }));
  await people.directory.links.endOwn(member.email);
  await people.directory.sessions.endAll(member.id, session.id);
  const token = await people.directory.sessions.confirm(session);
  return done(context, 'password', token === null ? [] : [people.cookies.setSession(token)]);
}

export async function showTwoStep(context: MemberContext, people: People): Promise<DashboardAnswer> {
  return secretPage(context, newSecret(people, context.member));
}

/** The app counts once a code of it was given. The recovery codes are shown this once, so there is no redirect. */
export async function turnTwoStepOn(context: MemberContext, people: People): Promise<DashboardAnswer> {
  const { member, language, form: sent } = context;
  const secret = openSecret(people, member, sent.get('secret') ?? '');
  if (secret === null) return redirect(link(context, `${address}/two-step`));
  const typed = (sent.get('code') ?? '').replace(/\s/g, '');
  const usedStep = /^\d{6}$/.test(typed) ? stepOf(people, member, secret.sealed, typed) : null;
  if (usedStep === null) return secretPage(context, secret, { code: sayPeople('wrong_code', language) });
  const { texts, digests } = newRecoveryCodes();
  await change(context, people, 'member.two-step-on', (each) => ({
    ...each,
    totp: { sealed: secret.sealed, usedStep },
    recoveryCodes: digests,
  }));
  return codesPage(context, texts);
}

export async function turnTwoStepOff(context: MemberContext, people: People): Promise<DashboardAnswer> {
  await change(context, people, 'member.two-step-off', (each) => ({
    ...each,
    totp: null,
    recoveryCodes: [],
  }));
  return done(context, 'two_step');
}

export async function renewRecoveryCodes(context: MemberContext, people: People): Promise<DashboardAnswer> {
  const { texts, digests } = newRecoveryCodes();
  await change(context, people, 'member.recovery-codes', (each) => ({ ...each, recoveryCodes: digests }));
  return codesPage(context, texts);
}

/** Ends the session that the form names, or all others. */
export async function endSessions(context: MemberContext, people: People): Promise<DashboardAnswer> {
  const { member, session, form: sent } = context;
  const { sessions } = people.directory;
  const named = sent.get('session');
  await people.act(member, 'member.end-sessions', {}, async () => {
    if (named === null) await sessions.endAll(member.id, session.id);
    else await sessions.end(member.id, named);
  });
  return done(context, 'sessions');
}

async function change(
  { member }: MemberContext,
  people: People,
  action: string,
  rule: Parameters<People['directory']['members']['change']>[1],
): Promise<void> {
  await people.act(member, action, {}, () => people.directory.members.change(member.id, rule));
}

function done(
  context: MemberContext,
  what: keyof typeof doneTexts,
  cookies: readonly string[] = [],
): DashboardAnswer {
  return redirect(link(context, address, { done: what }), cookies);
}

function accountPage(
  context: MemberContext,
  people: People,
  status = 200,
  problems: Problems = {},
): DashboardAnswer {
  const { language } = context;
  return memberPage(context, {
    status,
    title: sayPeople('account_title', language),
    alert: errorSummary(language, problems),
    body: [
      doneOf(context, doneTexts, sayPeople),
      nameSection(context, problems),
      passwordSection(context, problems),
      twoStepSection(context),
      sessionsSection(context, people),
    ],
  });
}

function nameSection(context: MemberContext, problems: Problems): Html {
  const { language, member, form: sent } = context;
  const name = field({
    name: 'name',
    label: sayPeople('name', language),
    value: sent.get('name') ?? member.name,
    problems,
    required: true,
    attributes: html`autocomplete="name" maxlength="100"`,
  });
  const email = definitions([[sayPeople('email', language), html`<bdi dir="ltr">${member.email}</bdi>`]]);
  const body = html`${email}${form(context, link(context, `${address}/name`), html`${name}${submit(sayPeople('save', language), 'quiet')}`)}`;
  return section(sayPeople('you', language), body);
}

function passwordSection(context: MemberContext, problems: Problems): Html {
  const { language, member } = context;
  const current =
    member.password === null
      ? null
      : field({
          name: 'current',
          label: sayPeople('current_password', language),
          type: 'password',
          problems,
          required: true,
          ltr: true,
          attributes: html`autocomplete="current-password" maxlength="${passwordCharactersMax}"`,
        });
  const body = html`${current}${newPasswordField(context, problems)}${submit(sayPeople('save', language), 'quiet')}`;
  return section(sayPeople('password', language), form(context, link(context, `${address}/password`), body));
}

function twoStepSection(context: MemberContext): Html {
  const { language, member } = context;
  const say = (key: PeopleMessage, values = {}) => sayPeople(key, language, values);
  const on = link(context, `${address}/two-step`);
  if (member.totp === null)
    return section(say('two_step'), [
      html`<p>${say('two_step_text')}</p>`,
      html`<p>${button(say('two_step_turn_on'), on, 'quiet')}</p>`,
    ]);
  return section(say('two_step'), [
    html`<p>${badge(say('two_step_is_on'), 'good')} ${say('recovery_codes_left', { count: member.recoveryCodes.length })}</p>`,
    form(context, link(context, `${address}/recovery-codes`), submit(say('recovery_codes_new'), 'quiet')),
    form(context, link(context, `${address}/two-step/off`), finalSubmit(context, say('two_step_turn_off'))),
  ]);
}

function sessionsSection(context: MemberContext, people: People): Html {
  const { language, member, session: own } = context;
  const say = (key: PeopleMessage) => sayPeople(key, language);
  const action = link(context, `${address}/sessions`);
  const sessions = people.directory.sessions.of(member.id);
  const list = table(
    say('sessions'),
    [
      { heading: say('session_opened'), cell: ({ createdMs }) => time(language, createdMs) },
      { heading: say('session_used'), cell: ({ usedMs }) => time(language, usedMs) },
      { heading: say('session_from'), cell: ({ address: from }) => html`<bdi dir="ltr">${from}</bdi>` },
      {
        heading: say('session_end'),
        cell: ({ id }) =>
          id === own.id
            ? badge(say('session_this'))
            : form(
                context,
                action,
                html`${hidden('session', id)}<button class="plain">${say('session_end')}</button>`,
              ),
      },
    ],
    sessions,
  );
  const others =
    sessions.length > 1 ? form(context, action, submit(say('sessions_end_others'), 'quiet')) : null;
  return section(say('sessions'), html`${list}${others}`);
}

function secretPage(
  context: MemberContext,
  secret: ReturnType<typeof newSecret>,
  problems: Problems = {},
): DashboardAnswer {
  const { language } = context;
  const say = (key: PeopleMessage) => sayPeople(key, language);
  const typed = field({
    name: 'code',
    label: say('code'),
    problems,
    required: true,
    ltr: true,
    attributes: html`autocomplete="one-time-code" inputmode="numeric" maxlength="12"`,
  });
  return memberPage(context, {
    status: Object.keys(problems).length === 0 ? 200 : 400,
    title: say('two_step_turn_on'),
    alert: errorSummary(language, problems),
    body: [
      html`<p>${say('two_step_scan')}</p>`,
      html`<div class="sheet stack">${qrCode(secret.uri, say('two_step_qr'))}<p>${copyable(context, secret.text)}</p></div>`,
      form(
        context,
        link(context, `${address}/two-step`),
        html`${hidden('secret', secret.sealed)}${typed}${submit(say('continue'))}`,
        { className: 'sheet stack' },
      ),
    ],
  });
}

function codesPage(context: MemberContext, texts: readonly string[]): DashboardAnswer {
  const { language } = context;
  return memberPage(context, {
    title: sayPeople('recovery_codes', language),
    body: [
      html`<p>${sayPeople('recovery_codes_text', language)}</p>`,
      code(texts.join('\n')),
      html`<p>${button(sayPeople('continue', language), link(context, address))}</p>`,
    ],
  });
}
