// Asks for the password again before something that needs it. The session gets another token with it.

import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import type { Incoming } from '../incoming.ts';
import { button, errorSummary, field, form, hidden, type Problems, submit } from '../layout/components.ts';
import { memberPage, redirect } from '../layout/document.ts';
import { link, nextAddress } from '../layout/links.ts';
import type { MemberContext } from '../layout/row.ts';
import { sayPeople } from '../messages/people.ts';
import { passwordCharactersMax } from './password.ts';
import type { People } from './people.ts';
import { tooMany } from './sign-in.ts';

export const confirmAddress = '/dashboard/confirm';

/** Leads to the question for the password, and from there to `next`. */
export function askToConfirm(context: MemberContext, next: string): DashboardAnswer {
  return redirect(link(context, confirmAddress, { next }));
}

export async function showConfirm(context: MemberContext): Promise<DashboardAnswer> {
  return confirmPage(context, nextAddress(context.query.get('next')));
}

export async function confirm(
  context: MemberContext,
  people: People,
  incoming: Incoming,
): Promise<DashboardAnswer> {
  const { session, language } = context;
  const next = nextAddress(context.form.get('next'));
  const password = context.form.get('password') ?? '';
  const tried = await people.tryPassword(incoming, context, password);
  if (tried === null)
    return confirmPage(context, next, 400, { password: sayPeople('wrong_password', language) });
  if ('waitSeconds' in tried) return confirmPage(context, next, 429, tooMany(incoming, tried.waitSeconds));
  const token = await people.directory.sessions.confirm(session);
  if (token === null) return redirect(link(context, '/dashboard/sign-in'));
  return redirect(context.prefix + next, [people.cookies.setSession(token)]);
}

function confirmPage(
  context: MemberContext,
  next: string,
  status = 200,
  problems: Problems = {},
): DashboardAnswer {
  const { language, member } = context;
  const title = sayPeople('confirm_title', language);
  if (member.password === null) {
    const toAccount = button(sayPeople('new_password', language), link(context, '/dashboard/me'));
    const text = html`<p>${sayPeople('confirm_without_password', language)}</p>`;
    return memberPage(context, { title, body: [text, html`<p>${toAccount}</p>`] });
  }
  const password = field({
    name: 'password',
    label: sayPeople('password', language),
    type: 'password',
    problems,
    required: true,
    ltr: true,
    attributes: html`autocomplete="current-password" maxlength="${passwordCharactersMax}"`,
  });
  const body = html`${hidden('next', next)}<input type="hidden" name="username" autocomplete="username" value="${member.email}">${password}${submit(sayPeople('continue', language))}`;
  return memberPage(context, {
    status,
    title,
    alert: errorSummary(language, problems),
    body: [
      html`<p>${sayPeople('confirm_text', language)}</p>`,
      form(context, link(context, confirmAddress), body, { className: 'sheet stack' }),
    ],
  });
}
