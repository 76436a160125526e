// The member's own account: name, password, whether mails come, the authenticator app with its
// recovery codes, and the sessions.

import { languages } from '../../contract/vocabulary.ts';
import type { Ending } from '../../directory/directory-store.ts';
import { checkedPersonName, type Member } from '../../directory/members.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { languageNames } from '../../html/language-links.ts';
import { qrCode } from '../../html/qr-code.ts';
import type { MemberAction } from '../../operator/audit/audit-actions.ts';
import * as ui from '../layout/components.ts';
import { memberPage, redirect } from '../layout/document.ts';
import { link } from '../layout/links.ts';
import { refused } from '../layout/row.ts';
import { sayMails } from '../messages/mails.ts';
import {
  knownPasswordField,
  nameField,
  nameProblems,
  newPasswordField,
  type OwnRequest,
  passwordProblems,
  tooMany,
} from './fields.ts';
import { busySeconds, type People } from './people.ts';
import { newRecoveryCodes, newSecret, openSecret, stepOf, typedCode } from './second-step.ts';
import { waitingMember } from './turns.ts';

const address = '/dashboard/me';
const doneTexts = {
  name: 'name_saved',
  password: 'password_saved',
  two_step: 'two_step_off',
  sessions: 'sessions_ended',
  notices: 'notices_saved',
} as const;

export async function saveName(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  const name = request.form.get('name') ?? '';
  const problems = nameProblems(request, name);
  if (Object.keys(problems).length > 0) return showAccount(refused(request, problems), people);
  await change(request, people, 'member.rename', { name: checkedPersonName(name) });
  return done(request, 'name');
}

export async function saveNotices(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  const wanted = request.form.get('wanted') !== null;
  const language = languages.find((each) => each === request.form.get('language')) ?? request.language;
  await change(request, people, 'member.notices', { notices: { wanted, language } });
  return done(request, 'notices');
}

/** A new password ends all other sessions: whoever knew the old one is signed out. */
export async function savePassword(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  const { member, session, form: sent, say } = request;
  const again = (shown: OwnRequest) => showAccount(shown, people);
  const password = sent.get('password') ?? '';
  const weak = passwordProblems(request, password, member);
  if (Object.keys(weak).length > 0) return again(refused(request, weak));
  if (member.password !== null) {
    const tried = await people.tryPassword(request, sent.get('current') ?? '');
    if (tried === null) return again(refused(request, { current: say('wrong_password') }));
    if ('waitSeconds' in tried) return again(tooMany(request, tried.waitSeconds));
  }
  const hash = await people.passwords.hash(password, waitingMember(request, member.id));
  if (hash === null) return again(tooMany(request, busySeconds));
  const { links, sessions } = people.directory;
  const endings = () => [links.endingOwn(member.email), sessions.ending(member.id, session)];
  await change(request, people, 'member.change-password', { password: hash }, endings);
  const token = await sessions.confirm(session);
  return done(request, 'password', token === null ? [] : [people.cookies.setSession(token)]);
}

export function showTwoStep(request: OwnRequest, people: People): DashboardAnswer {
  return secretPage(request, newSecret(people, request.member));
}

/** A right code switches the app on. Its recovery codes are shown this once: no redirect. */
export async function turnTwoStepOn(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  const { member, form: sent, say } = request;
  const secret = openSecret(people, member, sent.get('secret') ?? '');
  if (secret === null) return redirect(link(request, `${address}/two-step`));
  const typed = typedCode(sent.get('code') ?? '');
  const usedStep = /^\d{6}$/.test(typed) ? stepOf(people, member, secret.sealed, typed) : null;
  if (usedStep === null) return secretPage(refused(request, { code: say('wrong_code') }), secret);
  const { texts, digests } = newRecoveryCodes();
  const totp = { sealed: secret.sealed, usedStep };
  await change(request, people, 'member.two-step-on', { totp, recoveryCodes: digests });
  return codesPage(request, texts);
}

export async function turnTwoStepOff(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  await change(request, people, 'member.two-step-off', { totp: null, recoveryCodes: [] });
  return done(request, 'two_step');
}

export async function renewRecoveryCodes(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  const { texts, digests } = newRecoveryCodes();
  await change(request, people, 'member.recovery-codes', { recoveryCodes: digests });
  return codesPage(request, texts);
}

/** Ends the session that the form names, or all others. */
export async function endSessions(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  const { member, session, form: sent } = request;
  const { sessions } = people.directory;
  const named = sent.get('session');
  await people.act(member, 'member.end-sessions', {}, async () => {
    if (named === null) await sessions.endOthers(session);
    else await sessions.end(member.id, named);
  });
  return done(request, 'sessions');
}

/**
 * Changes the member, unless the session has ended, or the password is another one, since the
 * request came: who knew the old password may do nothing with it any more.
 */
async function change(
  { member, session }: OwnRequest,
  people: People,
  action: MemberAction,
  changed: Partial<Member>,
  endings?: () => readonly Ending[],
): Promise<void> {
  const { members, sessions } = people.directory;
  const rule = (each: Member) => {
    if (people.hasSamePassword(member) && sessions.isOpen(session)) return { ...each, ...changed };
    throw new DirectoryRefusal('the session has ended meanwhile', 'session_over');
  };
  await people.act(member, action, {}, () => members.change(member.id, rule, endings));
}

function done(
  request: OwnRequest,
  what: keyof typeof doneTexts,
  cookies: readonly string[] = [],
): DashboardAnswer {
  return redirect(link(request, address, { done: what }), cookies);
}

export function showAccount(request: OwnRequest, people: People): DashboardAnswer {
  return memberPage(request, {
    title: request.say('account_title'),
    body: [
      ui.doneOf(request, doneTexts),
      nameSection(request),
      passwordSection(request),
      people.mail === null ? null : noticesSection(request),
      twoStepSection(request),
      sessionsSection(request, people),
    ],
  });
}

function nameSection(request: OwnRequest): Html {
  const { member, say } = request;
  const email = ui.definitions([[say('email'), html`<bdi dir="ltr">${member.email}</bdi>`]]);
  const fields = [nameField(request, member.name), ui.submit(say('save'), 'quiet')];
  return ui.section(say('you'), [email, ui.form(request, `${address}/name`, fields)]);
}

function noticesSection(request: OwnRequest): Html {
  const { language, member, say: sayOwn } = request;
  const say = sayMails(request);
  const { notices, roles } = member;
  const isWanted = notices?.wanted ?? Object.values(roles).includes('owner');
  const named = languages.map((each) => [each, languageNames[each]] as const);
  const form = ui.form(request, `${address}/notices`, [
    ui.checkbox('wanted', say('notices_wanted'), isWanted),
    ui.select({ ...request, say }, 'notices_language', named, {
      name: 'language',
      value: notices?.language ?? language,
    }),
    ui.submit(sayOwn('save'), 'quiet'),
  ]);
  return ui.section(say('notices'), [html`<p>${say('notices_text')}</p>`, form]);
}

function passwordSection(request: OwnRequest): Html {
  const { member, say } = request;
  const current =
    member.password === null ? [] : [knownPasswordField(request, 'current_password', 'current')];
  const fields = [...current, newPasswordField(request), ui.submit(say('save'), 'quiet')];
  return ui.section(say('password'), ui.form(request, `${address}/password`, fields));
}

function twoStepSection(request: OwnRequest): Html {
  const { member, say } = request;
  const on = link(request, `${address}/two-step`);
  if (member.totp === null)
    return ui.section(say('two_step'), [
      html`<p>${say('two_step_text')}</p>`,
      html`<p>${ui.button(say('two_step_turn_on'), on, 'quiet')}</p>`,
    ]);
  return ui.section(say('two_step'), [
    html`<p>${ui.badge(say('two_step_is_on'), 'good')} ${say('recovery_codes_left', { count: member.recoveryCodes.length })}</p>`,
    ui.form(request, `${address}/recovery-codes`, ui.submit(say('recovery_codes_new'), 'quiet')),
    ui.form(request, `${address}/two-step/off`, ui.finalSubmit(request, say('two_step_turn_off'))),
  ]);
}

function sessionsSection(request: OwnRequest, people: People): Html {
  const { language, member, session: own, say } = request;
  const path = `${address}/sessions`;
  const sessions = people.directory.sessions.of(member.id);
  const ending = (id: string) =>
    ui.form(
      request,
      path,
      html`${ui.hidden('session', id)}<button class="plain">${say('session_end')}</button>`,
    );
  const list = ui.table(
    say('sessions'),
    [
      [say('session_opened'), ({ createdMs }) => ui.time(language, createdMs)],
      [say('session_used'), ({ usedMs }) => ui.time(language, usedMs)],
      [say('session_from'), ({ address: from }) => html`<bdi dir="ltr">${from}</bdi>`],
      [say('session_end'), ({ id }) => (id === own.id ? ui.badge(say('session_this')) : ending(id))],
    ],
    sessions,
  );
  const others =
    sessions.length > 1 ? [ui.form(request, path, ui.submit(say('sessions_end_others'), 'quiet'))] : [];
  return ui.section(say('sessions'), [list, ...others]);
}

function secretPage(request: OwnRequest, secret: ReturnType<typeof newSecret>): DashboardAnswer {
  const { say } = request;
  const code = ui.field(request, 'code', {
    fresh: true,
    required: true,
    ltr: true,
    attributes: html`autocomplete="one-time-code" inputmode="numeric" maxlength="12"`,
  });
  const fields = [ui.hidden('secret', secret.sealed), code, ui.submit(say('continue'))];
  return memberPage(request, {
    title: say('two_step_turn_on'),
    body: [
      html`<p>${say('two_step_scan')}</p>`,
      html`<div class="sheet stack">${qrCode(secret.uri, say('two_step_qr'))}<p>${ui.copyable(request, secret.text)}</p></div>`,
      ui.form(request, `${address}/two-step`, fields, { className: 'sheet stack' }),
    ],
  });
}

function codesPage(request: OwnRequest, texts: readonly string[]): DashboardAnswer {
  const { say } = request;
  return memberPage(request, {
    title: say('recovery_codes'),
    body: [
      html`<p>${say('recovery_codes_text')}</p>`,
      ui.code(texts.join('\n')),
      html`<p>${ui.button(say('continue'), link(request, address))}</p>`,
    ],
  });
}
