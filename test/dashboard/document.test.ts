// What an address that was made of a visitor's text can do to an answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redirect } from '../../src/dashboard/layout/document.ts';

test('the address of a redirect can’t begin another header', () => {
  const rows = [
    ['/dashboard/a?b=1&c=%20', '/dashboard/a?b=1&c=%20'],
    ['/dashboard/a\r\nset-cookie: b=c', '/dashboard/a%0D%0Aset-cookie:%20b=c'],
    ['/dashboard/سلة\u0000\u{1f600}', '/dashboard/%D8%B3%D9%84%D8%A9%00%F0%9F%98%80'],
  ] as const;
  for (const [path, location] of rows) {
    const answer = redirect(path);
    assert.ok(answer.kind === 'page');
    assert.deepEqual(
      answer.headers.filter(([name]) => name === 'location' || name === 'set-cookie'),
      [['location', location]],
    );
  }
});
