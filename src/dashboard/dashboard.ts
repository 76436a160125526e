// The dashboard: takes a visit from an edge, finds out who it is and what they may do, and lets the row of the table answer.
// Everything that a row can rely on is checked here, in this order: session, organization, route, mode, role, form, password.

import { languages, type Mode, modes } from '../contract/vocabulary.ts';
import { mayEnter } from '../directory/sessions.ts';
import type { DashboardAnswer, DashboardRequest, Visited } from '../edge/dashboard/dashboard-port.ts';
import { createClientAddressText } from '../edge/http/client-address.ts';
import { createVisitorOf } from '../edge/http/visitors.ts';
import type { OperatorServices } from '../operator/use-cases/services.ts';
import { createDesk } from './desk.ts';
import { type Incoming, readIncoming } from './incoming.ts';
import { redirect } from './layout/document.ts';
import { errorPage, forbiddenPage } from './layout/errors.ts';
import { link, roomLink } from './layout/links.ts';
import { logoAt } from './layout/logos.ts';
import type { Visit } from './layout/row.ts';
import { matchRow, pageOfForm, roomsOf } from './layout/table.ts';
import { Searches } from './pages/searches.ts';
import { setLanguage } from './people/cookies.ts';
import { entranceOf, toSignIn } from './people/entrance.ts';
import { People, type PeopleOptions } from './people/people.ts';
import { mayDo } from './people/roles.ts';
import { askToConfirm } from './people/step-up.ts';

export interface DashboardOptions extends Omit<PeopleOptions, 'directory' | 'secrets' | 'secure'> {
  readonly services: Omit<OperatorServices, 'author' | 'language'>;
  /** The public address of the service, without a final slash. */
  readonly baseUrl: string;
  readonly trustedProxies: readonly string[];
  /** Called with what a handler threw, and the id of the visit's request. */
  readonly onError: (error: unknown, requestId: string) => void;
}

const methods = ['GET', 'HEAD', 'POST'];

/** Answers one visit. Rejects only if the visit can't even be read. */
export type AnswerVisit = (request: DashboardRequest, gone: AbortSignal) => Promise<Visited>;

export function createDashboard(options: DashboardOptions): AnswerVisit {
  const { services, audit, baseUrl, onError } = options;
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const { directory, secrets } = services;
  const people = new People({ ...options, directory, secrets, secure: base.protocol === 'https:' });
  const searches = new Searches(services.now, options.monotonic);
  const addressOf = createClientAddressText(options.trustedProxies);
  const visitorOf = createVisitorOf(options.trustedProxies);

  async function answer(incoming: Incoming): Promise<DashboardAnswer> {
    const { method, query, address } = incoming;
    if (!methods.includes(method)) return errorPage(incoming, 'method');
    if (address.startsWith('/logos/')) return logoAt(directory, address) ?? errorPage(incoming, 'missing');
    const chosen = languages.find((language) => language === query.get('lang'));
    if (chosen !== undefined && method !== 'POST') {
      const { lang: _, ...others } = Object.fromEntries(query);
      return redirect(link(incoming, address, others), [setLanguage(chosen)]);
    }
    const entrance = entranceOf(incoming, people);
    if (entrance !== null) return entrance;
    const context = people.memberOf(incoming);
    if (context === null) return toSignIn(incoming);
    const [, , org = '', mode = '', ...rest] = address.split('/');
    const role = context.member.roles[org];
    const isKnown = role !== undefined && context.organizations.some(({ id }) => id === org);
    if (!isKnown || !modes.some((each) => each === mode)) return errorPage(incoming, 'missing');
    if (!mayEnter(context.session, org)) return toSignIn(incoming, true);
    const path = rest.join('/');
    if (path === '') return redirect(link(incoming, `/dashboard/${org}/${mode}/home`));
    const organization = directory.organization(org);
    const place = { role, organization, mode: mode as Mode, path, rooms: roomsOf(role) };
    return visitRow(incoming, { ...context, ...place, id: '' });
  }

  async function visitRow(incoming: Incoming, context: Visit): Promise<DashboardAnswer> {
    const { mode, role, path, session } = context;
    const method = incoming.method === 'POST' ? 'POST' : 'GET';
    const match = matchRow(method, path);
    if (match === 'missing') return errorPage(context, 'missing');
    // The language links on the answer to a form lead to the form's address, which answers no GET.
    if (match === 'otherMethod' && method === 'GET') return redirect(roomLink(context, pageOfForm(path)));
    if (match === 'otherMethod') return errorPage(context, 'method');
    const { row, id } = match;
    if (!mayDo(role, row.permission)) return forbiddenPage(context, role);
    if (row.testOnly && mode === 'live') return errorPage(context, 'testOnly');
    if (method === 'POST' && !people.isOwnForm(incoming, context)) return errorPage(context, 'stale');
    // Members of a suspended organization read, and make nothing.
    const isSuspended = context.organization.status !== 'active';
    if (method === 'POST' && isSuspended) return errorPage(context, 'suspended');
    if (row.stepUp && !people.isConfirmed(session)) {
      const { organization } = context;
      const asked = method === 'POST' ? pageOfForm(path) : path;
      return askToConfirm(context, `/dashboard/${organization.id}/${mode}/${asked}`);
    }
    const desk = createDesk({ services, audit, searches }, context, incoming);
    const answer = await row.handle({ ...context, id }, desk);
    return answer.kind === 'export' && isSuspended ? errorPage(context, 'suspended') : answer;
  }

  return async (request, gone) => {
    const incoming = await readIncoming(request, gone, prefix, addressOf, visitorOf);
    try {
      const answered = await answer(incoming);
      return { answer: answered, known: people.knownMemberOf(incoming) };
    } catch (error) {
      onError(error, request.requestId);
      return { answer: errorPage(incoming, 'trouble'), known: null };
    }
  };
}
