// A whole page of the dashboard as an answer: headers, document, and the layout that a signed-in
// member sees around every page.

import { languages, type Mode } from '../../contract/vocabulary.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Asset, addressOf, scriptAsset } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { languageLinks } from '../../html/language-links.ts';
import { pageHeaders } from '../../html/page-headers.ts';
import { siteStyle } from '../../html/site-style.ts';
import { sayLayout } from '../messages/layout.ts';
import { errorSummary, form, hidden } from './components.ts';
import { brandMark, viewIcons } from './icons.ts';
import { link, viewLink } from './links.ts';
import {
  type MemberRequest,
  type PageRequest,
  type View,
  type ViewRequest,
  viewGroups,
  viewOf,
} from './row.ts';

/** The script of every page: buttons that copy, and buttons that ask once more. */
const buttonsScript = scriptAsset('buttons.js');
/** The script of lists that are kept up to date. */
export const tailScript = scriptAsset('tail.js');

/** The files that pages of the dashboard load. A page works without each of the scripts. */
export const dashboardAssets: readonly Asset[] = [siteStyle, buttonsScript, tailScript];

const headers = pageHeaders([
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
]);

export interface Content {
  /** That of the request unless it is given. */
  readonly status?: number;
  /** Also the page's heading. */
  readonly title: string;
  readonly body: Inserted;
  /** Actions beside the heading. */
  readonly actions?: Inserted;
  readonly scripts?: readonly Asset[];
  readonly cookies?: readonly string[];
  /** Besides those of every page. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
}
type Inserted = Html | null | readonly (Html | null)[];

/** A page of an organization; its title is the view's name in the navigation unless given. */
export function page(
  request: ViewRequest,
  { title, ...content }: Omit<Content, 'title'> & { readonly title?: string },
): DashboardAnswer {
  const { organization, mode } = request;
  const say = sayLayout(request);
  const active = viewOf(request.path);
  const banner = mode === 'test' && html`<p class="test-banner">${say('test_banner')}</p>`;
  return whole(
    request,
    { ...content, title: title ?? say(active) },
    {
      mode,
      suffix: organization.name,
      header: html`<header>${banner}<div class="bar">${switches(request)}${memberMenu(request)}</div></header>`,
      navigation: navigation(request, active),
    },
  );
}

/** A page of an organization with one form, which is sent to a path below organization and mode. */
export function formPage(
  request: ViewRequest,
  title: string,
  path: string,
  fields: readonly Html[],
  intro: Html | null = null,
): DashboardAnswer {
  return page(request, { title, body: [intro, form(request, path, fields, { className: 'sheet stack' })] });
}

/** A page of a member that belongs to no organization: the account. */
export function memberPage(request: MemberRequest, content: Content): DashboardAnswer {
  const say = sayLayout(request);
  const hasHome = request.organizations.length > 0;
  const home = hasHome && html`<a href="${link(request, '/dashboard')}">${say('dashboard')}</a>`;
  const header = html`<header><div class="bar"><div class="switches">${home}</div>${memberMenu(request)}</div></header>`;
  return whole(request, content, { ...noOrganization, suffix: say('dashboard'), header });
}

/** A page of somebody who is not signed in. */
export function plainPage(request: PageRequest, content: Content): DashboardAnswer {
  const say = sayLayout(request);
  const header = html`<header class="brand"><a href="${request.prefix}/">${brandMark}<span>${say('brand')}</span></a></header>`;
  return whole(request, content, { ...noOrganization, suffix: say('dashboard'), header });
}

/** Sends the browser on with a GET. `path` is an address of this service, such as `link` makes. */
export function redirect(path: string, cookies: readonly string[] = []): DashboardAnswer {
  const set = cookies.map((cookie) => ['set-cookie', cookie] as const);
  // A line break in an address would begin another header.
  const location = path.replace(/[^!-~]/gu, encodeURIComponent);
  return { kind: 'page', status: 303, headers: [...headers, ['location', location], ...set], body: '' };
}

interface Surroundings {
  readonly mode: Mode | null;
  readonly suffix: string;
  readonly header: Html | null;
  readonly navigation: Html | null;
}

const noOrganization = { mode: null, header: null, navigation: null };

function whole(request: PageRequest, content: Content, around: Surroundings): DashboardAnswer {
  const { language, prefix } = request;
  const say = sayLayout(request);
  const { title, actions = null, body, scripts = [], cookies = [] } = content;
  const alert = errorSummary(request);
  const shownTitle = alert === null ? title : say('named', { name: say('error'), value: title });
  const others = languageLinks(languages, language, say('languages'), (lang) =>
    link(request, request.address, { ...Object.fromEntries(request.query), lang }),
  );
  const document = html`<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${shownTitle} – ${around.suffix}</title>
<link rel="stylesheet" href="${prefix}${addressOf(siteStyle)}">
${[buttonsScript, ...scripts].map((script) => html`<script type="module" src="${prefix}${addressOf(script)}"></script>`)}
</head>
<body class="${around.navigation === null ? 'narrow' : 'wide'}${around.mode !== null && ` ${around.mode}`}">
<a class="skip" href="#content">${say('skip')}</a>
${around.header}<div class="columns">${around.navigation}<main id="content" tabindex="-1">
${alert}<div class="heading"><h1>${title}</h1>${shown(actions)}</div>
${shown(body)}
</main></div>
<footer>${others}</footer>
</body>
</html>
`;
  return {
    kind: 'page',
    status: content.status ?? request.status,
    headers: [
      ...headers,
      ['content-type', 'text/html; charset=utf-8'],
      ['content-language', language],
      ...cookies.map((cookie) => ['set-cookie', cookie] as const),
      ...(content.headers ?? []),
    ],
    body: document.markup,
  };
}

function shown(inserted: Inserted): Html | Html[] | null {
  if (inserted === null || 'markup' in inserted) return inserted;
  return inserted.filter((part) => part !== null);
}

function switches(request: ViewRequest): Html {
  const { organization, organizations, mode, path } = request;
  const say = sayLayout(request);
  const others = organizations.filter(({ id }) => id !== organization.id);
  const name =
    others.length === 0
      ? html`<strong class="organization"><bdi>${organization.name}</bdi></strong>`
      : html`<details class="menu"><summary><span class="organization"><bdi>${organization.name}</bdi></span></summary>
<ul aria-label="${say('organizations')}">${others.map(
          ({ id, name }) =>
            html`<li><a href="${link(request, `/dashboard/${id}/${mode}/home`)}"><bdi>${name}</bdi></a></li>`,
        )}</ul></details>`;
  // An object exists in one of the modes only, so the switch leads to the view.
  const view = path.split('/')[0]!;
  const other = mode === 'test' ? 'live' : 'test';
  const href = link(request, `/dashboard/${organization.id}/${other}/${view}`);
  return html`<div class="switches">${name}<span class="mode ${mode}">${say(`${mode}_mode`)}</span>
<a class="mode-switch" href="${href}">${say(`to_${other}`)}</a></div>`;
}

function memberMenu(request: MemberRequest): Html {
  const { member, session } = request;
  const say = sayLayout(request);
  return html`<details class="menu member"><summary><span><bdi>${member.name}</bdi></span></summary>
<ul><li><a href="${link(request, '/dashboard/me')}">${say('account')}</a></li>
<li><form method="post" action="${link(request, '/dashboard/sign-out')}">${hidden('form_key', session.formKey)}<button class="plain">${say('sign_out')}</button></form></li></ul></details>`;
}

function navigation(request: ViewRequest, active: View): Html {
  const { views, warnings } = request;
  const say = sayLayout(request);
  const item = (view: View) => {
    const current = view === active && html` aria-current="page"`;
    const warning = warnings.includes(view) && html` <span class="badge bad">${say('needs_you')}</span>`;
    return html`<li><a href="${viewLink(request, view)}"${current}>${viewIcons[view]}<span>${say(view)}${warning}</span></a></li>`;
  };
  const groups = (Object.keys(viewGroups) as (keyof typeof viewGroups)[]).map((group) => {
    const shown = viewGroups[group].filter((view) => views.includes(view)).map(item);
    const heading = group !== 'home' && html`<p aria-hidden="true">${say(group)}</p>`;
    return shown.length === 0 ? html`` : html`${heading}<ul aria-label="${say(group)}">${shown}</ul>`;
  });
  // On a phone the list is folded; the style sheet shows one of the two.
  return html`<nav class="views" aria-label="${say('views')}">${groups}</nav>
<nav class="views-folded" aria-label="${say('menu')}"><details><summary>${say('named', { name: say('menu'), value: say(active) })}</summary>${groups}</details></nav>`;
}
