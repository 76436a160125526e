// A list that is kept up to date while its page is open. A row `…/tail` answers the list alone,
// which the edge streams: the page and the stream show the same list.

import type { DashboardAnswer, TailSource } from '../../edge/dashboard/dashboard-port.ts';
import { type Html, html } from '../../html/html.ts';
import { sayLayout } from '../messages/layout.ts';
import { type PagerQueries, pager } from './components.ts';
import { page, tailScript } from './document.ts';
import { viewLink } from './links.ts';
import { type ViewRequest, viewOf } from './row.ts';

/**
 * A page with a list, its filters and its pager. `path` is that of the list's tail, which gets the
 * query of the page; null for a list that is not kept up to date.
 */
export function listPage(
  request: ViewRequest,
  filters: Html,
  list: Html,
  queries: PagerQueries,
  path: string | null,
): DashboardAnswer {
  return page(request, {
    scripts: path === null ? [] : [tailScript],
    body: [
      filters,
      path === null ? list : liveList(request, path, list),
      pager(request, viewOf(request.path), queries),
    ],
  });
}

function liveList(request: ViewRequest, path: string, list: Html): Html {
  const say = sayLayout(request);
  const query = Object.fromEntries(request.query);
  return html`<div class="stack" data-tail="${viewLink(request, path, query)}"><p>
<button type="button" class="quiet" hidden aria-pressed="false">${say('live')}</button>
<a data-refresh href="${viewLink(request, request.path, query)}">${say('refresh')}</a></p>
<div data-list>${list}</div></div>`;
}

/** The list as it is now; the edge asks for it again when its source has news. */
export function tailAnswer(request: ViewRequest, source: TailSource, list: Html): DashboardAnswer {
  const { organization, mode, member } = request;
  return {
    kind: 'tail',
    source,
    org: organization.id,
    livemode: mode === 'live',
    member: member.id,
    list: list.markup,
  };
}
