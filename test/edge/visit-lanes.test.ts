// The ways of the dashboard's visits to the main thread, and whose they are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownSessions } from '../../src/edge/dashboard/known-sessions.ts';
import { VisitLanes, type Way } from '../../src/edge/dashboard/visit-lanes.ts';

function setUp() {
  const lanes = new VisitLanes();
  const sent: number[] = [];
  const refused: number[] = [];
  let count = 0;
  const put = (way: Way) => {
    const id = ++count;
    lanes.put(id, way, { send: () => sent.push(id), refuse: () => refused.push(id) });
    return id;
  };
  const stranger = (address: string): Way => ({ lane: 'pages', owners: [address, address] });
  const form = (address: string): Way => ({ lane: 'forms', owners: [address, address] });
  const member = (org: string, name: string): Way => ({ lane: 'members', owners: [org, name] });
  /** How many of so many visits are on their way. */
  const admitted = (times: number, wayOf: (i: number) => Way) =>
    Array.from({ length: times }, (_, i) => put(wayOf(i))).filter((id) => sent.includes(id)).length;
  return { lanes, sent, refused, put, stranger, form, member, admitted };
}

test('neither forms nor pages of strangers, nor other organizations, take the slots of a member', () => {
  const { form, stranger, member, admitted } = setUp();
  assert.equal(
    admitted(1_000, (i) => form(`198.51.100.${i % 100}`)),
    64,
  );
  admitted(1_000, (i) => stranger(`198.51.100.${i % 100}`));
  assert.equal(
    admitted(100, () => member('org_1', 'mem_1')),
    16,
    'a member',
  );
  assert.equal(
    admitted(100, (i) => member('org_1', `mem_${i}`)),
    32,
    'an organization has 48',
  );
  assert.equal(
    admitted(1, () => member('org_2', 'mem_200')),
    1,
  );
});

test('an address takes a share of the forms, and a site of IPv6 not much more', () => {
  const { form, admitted } = setUp();
  assert.equal(
    admitted(20, () => form('198.51.100.1')),
    8,
  );
  const ofSite = (i: number): Way => ({ lane: 'forms', owners: ['2001:db8:1::/48', `2001:db8:1:${i}::/64`] });
  assert.equal(admitted(40, ofSite), 16);
  assert.equal(
    admitted(1, () => form('198.51.100.2')),
    1,
  );
});

test('strangers take turns by address, and whoever sends most is refused first', () => {
  const { lanes, sent, refused, put, stranger } = setUp();
  const crowd = Array.from({ length: 600 }, (_, i) => put(stranger(`198.51.100.${i % 60}`)));
  assert.equal(sent.length, 16);
  assert.equal(refused.length, 600 - 16 - 256);
  const quiet = put(stranger('203.0.113.1'));
  assert(!refused.includes(quiet));
  // Each answer makes room for the next; before the crowd's second round it is the quiet one's turn.
  for (let answered = 0; !sent.includes(quiet); answered++) {
    assert(answered < 61, 'it waits for a round at most');
    lanes.end(sent[answered]!);
  }
  assert(crowd.some((id) => !sent.includes(id) && !refused.includes(id)));
});

test('one who leaves waits no longer, and when the main thread is away all are refused', () => {
  const { lanes, sent, refused, put, stranger } = setUp();
  const ids = Array.from({ length: 20 }, (_, i) => put(stranger(`198.51.100.${i}`)));
  assert.equal(lanes.remove(ids[0]!), false, 'it was sent');
  assert.equal(lanes.remove(ids[16]!), true);
  lanes.end(ids[0]!);
  assert.deepEqual(sent.slice(16), [ids[17]]);
  lanes.clear();
  assert.deepEqual(refused, [ids[18], ids[19]]);
  put(stranger('198.51.100.1'));
  assert.equal(sent.length, 18);
});

test('a visit counts for the organization once the main thread has said so; what a path claims is not believed', () => {
  const sessions = new KnownSessions((cookie) => /session=(\w+)/.exec(cookie)?.[1] ?? null);
  const path = '/dashboard/org_1/test/home';
  assert.equal(sessions.ownersOf('session=a', path), null);
  sessions.learn('session=a', { member: 'mem_1', organizations: ['org_1', 'org_2'] });
  assert.deepEqual(sessions.ownersOf('lang=fr; session=a', path), ['org_1', 'mem_1']);
  assert.deepEqual(sessions.ownersOf('session=a', '/dashboard/org_3/test/home'), ['mem_1', 'mem_1']);
  assert.deepEqual(sessions.ownersOf('session=a', '/dashboard/me'), ['mem_1', 'mem_1']);
  assert.equal(sessions.ownersOf('session=b', path), null);
  sessions.learn('', { member: 'mem_1', organizations: [] });
  assert.equal(sessions.ownersOf('', path), null);
  sessions.learn('session=a', null);
  assert.equal(sessions.ownersOf('session=a', path), null, 'it has ended');
});

test('only so many sessions are remembered', () => {
  const sessions = new KnownSessions((cookie) => cookie);
  for (let i = 0; i <= 10_000; i++) sessions.learn(`token-${i}`, { member: `mem_${i}`, organizations: [] });
  assert.equal(sessions.ownersOf('token-0', '/dashboard'), null);
  assert.deepEqual(sessions.ownersOf('token-1', '/dashboard'), ['mem_1', 'mem_1']);
});
