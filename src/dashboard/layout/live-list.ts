// A list that is kept up to date while its page is open. A row `…/tail` answers the list alone,
// which the edge streams: the page and the stream show the same list.

import type { DashboardAnswer, TailSource } from '../../edge/dashboard/dashboard-port.ts';
import { scriptAsset } from '../../html/assets.ts';
import { type Html, html } from '../../html/html.ts';
import { sayLayout } from '../messages/layout.ts';
import { viewLink } from './links.ts';
import type { ViewRequest } from './row.ts';

/** The script of lists that are kept up to date. */
export const tailScript = scriptAsset('tail.js');

/**
 * The list with what keeps it up to date. `path` is that of its tail, which gets the query of the
 * page.
 */
export function liveList(request: ViewRequest, path: string, list: Html): Html {
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
