// A whole page of the dashboard as an answer: headers, document, and the frame that a signed-in member sees around every room.

import { type Language, languages, type Mode } from '../../contract/vocabulary.ts';
import { languageNames } from '../../edge/checkout/page-messages.ts';
import type { DashboardAnswer } from '../../edge/dashboard/dashboard-port.ts';
import { type Asset, addressOf } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { pageHeaders } from '../../html/page-headers.ts';
import { siteStyle } from '../../html/site-style.ts';
import { sayFrame } from '../messages/frame.ts';
import { buttonsScript } from './assets.ts';
import { hidden } from './components.ts';
import { link, roomLink } from './links.ts';
import type { MemberContext, PageContext, Room, Visit } from './row.ts';

const headers = pageHeaders([
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
]);

export interface Content {
  /** 200 unless it is given. */
  readonly status?: number;
  /** Also the page's heading. */
  readonly title: string;
  readonly body: Inserted;
  /** The sum of what is wrong with a form; it gets the focus. */
  readonly alert?: Html | null;
  /** Actions beside the heading. */
  readonly actions?: Inserted;
  readonly scripts?: readonly Asset[];
  readonly cookies?: readonly string[];
  /** When the browser may try again, for a page that says so. */
  readonly retryAfterSeconds?: number;
}
type Inserted = Html | null | readonly (Html | null)[];

/** A page of a room. `active` is the room in the navigation. */
export function page(visit: Visit, content: Content & { readonly active: Room }): DashboardAnswer {
  const { organization, mode, language } = visit;
  const banner = mode === 'test' && html`<p class="test-banner">${sayFrame('test_banner', language)}</p>`;
  return whole(visit, content, {
    mode,
    suffix: organization.name,
    header: html`<header>${banner}<div class="bar">${switches(visit)}${memberMenu(visit)}</div></header>`,
    navigation: navigation(visit, content.active),
  });
}

/** A page of a member that belongs to no organization: the account. */
export function memberPage(visit: MemberContext, content: Content): DashboardAnswer {
  const [first] = visit.organizations;
  const back =
    first &&
    html`<a href="${link(visit, `/dashboard/${first.id}/test/home`)}">${sayFrame('dashboard', visit.language)}</a>`;
  const header = html`<header><div class="bar"><div class="switches">${back ?? null}</div>${memberMenu(visit)}</div></header>`;
  return whole(visit, content, {
    mode: null,
    suffix: sayFrame('dashboard', visit.language),
    header,
    navigation: null,
  });
}

/** A page of somebody who is not signed in. */
export function plainPage(context: PageContext, content: Content): DashboardAnswer {
  return whole(context, content, {
    mode: null,
    suffix: sayFrame('dashboard', context.language),
    header: null,
    navigation: null,
  });
}

/** Sends the browser on with a GET. `path` is an address of this service, such as `link` makes. */
export function redirect(path: string, cookies: readonly string[] = []): DashboardAnswer {
  const set = cookies.map((cookie) => ['set-cookie', cookie] as const);
  // A line break in an address would begin another header.
  const location = path.replace(/[^!-~]/gu, encodeURIComponent);
  return { kind: 'page', status: 303, headers: [...headers, ['location', location], ...set], body: '' };
}

interface Frame {
  readonly mode: Mode | null;
  readonly suffix: string;
  readonly header: Html | null;
  readonly navigation: Html | null;
}

function whole(context: PageContext, content: Content, frame: Frame): DashboardAnswer {
  const { language, prefix } = context;
  const { title, alert = null, actions = null, body, scripts = [], cookies = [] } = content;
  const shownTitle = alert === null ? title : `${sayFrame('error', language)}: ${title}`;
  const document = html`<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${shownTitle} – ${frame.suffix}</title>
<link rel="stylesheet" href="${prefix}${addressOf(siteStyle)}">
${[buttonsScript, ...scripts].map((script) => html`<script type="module" src="${prefix}${addressOf(script)}"></script>`)}
</head>
<body class="${frame.navigation === null ? 'narrow' : 'wide'}${frame.mode !== null && ` ${frame.mode}`}">
<a class="skip" href="#content">${sayFrame('skip', language)}</a>
${frame.header}<div class="columns">${frame.navigation}<main id="content" tabindex="-1">
${alert}<div class="heading"><h1>${title}</h1>${shown(actions)}</div>
${shown(body)}
</main></div>
<footer>${languageLinks(context)}</footer>
</body>
</html>
`;
  return {
    kind: 'page',
    status: content.status ?? 200,
    headers: [
      ...headers,
      ['content-type', 'text/html; charset=utf-8'],
      ['content-language', language],
      ...cookies.map((cookie) => ['set-cookie', cookie] as const),
      ...(content.retryAfterSeconds === undefined
        ? []
        : [['retry-after', String(content.retryAfterSeconds)] as const]),
    ],
    body: document.markup,
  };
}

function shown(inserted: Inserted): Html | Html[] | null {
  if (inserted === null || 'markup' in inserted) return inserted;
  return inserted.filter((part) => part !== null);
}

function switches(visit: Visit): Html {
  const { organization, organizations, mode, language, path } = visit;
  const others = organizations.filter(({ id }) => id !== organization.id);
  const name =
    others.length === 0
      ? html`<strong class="organization"><bdi>${organization.name}</bdi></strong>`
      : html`<details class="menu"><summary><span class="organization"><bdi>${organization.name}</bdi></span></summary>
<ul aria-label="${sayFrame('organizations', language)}">${others.map(
          ({ id, name }) =>
            html`<li><a href="${link(visit, `/dashboard/${id}/${mode}/home`)}"><bdi>${name}</bdi></a></li>`,
        )}</ul></details>`;
  // An object exists in one of the modes only, so the switch leads to the room.
  const room = path.split('/')[0]!;
  const other = mode === 'test' ? 'live' : 'test';
  const href = link(visit, `/dashboard/${organization.id}/${other}/${room}`);
  return html`<div class="switches">${name}<span class="mode ${mode}">${sayFrame(`${mode}_mode`, language)}</span>
<a class="mode-switch" href="${href}">${sayFrame(`to_${other}`, language)}</a></div>`;
}

function memberMenu(context: MemberContext): Html {
  const { language, member, session } = context;
  return html`<details class="menu member"><summary><span><bdi>${member.name}</bdi></span></summary>
<ul><li><a href="${link(context, '/dashboard/me')}">${sayFrame('account', language)}</a></li>
<li><form method="post" action="${link(context, '/dashboard/sign-out')}">${hidden('form_key', session.formKey)}<button class="plain">${sayFrame('sign_out', language)}</button></form></li></ul></details>`;
}

function navigation(visit: Visit, active: Room): Html {
  const { language, rooms } = visit;
  const items = rooms.map((room) => {
    const current = room === active && html` aria-current="page"`;
    return html`<li><a href="${roomLink(visit, room)}"${current}>${sayFrame(room, language)}</a></li>`;
  });
  // On a phone the list is folded; the style sheet shows one of the two.
  return html`<nav class="rooms" aria-label="${sayFrame('rooms', language)}"><ul>${items}</ul></nav>
<nav class="rooms-folded" aria-label="${sayFrame('menu', language)}"><details><summary>${sayFrame('menu', language)}: ${sayFrame(active, language)}</summary><ul>${items}</ul></details></nav>`;
}

function languageLinks(context: PageContext): Html {
  const item = (language: Language) => {
    const name = languageNames[language];
    if (language === context.language)
      return html`<li><span lang="${language}" aria-current="true">${name}</span></li>`;
    const query = { ...Object.fromEntries(context.query), lang: language };
    return html`<li><a href="${link(context, context.address, query)}" hreflang="${language}" lang="${language}">${name}</a></li>`;
  };
  return html`<nav class="languages" aria-label="${sayFrame('languages', context.language)}"><ul>${languages.map(item)}</ul></nav>`;
}
