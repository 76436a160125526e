// The dashboard: takes a request from an edge, finds out who it is and what they may do, and lets
// the row of the table answer. Everything that a row can rely on is checked here, in this order:
// session, organization, route, mode, role, form, password.

import { languages, type Mode, modes } from '../contract/vocabulary.ts';
import { withoutSlashAtEnd } from '../core/slash-at-end.ts';
import { logoPathOf } from '../directory/branding.ts';
import type { Directory } from '../directory/directory.ts';
import { mayEnter } from '../directory/sessions.ts';
import type { DashboardAnswer, DashboardRequest, Visited } from '../edge/dashboard/dashboard-port.ts';
import { createClientAddressText } from '../edge/http/client-address.ts';
import { createVisitorOf } from '../edge/http/visitors.ts';
import type { OperatorServices } from '../operator/use-cases/services.ts';
import { createContext, RecentForms, SettingsChanges } from './context.ts';
import { readIncoming } from './incoming.ts';
import { redirect } from './layout/document.ts';
import { errorPage, forbiddenPage, methodPage } from './layout/errors.ts';
import { homeLink, link, viewLink } from './layout/links.ts';
import type { Incoming, ViewRequest } from './layout/row.ts';
import { matchRow, pageOfForm, viewsOf } from './layout/table.ts';
import { warningsOf } from './pages/endpoint-health.ts';
import { Searches } from './pages/searches.ts';
import { setLanguage } from './people/cookies.ts';
import { People, type PeopleOptions } from './people/people.ts';
import { answerPublicRoute, takesPublicForms, toSignIn } from './people/public-routes.ts';
import { mayDo } from './people/roles.ts';
import { askToConfirm } from './people/step-up.ts';

export interface DashboardOptions extends Omit<PeopleOptions, 'directory' | 'secrets' | 'secure' | 'mail'> {
  readonly services: Omit<OperatorServices, 'author' | 'language'>;
  readonly trustedProxies: readonly string[];
  /** Called with what a handler threw, and the id of the request. */
  readonly onError: (error: unknown, requestId: string) => void;
}

const methods = ['GET', 'HEAD', 'POST'];

export class Dashboard {
  readonly #options: DashboardOptions;
  /** The path of the public address, without a slash at its end. */
  readonly #prefix: string;
  readonly #people: People;
  readonly #searches: Searches;
  readonly #recentForms = new RecentForms();
  readonly #changes: SettingsChanges;
  readonly #addressOf: ReturnType<typeof createClientAddressText>;
  readonly #visitorOf: ReturnType<typeof createVisitorOf>;

  constructor(options: DashboardOptions) {
    this.#options = options;
    const { services, baseUrl, monotonic, trustedProxies } = options;
    const { directory, secrets, mail } = services;
    const { pathname, protocol } = new URL(baseUrl);
    this.#prefix = withoutSlashAtEnd(pathname);
    this.#people = new People({ ...options, directory, secrets, secure: protocol === 'https:', mail });
    this.#searches = new Searches(services.now, monotonic);
    this.#changes = new SettingsChanges(monotonic);
    this.#addressOf = createClientAddressText(trustedProxies);
    this.#visitorOf = createVisitorOf(trustedProxies);
  }

  /** Answers one request. Rejects only if the request can't even be read. */
  async answer(request: DashboardRequest, gone: AbortSignal): Promise<Visited> {
    const incoming = await readIncoming(request, gone, this.#prefix, this.#addressOf, this.#visitorOf);
    try {
      const answer = await this.#answer(incoming);
      return { answer, known: this.#people.knownMemberOf(incoming) };
    } catch (error) {
      this.#options.onError(error, request.requestId);
      return { answer: errorPage(incoming, 'trouble'), known: null };
    }
  }

  async #answer(incoming: Incoming): Promise<DashboardAnswer> {
    const { method, query, address } = incoming;
    const { directory } = this.#options.services;
    if (!methods.includes(method)) return methodPage(incoming, takesForms(address));
    if (address.startsWith('/logos/')) return logoAt(directory, address) ?? errorPage(incoming, 'missing');
    const chosen = languages.find((language) => language === query.get('lang'));
    if (chosen !== undefined && method !== 'POST') {
      const { lang: _, ...others } = Object.fromEntries(query);
      return redirect(link(incoming, address, others), [setLanguage(chosen)]);
    }
    if (method !== 'POST' && address.endsWith('/'))
      return redirect(link(incoming, withoutSlashAtEnd(address), Object.fromEntries(query)));
    const route = answerPublicRoute(incoming, this.#people);
    if (route !== null) return route;
    const request = this.#people.memberOf(incoming);
    if (request === null) return toSignIn(incoming);
    const [, , org = '', mode, ...rest] = address.split('/');
    const role = request.member.roles[org];
    const isKnown = role !== undefined && request.organizations.some(({ id }) => id === org);
    const isMode = mode === undefined || modes.some((each) => each === mode);
    if (!isKnown || !isMode) return errorPage(incoming, 'missing');
    const organization = directory.organization(org);
    if (mode === undefined) return redirect(homeLink(incoming, organization));
    if (!mayEnter(request.session, org)) return toSignIn(incoming, true);
    const path = rest.join('/');
    if (path === '') return redirect(link(incoming, `/dashboard/${org}/${mode}/home`));
    const row = { role, organization, mode: mode as Mode, path, views: viewsOf(role), warnings: [] };
    const place = { ...request, ...row, id: '' };
    const { services, audit } = this.#options;
    const held = { searches: this.#searches, recentForms: this.#recentForms, changes: this.#changes };
    return this.#answerRow({ ...place, ...createContext({ services, audit, ...held }, place) });
  }

  async #answerRow(request: ViewRequest): Promise<DashboardAnswer> {
    const { mode, role, path, session } = request;
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const match = matchRow(method, path);
    if (match === 'missing') return errorPage(request, 'missing');
    // The language links on the answer to a form lead to the form's address, which answers no GET.
    if (match === 'otherMethod' && method === 'GET') return redirect(viewLink(request, pageOfForm(path)));
    if (match === 'otherMethod') return methodPage(request);
    const { row, id } = match;
    if (!mayDo(role, row.permission)) return forbiddenPage(request, role);
    if (row.testOnly && mode === 'live') return errorPage(request, 'testOnly');
    if (method === 'POST' && !this.#people.isOwnForm(request)) return errorPage(request, 'stale');
    // Members of a suspended organization read, and make nothing.
    const isSuspended = request.organization.status !== 'active';
    if (method === 'POST' && isSuspended) return errorPage(request, 'suspended');
    if (row.stepUp && !this.#people.isConfirmed(session)) {
      const { organization } = request;
      const asked = method === 'POST' ? pageOfForm(path) : path;
      return askToConfirm(request, `/dashboard/${organization.id}/${mode}/${asked}`);
    }
    const warnings = method === 'GET' ? await warningsOf(request) : [];
    const answer = await row.handle({ ...request, id, warnings });
    return answer.kind === 'export' && isSuspended ? errorPage(request, 'suspended') : answer;
  }
}

/** Whether a form may be posted to an address. */
function takesForms(address: string): boolean {
  const path = address.split('/').slice(4).join('/');
  return takesPublicForms(address) || typeof matchRow('POST', path) === 'object';
}

/**
 * The logo of an organization, for the pages where its customers pay; null when it has no such logo
 * (any more). The address contains the logo's digest, so what it leads to never changes.
 */
function logoAt(directory: Directory, path: string): DashboardAnswer | null {
  const org = path.split('/')[2] ?? '';
  const organization = directory.findOrganization(org);
  const logo = organization?.branding.logo ?? null;
  if (organization === undefined || logo === null || logoPathOf(org, organization.branding) !== path)
    return null;
  return { kind: 'file', type: logo.type, bytes: Buffer.from(logo.data, 'base64') };
}
