// The pages of an export, as long as its client may have them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routeTable } from '../../src/contract/routes/table.ts';
import { streamExport } from '../../src/edge/api/export-stream.ts';
import type { DashboardAnswer } from '../../src/edge/dashboard/dashboard-port.ts';
import { createExportCheck } from '../../src/edge/dashboard/dashboard-visits.ts';
import type { Exchange } from '../../src/edge/http/exchange.ts';

/** An exchange whose client takes everything, and a shard that has three pages. */
function exported(isAllowed: () => boolean | Promise<boolean>) {
  const said: string[] = [];
  const exchange = {
    isOpen: true,
    requestId: 'req_1',
    begin: () => said.push('begin'),
    write: async (body: Buffer) => said.push(body.toString()),
    cut: () => said.push('cut'),
    finish: () => said.push('finish'),
  } as unknown as Exchange;
  const ask = async ({ kind, cursor }: { readonly kind: string; readonly cursor?: string }) => {
    if (kind !== 'export_page') return said.push(kind);
    const page = Number(cursor || 1);
    return { ok: true, body: Buffer.from(`page ${page}`), cursor: page < 3 ? String(page + 1) : null };
  };
  const request = {
    route: routeTable.findIndex(({ operation }) => operation === 'export_charges'),
    org: 'org_1',
    livemode: false,
    query: '',
  };
  const done = streamExport(exchange, '', { ask } as never, request as never, isAllowed);
  return { said, done };
}

test('an export ends with its last page', async () => {
  const { said, done } = exported(() => true);
  await done;
  assert.deepEqual(said, ['begin', 'page 1', 'page 2', 'page 3', 'finish', 'export_ended']);
});

test('an export whose key is revoked meanwhile is cut before its next page', async () => {
  let asked = 0;
  const { said, done } = exported(() => ++asked < 3);
  await done;
  assert.deepEqual(said, ['begin', 'page 1', 'page 2', 'cut', 'export_ended']);
});

test('an export of the dashboard is cut soon after its member may not begin it any more, and outlives a main thread that is away', async () => {
  for (const [answers, ending] of [
    [['export', 'export', 'export'], 'finish'],
    [['trouble', 'busy', 'export'], 'finish'],
    [[503, 503, 'export'], 'finish'],
    [['export', 403], 'cut'],
  ] as const) {
    let [nowMs, asked, isTrusted] = [0, 0, true];
    const again = async () => {
      const answer = answers[asked++];
      if (answer === 'trouble' || answer === 'busy') return answer;
      return (answer === 'export' ? { kind: answer } : { kind: 'page', status: answer }) as DashboardAnswer;
    };
    const check = createExportCheck(
      again,
      () => isTrusted,
      () => nowMs,
    );
    assert.equal(await check(), true);
    assert.equal(asked, 0, 'it has just begun');
    const { said, done } = exported(() => {
      nowMs += 15_000;
      return check();
    });
    await done;
    const rest = ending === 'cut' ? ['cut'] : ['page 2', 'page 3', 'finish'];
    assert.deepEqual(said, ['begin', 'page 1', ...rest, 'export_ended'], answers.join());
    isTrusted = false;
    assert.equal(await check(), false);
  }
});
