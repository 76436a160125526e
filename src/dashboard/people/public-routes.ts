// The addresses of the dashboard that belong to no organization: signing in and out, links, the
// password again, and the account.

import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { html } from '../../html/html.ts';
import { memberPage, redirect } from '../layout/document.ts';
import { errorPage, methodPage } from '../layout/errors.ts';
import { homeLink, link } from '../layout/links.ts';
import type { Incoming } from '../layout/row.ts';
import { sayPeople } from '../messages/people.ts';
import {
  endSessions,
  renewRecoveryCodes,
  saveName,
  saveNotices,
  savePassword,
  showAccount,
  showTwoStep,
  turnTwoStepOff,
  turnTwoStepOn,
} from './account.ts';
import type { OpenRequest, OwnRequest } from './fields.ts';
import { showLink, useLink } from './link-pages.ts';
import { isSessionOver, type People } from './people.ts';
import { showSignIn, signIn, signInWithCode } from './sign-in.ts';
import { showSignUp, takeSignUp } from './sign-up.ts';
import { askToConfirm, confirm, showConfirm } from './step-up.ts';

/** For anybody; `token` is the last segment of the address of a link. */
type Open = (request: OpenRequest, people: People, token: string) => Promise<DashboardAnswer>;
/** For members who are signed in. The key of a form is checked before. */
type Own = (request: OwnRequest, people: People) => DashboardAnswer | Promise<DashboardAnswer>;

interface PublicRoute {
  readonly method: 'GET' | 'POST';
  /** Below `/dashboard`; `{token}` matches one segment. */
  readonly path: string;
  readonly open?: Open;
  readonly own?: Own;
  /** Needs the password again if it was given a while ago. */
  readonly stepUp?: true;
}

export const publicRoutes: readonly PublicRoute[] = [
  { method: 'GET', path: '', own: toFirstOrganization },
  { method: 'GET', path: '/sign-in', open: showSignIn },
  { method: 'POST', path: '/sign-in', open: signIn },
  { method: 'POST', path: '/sign-in/code', open: signInWithCode },
  { method: 'GET', path: '/sign-up', open: showSignUp },
  { method: 'POST', path: '/sign-up', open: takeSignUp },
  { method: 'POST', path: '/sign-out', own: signOut },
  { method: 'GET', path: '/invite/{token}', open: showLink },
  { method: 'POST', path: '/invite/{token}', open: useLink },
  { method: 'GET', path: '/confirm', own: showConfirm },
  { method: 'POST', path: '/confirm', own: confirm },
  { method: 'GET', path: '/me', own: showAccount },
  { method: 'POST', path: '/me/name', own: saveName },
  { method: 'POST', path: '/me/notices', own: saveNotices },
  { method: 'POST', path: '/me/password', own: savePassword },
  { method: 'GET', path: '/me/two-step', own: showTwoStep, stepUp: true },
  { method: 'POST', path: '/me/two-step', own: turnTwoStepOn, stepUp: true },
  { method: 'POST', path: '/me/two-step/off', own: turnTwoStepOff, stepUp: true },
  { method: 'POST', path: '/me/recovery-codes', own: renewRecoveryCodes, stepUp: true },
  { method: 'POST', path: '/me/sessions', own: endSessions },
];

/** Whether a form may be posted to one of these addresses. */
export function takesPublicForms(address: string): boolean {
  return fittingRoutes(address).some(({ method }) => method === 'POST');
}

/** The answer of one of these addresses; null for an address of an organization. */
export function answerPublicRoute(incoming: Incoming, people: People): Promise<DashboardAnswer> | null {
  const path = incoming.address.slice('/dashboard'.length);
  const method = incoming.method === 'POST' ? 'POST' : 'GET';
  const fitting = fittingRoutes(incoming.address);
  if (fitting.length === 0) return null;
  const route = fitting.find((each) => each.method === method);
  if (route === undefined) {
    // The language links on the answer to a form lead to the form's address, which answers no GET.
    const page = link(incoming, fitting[0]!.own ? '/dashboard/me' : '/dashboard/sign-in');
    return Promise.resolve(method === 'GET' ? redirect(page) : methodPage(incoming));
  }
  const request = { ...incoming, say: sayPeople(incoming) };
  if (route.open !== undefined) return route.open(request, people, path.split('/').at(-1)!);
  return enter(route, request, people);
}

async function enter(
  { own, method, path, stepUp }: PublicRoute,
  incoming: OpenRequest,
  people: People,
): Promise<DashboardAnswer> {
  const request = people.memberOf(incoming);
  if (request === null) return toSignIn(incoming);
  if (method === 'POST' && !people.isOwnForm(request)) return errorPage(incoming, 'stale');
  if (stepUp && !people.isConfirmed(request.session))
    return askToConfirm(request, `/dashboard${method === 'POST' ? '/me' : path}`);
  try {
    return await own!(request, people);
  } catch (error) {
    if (isSessionOver(error)) return toSignIn(incoming);
    throw error;
  }
}

function fittingRoutes(address: string): readonly PublicRoute[] {
  return publicRoutes.filter(({ path }) => fits(path, address.slice('/dashboard'.length)));
}

function fits(pattern: string, path: string): boolean {
  if (!pattern.endsWith('{token}')) return pattern === path;
  const start = pattern.slice(0, -'{token}'.length);
  return path.startsWith(start) && /^[\w-]{1,100}$/.test(path.slice(start.length));
}

/**
 * Leads a stranger to the sign-in, and from there back to what was asked for, or to the page of a
 * form that came too late; those of the account go on to the dashboard. `again`: also somebody who
 * is signed in, whose session may not enter an organization any more.
 */
export function toSignIn(incoming: Incoming, again = false): DashboardAnswer {
  const { method, address, query } = incoming;
  const isLost = method === 'POST' && fittingRoutes(address).length > 0;
  const asked = isLost ? '' : link({ prefix: '' }, address, Object.fromEntries(query));
  const next = asked === '/dashboard' ? '' : asked;
  return redirect(link(incoming, '/dashboard/sign-in', { next, again: again ? 'yes' : '' }));
}

function toFirstOrganization(request: OwnRequest, people: People): DashboardAnswer {
  const { organizations, say } = request;
  const [first] = organizations;
  if (first === undefined)
    return memberPage(request, {
      title: say('no_organization_title'),
      body: html`<p>${say('no_organization')}</p>`,
    });
  return redirect(homeLink(request, people.directory.organization(first.id)));
}

async function signOut(request: OwnRequest, people: People): Promise<DashboardAnswer> {
  const { member, session } = request;
  await people.act(member, 'member.sign-out', {}, () => people.directory.sessions.end(member.id, session.id));
  return redirect(link(request, '/dashboard/sign-in'), [people.cookies.clearSession()]);
}
