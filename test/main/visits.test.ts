// What a visit leaves behind where nobody waits for it: the thread goes on, and the visit is named. What belongs to no visit ends
// the thread.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./straying-visits.ts', import.meta.url));
const run = (...args: string[]) =>
  spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', timeout: 60_000 });

test('promises, timers and callbacks of a visit that throw are logged with its request, counted, and end nothing', () => {
  const { status, stdout, stderr } = run('visit');
  assert.equal(status, 0, stderr);
  const lines = stdout.trim().split('\n');
  const count = lines.pop();
  const failures = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    failures.map(({ requestId, entry, err }) => [requestId, entry, err.message]).sort(),
    ['a callback', 'a promise', 'a rejection', 'a tick', 'a timer'].map((what) => [
      'req_1',
      'dashboard',
      what,
    ]),
  );
  assert.equal(count, '5');
});

for (const what of ['rejection', 'timer']) {
  test(`a ${what} outside of visits ends the thread as ever`, () => {
    const { status, stdout, stderr } = run(what);
    assert.notEqual(status, 0);
    assert.match(stderr, /of nobody/);
    assert.doesNotMatch(stdout, /it went on/);
  });
}

test('in a thread with one kind of visit, whatever throws besides its own steps is of a visit', () => {
  const { status, stdout, stderr } = run('one kind: strays');
  assert.equal(status, 0, stderr);
  const lines = stdout.trim().split('\n');
  assert.equal(lines.pop(), '2');
  assert.equal(lines.pop(), 'it went on');
  assert.deepEqual(lines.map((line) => JSON.parse(line).err.message).sort(), ['a callback', 'a timer']);
  for (const own of ['one kind: a step of its own', 'one kind: a rejection']) {
    const { status, stdout, stderr } = run(own);
    assert.notEqual(status, 0);
    assert.match(stderr, /of the thread/);
    assert.doesNotMatch(stdout, /it went on/);
  }
});

test('a flood of failures is counted, and logged in part', () => {
  const { stdout, status } = run('flood');
  assert.equal(status, 0);
  const lines = stdout.trim().split('\n');
  assert.equal(lines.pop(), '1000');
  assert.ok(lines.length <= 20, `${lines.length} lines`);
});
