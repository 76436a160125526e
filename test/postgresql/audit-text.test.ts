// The text of the audit record in PostgreSQL, with a standby that every append waits for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers } from '../../src/core/scheduler.ts';
import { PostgresText } from '../../src/postgresql/audit-text.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { leftOut, onlyDatabase, startServers } from './servers.ts';

const skip = { skip: leftOut };

async function after(text: PostgresText, place: number): Promise<string[]> {
  const found: string[] = [];
  let end: number | null = null;
  for await (const part of text.readAfter(place)) {
    assert.equal(part.place, end ?? part.place);
    found.push(String(part.bytes));
    end = part.place + part.bytes.length;
  }
  return found;
}

test(
  'a text is read as it was appended, from any place, by its owner and others, and only its owner appends',
  skip,
  async (context) => {
    const servers = await startServers(context, 1);
    const address = parseJournalUrl(servers.url);
    assert(typeof address !== 'string');
    const texts = [0, 1].map(
      () =>
        new PostgresText({
          address,
          password: null,
          ca: null,
          ...onlyDatabase,
          lease: null,
          node: null,
          isSingle: false,
          onTrouble: () => {},
          service: { folder: 'f', generation: 0, shards: 1 },
          timers: systemTimers,
        }),
    );
    const [a, b] = texts as [PostgresText, PostgresText];
    context.after(() => Promise.all(texts.map((text) => text.close())));
    assert.deepEqual(await a.acquire(), { start: 0, end: 0 });
    assert.equal(await a.partBefore(0), null);
    await a.begin(100);
    assert.deepEqual(await b.bounds(), { start: 100, end: 100 });
    await a.append(100, Buffer.from('one\n'));
    // The answer to this was lost, and it is sent again.
    await a.append(100, Buffer.from('one\n'));
    await a.append(104, Buffer.from('two\n'));
    assert.deepEqual(await b.bounds(), { start: 100, end: 108 });
    for (const [place, found] of [
      [0, ['one\n', 'two\n']],
      [100, ['one\n', 'two\n']],
      [102, ['e\n', 'two\n']],
      [104, ['two\n']],
      [107, ['\n']],
      [108, []],
    ] as const)
      assert.deepEqual(await after(b, place), found, `after ${place}`);
    for (const [place, part] of [
      [100, null],
      [101, { place: 100, bytes: Buffer.from('one\n') }],
      [104, { place: 100, bytes: Buffer.from('one\n') }],
      [105, { place: 104, bytes: Buffer.from('two\n') }],
      [109, null],
    ] as const)
      assert.deepEqual(await b.partBefore(place), part, `before ${place}`);
    // More than one portion.
    const many = Array.from({ length: 300 }, (_, n) => `${n}\n`);
    for (const line of many) await a.append((await a.bounds()).end, Buffer.from(line));
    assert.deepEqual(await after(b, 108), many);
    await a.forget(106);
    assert.equal((await b.bounds()).start, 104, 'only whole parts go');

    const { end } = await b.acquire();
    await assert.rejects(a.append(end, Buffer.from('late')), /the audit record has a newer owner/);
    await b.append(end, Buffer.from('three\n'));
    assert.deepEqual(await after(a, end), ['three\n']);
  },
);
