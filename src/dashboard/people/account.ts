// The member's own account: name, password, the authenticator app with its recovery codes, and the
// sessions.

import { languages } from '../../contract/vocabulary.ts';
import { checkedPersonName } from '../../directory/members.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { languageNames } from '../../html/language-links.ts';
import { qrCode } from '../../html/qr-code.ts';
import type { MemberAction } from '../../operator/audit/audit-actions.ts';
import * as ui from '../layout/components.ts';
import { memberPage, redirect } from '../layout/document.ts';
import { link } from '../layout/links.ts';
import type { MemberRequest } from '../layout/row.ts';
import { sayMails } from '../messages/mails.ts';
import { sayPeople } from '../messages/people.ts';
import { knownPasswordField, nameField, newPasswordField, passwordProblems } from './fields.ts';
import { nameProblems } from './link-pages.ts';
import { busySeconds, type People } from './people.ts';
import { newRecoveryCodes, newSecret, openSecret, stepOf } from './second-step.ts';
import { tooMany } from './sign-in.ts';
import { waitingMember } from './turns.ts';

const address = '/dashboard/me';
const doneTexts = {
  name: 'name_saved',
  password: 'password_saved',
  two_step: 'two_step_off',
  sessions: 'sessions_ended',
  notices: 'notices_saved',
} as const;

export async function showAccount(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  return accountPage(request, people);
}

export async function saveName(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  const name = request.form.get('name') ?? '';
  const problems = nameProblems(request, name);
  if (Object.keys(problems).length > 0) return accountPage(request, people, 400, problems);
  await change(request, people, 'member.rename', (member) => ({ ...member, name: checkedPersonName(name) }));
  return done(request, 'name');
}

export async function saveNotices(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  const wanted = request.form.get('wanted') !== null;
  const language = languages.find((each) => each === request.form.get('language')) ?? request.language;
  await change(request, people, 'member.notices', (member) => ({ ...member, notices: { wanted, language } }));
  return done(request, 'notices');
}

/** A new password ends all other sessions: whoever knew the old one is signed out. */
export async function savePassword(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  const { member, session, form: sent } = request;
  const say = sayPeople(request);
  const password = sent.get('password') ?? '';
  const weak = passwordProblems(request, password, member);
  if (Object.keys(weak).length > 0) return accountPage(request, people, 400, weak);
  if (member.password !== null) {
    const tried = await people.tryPassword(request, sent.get('current') ?? '');
    if (tried === null) return accountPage(request, people, 400, { current: say('wrong_password') });
    if ('waitSeconds' in tried) return accountPage(request, people, 429, tooMany(request, tried.waitSeconds));
  }
  const hash = await people.passwords.hash(password, waitingMember(request, member.id));
  if (hash === null) return accountPage(request, people, 429, tooMany(request, busySeconds));
  await change(request, people, 'member.change-password', (each) => ({ ...each, password: hash }));
  await people.directory.links.endOwn(member.email);
  await people.directory.sessions.endAll(member.id, session.id);
  const token = await people.directory.sessions.confirm(session);
  return done(request, 'password', token === null ? [] : [people.cookies.setSession(token)]);
}

export async function showTwoStep(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  return secretPage(request, newSecret(people, request.member));
}

/**
 * The app counts once a code of it was given. The recovery codes are shown this once, so there is
 * no redirect.
 */
export async function turnTwoStepOn(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  const { member, form: sent } = request;
  const say = sayPeople(request);
  const secret = openSecret(people, member, sent.get('secret') ?? '');
  if (secret === null) return redirect(link(request, `${address}/two-step`));
  const typed = (sent.get('code') ?? '').replace(/\s/g, '');
  const usedStep = /^\d{6}$/.test(typed) ? stepOf(people, member, secret.sealed, typed) : null;
  if (usedStep === null) return secretPage(request, secret, { code: say('wrong_code') });
  const { texts, digests } = newRecoveryCodes();
  await change(request, people, 'member.two-step-on', (each) => ({
    ...each,
    totp: { sealed: secret.sealed, usedStep },
    recoveryCodes: digests,
  }));
  return codesPage(request, texts);
}

export async function turnTwoStepOff(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  await change(request, people, 'member.two-step-off', (each) => ({
    ...each,
    totp: null,
    recoveryCodes: [],
  }));
  return done(request, 'two_step');
}

export async function renewRecoveryCodes(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  const { texts, digests } = newRecoveryCodes();
  await change(request, people, 'member.recovery-codes', (each) => ({ ...each, recoveryCodes: digests }));
  return codesPage(request, texts);
}

/** Ends the session that the form names, or all others. */
export async function endSessions(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  const { member, session, form: sent } = request;
  const { sessions } = people.directory;
  const named = sent.get('session');
  await people.act(member, 'member.end-sessions', {}, async () => {
    if (named === null) await sessions.endAll(member.id, session.id);
    else await sessions.end(member.id, named);
  });
  return done(request, 'sessions');
}

async function change(
  { member }: MemberRequest,
  people: People,
  action: MemberAction,
  rule: Parameters<People['directory']['members']['change']>[1],
): Promise<void> {
  await people.act(member, action, {}, () => people.directory.members.change(member.id, rule));
}

function done(
  request: MemberRequest,
  what: keyof typeof doneTexts,
  cookies: readonly string[] = [],
): DashboardAnswer {
  return redirect(link(request, address, { done: what }), cookies);
}

function accountPage(
  request: MemberRequest,
  people: People,
  status = 200,
  problems: ui.Problems = {},
): DashboardAnswer {
  const say = sayPeople(request);
  return memberPage(request, {
    status,
    title: say('account_title'),
    problems,
    body: [
      ui.doneOf(request, doneTexts, say),
      nameSection(request, problems),
      passwordSection(request, problems),
      people.mail === null ? null : noticesSection(request),
      twoStepSection(request),
      sessionsSection(request, people),
    ],
  });
}

function nameSection(request: MemberRequest, problems: ui.Problems): Html {
  const { member, form: sent } = request;
  const say = sayPeople(request);
  const name = nameField(request, sent.get('name') ?? member.name, problems);
  const email = ui.definitions([[say('email'), html`<bdi dir="ltr">${member.email}</bdi>`]]);
  const body = html`${email}${ui.form(request, link(request, `${address}/name`), html`${name}${ui.submit(say('save'), 'quiet')}`)}`;
  return ui.section(say('you'), body);
}

function noticesSection(request: MemberRequest): Html {
  const { language, member } = request;
  const say = sayMails(request);
  const { notices, roles } = member;
  const wanted = ui.checkbox({
    name: 'wanted',
    label: say('notices_wanted'),
    checked: notices?.wanted ?? Object.values(roles).includes('owner'),
  });
  const chosen = ui.select({
    name: 'language',
    label: say('notices_language'),
    value: notices?.language ?? language,
    choices: languages.map((each) => [each, languageNames[each]]),
  });
  const form = ui.form(
    request,
    link(request, `${address}/notices`),
    html`${wanted}${chosen}${ui.submit(sayPeople(request)('save'), 'quiet')}`,
  );
  return ui.section(say('notices'), html`<p>${say('notices_text')}</p>${form}`);
}

function passwordSection(request: MemberRequest, problems: ui.Problems): Html {
  const say = sayPeople(request);
  const current =
    request.member.password === null
      ? null
      : knownPasswordField('current', say('current_password'), problems);
  const body = html`${current}${newPasswordField(request, problems)}${ui.submit(say('save'), 'quiet')}`;
  return ui.section(say('password'), ui.form(request, link(request, `${address}/password`), body));
}

function twoStepSection(request: MemberRequest): Html {
  const { member } = request;
  const say = sayPeople(request);
  const on = link(request, `${address}/two-step`);
  if (member.totp === null)
    return ui.section(say('two_step'), [
      html`<p>${say('two_step_text')}</p>`,
      html`<p>${ui.button(say('two_step_turn_on'), on, 'quiet')}</p>`,
    ]);
  return ui.section(say('two_step'), [
    html`<p>${ui.badge(say('two_step_is_on'), 'good')} ${say('recovery_codes_left', { count: member.recoveryCodes.length })}</p>`,
    ui.form(
      request,
      link(request, `${address}/recovery-codes`),
      ui.submit(say('recovery_codes_new'), 'quiet'),
    ),
    ui.form(
      request,
      link(request, `${address}/two-step/off`),
      ui.finalSubmit(request, say('two_step_turn_off')),
    ),
  ]);
}

function sessionsSection(request: MemberRequest, people: People): Html {
  const { language, member, session: own } = request;
  const say = sayPeople(request);
  const action = link(request, `${address}/sessions`);
  const sessions = people.directory.sessions.of(member.id);
  const list = ui.table(
    say('sessions'),
    [
      [say('session_opened'), ({ createdMs }) => ui.time(language, createdMs)],
      [say('session_used'), ({ usedMs }) => ui.time(language, usedMs)],
      [say('session_from'), ({ address: from }) => html`<bdi dir="ltr">${from}</bdi>`],
      [
        say('session_end'),
        ({ id }) =>
          id === own.id
            ? ui.badge(say('session_this'))
            : ui.form(
                request,
                action,
                html`${ui.hidden('session', id)}<button class="plain">${say('session_end')}</button>`,
              ),
      ],
    ],
    sessions,
  );
  const others =
    sessions.length > 1 ? ui.form(request, action, ui.submit(say('sessions_end_others'), 'quiet')) : null;
  return ui.section(say('sessions'), html`${list}${others}`);
}

function secretPage(
  request: MemberRequest,
  secret: ReturnType<typeof newSecret>,
  problems: ui.Problems = {},
): DashboardAnswer {
  const say = sayPeople(request);
  const typed = ui.field({
    name: 'code',
    label: say('code'),
    problems,
    required: true,
    ltr: true,
    attributes: html`autocomplete="one-time-code" inputmode="numeric" maxlength="12"`,
  });
  return memberPage(request, {
    status: Object.keys(problems).length === 0 ? 200 : 400,
    title: say('two_step_turn_on'),
    problems,
    body: [
      html`<p>${say('two_step_scan')}</p>`,
      html`<div class="sheet stack">${qrCode(secret.uri, say('two_step_qr'))}<p>${ui.copyable(request, secret.text)}</p></div>`,
      ui.form(
        request,
        link(request, `${address}/two-step`),
        html`${ui.hidden('secret', secret.sealed)}${typed}${ui.submit(say('continue'))}`,
        { className: 'sheet stack' },
      ),
    ],
  });
}

function codesPage(request: MemberRequest, texts: readonly string[]): DashboardAnswer {
  const say = sayPeople(request);
  return memberPage(request, {
    title: say('recovery_codes'),
    body: [
      html`<p>${say('recovery_codes_text')}</p>`,
      ui.code(texts.join('\n')),
      html`<p>${ui.button(say('continue'), link(request, address))}</p>`,
    ],
  });
}
