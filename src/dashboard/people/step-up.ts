// Asks for the password again before something that needs it. The session gets another token with
// it.

import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { memberPage, redirect } from '../layout/document.ts';
import { link, nextAddress } from '../layout/links.ts';
import type { MemberRequest } from '../layout/row.ts';
import { sayPeople } from '../messages/people.ts';
import { knownPasswordField } from './fields.ts';
import type { People } from './people.ts';
import { tooMany } from './sign-in.ts';

const confirmAddress = '/dashboard/confirm';

/** Leads to the question for the password, and from there to `next`. */
export function askToConfirm(request: MemberRequest, next: string): DashboardAnswer {
  return redirect(link(request, confirmAddress, { next }));
}

export async function showConfirm(request: MemberRequest): Promise<DashboardAnswer> {
  return confirmPage(request, nextAddress(request.query.get('next')));
}

export async function confirm(request: MemberRequest, people: People): Promise<DashboardAnswer> {
  const say = sayPeople(request);
  const next = nextAddress(request.form.get('next'));
  const password = request.form.get('password') ?? '';
  const tried = await people.tryPassword(request, password);
  if (tried === null) return confirmPage(request, next, 400, { password: say('wrong_password') });
  if ('waitSeconds' in tried) return confirmPage(request, next, 429, tooMany(request, tried.waitSeconds));
  const token = await people.directory.sessions.confirm(request.session);
  if (token === null) return redirect(link(request, '/dashboard/sign-in'));
  return redirect(request.prefix + next, [people.cookies.setSession(token)]);
}

function confirmPage(
  request: MemberRequest,
  next: string,
  status = 200,
  problems: ui.Problems = {},
): DashboardAnswer {
  const { member } = request;
  const say = sayPeople(request);
  const title = say('confirm_title');
  if (member.password === null) {
    const toAccount = ui.button(say('new_password'), link(request, '/dashboard/me'));
    const text = html`<p>${say('confirm_without_password')}</p>`;
    return memberPage(request, { title, body: [text, html`<p>${toAccount}</p>`] });
  }
  const password = knownPasswordField('password', say('password'), problems);
  const body = html`${ui.hidden('next', next)}<input type="hidden" name="username" autocomplete="username" value="${member.email}">${password}${ui.submit(say('continue'))}`;
  return memberPage(request, {
    status,
    title,
    problems,
    body: [
      html`<p>${say('confirm_text')}</p>`,
      ui.form(request, link(request, confirmAddress), body, { className: 'sheet stack' }),
    ],
  });
}
