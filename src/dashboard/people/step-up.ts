// Asks for the password again before something that needs it. The session gets another token with
// it.

import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import * as ui from '../layout/components.ts';
import { memberPage, redirect } from '../layout/document.ts';
import { link, nextAddress } from '../layout/links.ts';
import { type MemberRequest, refused } from '../layout/row.ts';
import { knownPasswordField, type OwnRequest, tooMany } from './fields.ts';
import type { People } from './people.ts';

const confirmAddress = '/dashboard/confirm';

/** Leads to the question for the password, and from there to `next`. */
export function askToConfirm(request: MemberRequest, next: string): DashboardAnswer {
  return redirect(link(request, confirmAddress, { next }));
}

export function showConfirm(request: OwnRequest): DashboardAnswer {
  return confirmPage(request, nextAddress(request.query.get('next')));
}

export async function confirm(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  const { form: sent, prefix, say, session } = request;
  const next = nextAddress(sent.get('next'));
  const tried = await people.tryPassword(request, sent.get('password') ?? '');
  if (tried === null) return confirmPage(refused(request, { password: say('wrong_password') }), next);
  if ('waitSeconds' in tried) return confirmPage(tooMany(request, tried.waitSeconds), next);
  const token = await people.directory.sessions.confirm(session);
  if (token === null) return redirect(link(request, '/dashboard/sign-in'));
  return redirect(prefix + next, [people.cookies.setSession(token)]);
}

function confirmPage(request: OwnRequest, next: string): DashboardAnswer {
  const { member, say } = request;
  const title = say('confirm_title');
  if (member.password === null) {
    const toAccount = ui.button(say('new_password'), link(request, '/dashboard/me'));
    const text = html`<p>${say('confirm_without_password')}</p>`;
    return memberPage(request, { title, body: [text, html`<p>${toAccount}</p>`] });
  }
  const password = knownPasswordField(request, 'password', 'password');
  const body = html`${ui.hidden('next', next)}<input type="hidden" name="username" autocomplete="username" value="${member.email}">${password}${ui.submit(say('continue'))}`;
  return memberPage(request, {
    title,
    body: [
      html`<p>${say('confirm_text')}</p>`,
      ui.form(request, confirmAddress, body, { className: 'sheet stack' }),
    ],
  });
}
