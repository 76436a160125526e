// Streams an export: it asks the shard for one page after another, the next one only when the
// client has taken the last one. So a slow client holds one page and its own connection, and one
// that is too slow is cut off. The shard is told of every end, because it counts the exports under
// way.

import { parseQuery } from '../../contract/routes/query-string.ts';
import { routeTable } from '../../contract/routes/table.ts';
import { elementAt } from '../../core/assert.ts';
import type { ExportOptions } from '../../domain/export.ts';
import type { ShardClient } from '../../shard/client.ts';
import { type Exchange, headerLines } from '../http/exchange.ts';

interface ExportRequest extends ExportOptions {
  /** Position in the table of routes. */
  readonly route: number;
  readonly org: string;
  readonly livemode: boolean;
  readonly query: string;
}

/** Asked before each page whether the client may still have it. */
type IsAllowed = () => boolean | Promise<boolean>;

/**
 * Answers an admitted export. When a page fails, or the client may not have it any more, the
 * connection is cut: no file looks whole.
 */
export async function streamExport(
  exchange: Exchange,
  headers: string,
  shard: Pick<ShardClient, 'ask'>,
  request: ExportRequest,
  isAllowed: IsAllowed,
): Promise<void> {
  const route = elementAt(routeTable, request.route);
  const parsed = parseQuery(route, request.query);
  const ndjson = 'params' in parsed && parsed.params.format === 'ndjson';
  const name = route.path.split('/').at(-1);
  const described = headerLines(
    ['Content-Type', ndjson ? 'application/x-ndjson' : 'text/csv; charset=utf-8; header=present'],
    ['Content-Disposition', `attachment; filename="${name}.${ndjson ? 'ndjson' : 'csv'}"`],
    ['X-Content-Type-Options', 'nosniff'],
  );
  exchange.begin(200, described + headers);
  try {
    await writePages(exchange, shard, request, isAllowed);
  } finally {
    const { org, livemode } = request;
    void shard.ask({ kind: 'export_ended', org, livemode, requestId: exchange.requestId });
  }
}

async function writePages(
  exchange: Exchange,
  shard: Pick<ShardClient, 'ask'>,
  request: ExportRequest,
  isAllowed: IsAllowed,
): Promise<void> {
  let cursor: string | null = '';
  while (cursor !== null && exchange.isOpen) {
    const answer = await shard.ask({ ...request, kind: 'export_page', cursor });
    if (!answer.ok || !(await isAllowed())) {
      exchange.cut();
      return;
    }
    await exchange.write(answer.body);
    cursor = answer.cursor ?? null;
  }
  exchange.finish();
}
