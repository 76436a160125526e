// The shape of a row of the table of the dashboard's routes, and what its handler gets: a request,
// which it also asks for what it needs of the service.

import type { Static } from 'typebox';
import type { Operation, RouteOf } from '../../contract/routes/table.ts';
import type { Language, Mode } from '../../contract/vocabulary.ts';
import { hasName } from '../../core/tables.ts';
import type { Member, Role } from '../../directory/members.ts';
import type { Organization } from '../../directory/organization.ts';
import { DirectoryRefusal, type RefusalCode } from '../../directory/refusal.ts';
import type { Session } from '../../directory/sessions.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import type { Visitor } from '../../edge/http/visitors.ts';
import type { MemberAction } from '../../operator/audit/audit-actions.ts';
import type { PlacedRow } from '../../operator/audit/audit-row.ts';
import type { ApiAnswer, ApiCall, OperatorServices } from '../../operator/use-cases/services.ts';
import type { Say } from '../messages/say.ts';
import type { TooMany } from '../pages/searches.ts';
import type { Permission } from '../people/roles.ts';

/** The views of the navigation, in its order and groups; the first group needs no heading. */
export const viewGroups = {
  home: ['home'],
  payments: ['payments', 'cash', 'reviews'],
  customers: ['customers', 'checkout'],
  developers: ['keys', 'webhooks', 'events', 'requests', 'limits'],
  organization: ['settings', 'members', 'audit'],
} as const;

/** A row belongs to the view that its path begins with. */
export const views = Object.values(viewGroups).flat();
export type View = (typeof views)[number];

/** The view that a path below an organization and mode belongs to; of an unknown path, Home. */
export function viewOf(path: string): View {
  return views.find((view) => view === path.split('/')[0]) ?? 'home';
}

export interface Row<Request = ViewRequest> {
  readonly method: 'GET' | 'POST';
  /** Below `/dashboard/{org}/{mode}`; `{id}` matches one segment: `payments/{id}/refund`. */
  readonly path: string;
  readonly permission: Permission;
  /** Needs the password again if it was given more than ten minutes ago. */
  readonly stepUp?: true;
  readonly testOnly?: true;
  readonly handle: (request: Request) => DashboardAnswer | Promise<DashboardAnswer>;
}

/** Defines a row by its path, permission, handler and options. */
const rowOf =
  (method: Row['method']) =>
  <Request>(
    path: string,
    permission: Permission,
    handle: Row<Request>['handle'],
    options: Pick<Row, 'stepUp' | 'testOnly'> = {},
  ): Row<Request> => ({ method, path, permission, handle, ...options });

export const get = rowOf('GET');
export const post = rowOf('POST');

/** A request whose pages say the texts of a table, in its language. */
export type Saying<SayIn extends (request: PageRequest) => Say<never>, Request = ViewRequest> = Request & {
  readonly say: ReturnType<SayIn>;
};

/** Rows whose requests say the texts of a table. */
export function saying<SayIn extends (request: PageRequest) => Say<never>>(
  sayIn: SayIn,
  rows: readonly Row<Saying<SayIn>>[],
): Row[] {
  return rows.map((row) => ({
    ...row,
    handle: (request) => row.handle({ ...request, say: sayIn(request) } as Saying<SayIn>),
  }));
}

/** What is wrong with the fields of a form, by their names; '' for the form as a whole. */
export type Problems = Readonly<Record<string, string>>;

/** A request of somebody who may be nobody yet: what every page needs. */
export interface PageRequest {
  readonly language: Language;
  /** The address of the page, without the prefix of a proxy and without a query. */
  readonly address: string;
  readonly query: URLSearchParams;
  /** The start of the path that a proxy removes from the service's addresses; '' for none. */
  readonly prefix: string;
  /** What is wrong with the form that came, when a page is shown in answer to it. */
  readonly problems: Problems;
  /** Of the page; 200 unless something is wrong. */
  readonly status: number;
}

/** The request with what is wrong with its form, so that a page can show both. */
export function refused<Request extends PageRequest>(
  request: Request,
  problems: Problems,
  status = 400,
): Request {
  return { ...request, problems, status };
}

/**
 * The request with what the directory refuses of its form: the field that each code is about, and
 * the code's text. Throws any other error.
 */
export function refusedBy<
  Code extends RefusalCode,
  Request extends PageRequest & { readonly say: Say<Code> },
>(request: Request, error: unknown, fields: Readonly<Record<Code, string>>): Request {
  const code = error instanceof DirectoryRefusal ? error.code : null;
  if (code === null || !hasName(fields, code)) throw error;
  return refused(request, { [fields[code]]: request.say(code) });
}

/** A request as it came from an edge, read. */
export interface Incoming extends PageRequest {
  readonly method: string;
  /** The fields of a POST; empty on a GET. */
  readonly form: URLSearchParams;
  /** The files of a form, by the names of their fields; empty ones are left out. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly cookie: string;
  readonly secFetchSite: string;
  /** The client's address. */
  readonly client: string;
  /** Whose attempts count together. */
  readonly visitor: Visitor;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
  /** A stream asks again, which does not count as use of the session. */
  readonly isRepeated: boolean;
}

/** A request of a member who is signed in. The key of its form was checked. */
export interface MemberRequest extends Incoming {
  readonly member: Member;
  readonly session: Session;
  /** With their names, for the menu that switches between them. */
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
}

/** What a request to a row of the table is about. */
export interface ViewPlace extends MemberRequest {
  readonly role: Role;
  readonly organization: Organization;
  readonly mode: Mode;
  /** The row's path with the id filled in: `payments/pi_…/refund`. */
  readonly path: string;
  /** The `{id}` segment; '' without one. */
  readonly id: string;
  /** The views that the member may open. */
  readonly views: readonly View[];
  /** Of these, the ones that need somebody now. */
  readonly warnings: readonly View[];
}

export type ResultOf<O extends Operation> = Static<RouteOf<O>['result']>;

type CallOptions = Pick<ApiCall, 'id' | 'query' | 'params' | 'idempotencyKey'>;

/** What pages ask the service for, as the member. */
export interface ViewContext {
  /**
   * Runs a route of the API as the member: the same frames, gates and executor, but it spends no
   * rate limit, and the log has the member as its cause. A command without an idempotency key takes
   * the one of the request's form.
   */
  api<O extends Operation>(operation: O, call: CallOptions): Promise<ApiAnswer<ResultOf<O>>>;
  /**
   * Runs a search that reads many records, when it is the organization's turn. `isCounted`: the
   * member has asked for it, so it counts in what the organization may search. `gone` is aborted
   * when nobody waits for it any more.
   */
  search<T>(isCounted: boolean, run: (gone: AbortSignal) => Promise<T>): Promise<T | TooMany>;
  /** Carries out a member's action between its two rows of the audit record. */
  act<T>(action: MemberAction, params: object, run: () => Promise<T>): Promise<T>;
  /**
   * Counts a change of the organization's settings. Throws `DirectoryRefusal` when there were too
   * many, because each is kept for a while, with the logo.
   */
  countChange(): void;
  /**
   * Carries out the request's form; null when that was done, or is under way. A form that fails may
   * come again, and one without a key counts as new.
   */
  once<T>(run: () => Promise<T>): Promise<T | null>;
  /** The organization's actions, newest first: those before the one at a place of the record. */
  actionsOf(before: number | null): AsyncIterable<PlacedRow>;
  /** The services of operators' commands, with the member as their author. */
  readonly services: OperatorServices;
}

/** A request to a row of the table. */
export interface ViewRequest extends ViewPlace, ViewContext {}
