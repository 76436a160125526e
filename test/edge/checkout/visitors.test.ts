import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, createVisitors } from '../../../src/edge/http/visitors.ts';
import { createManualClock } from '../../manual-clock.ts';

function setUp(options: { trustedProxies?: string[]; visitorsMax?: number } = {}) {
  const clock = createManualClock(0);
  // Seven visits at once: six a minute, and ten seconds' worth on top.
  const visitors = createVisitors({
    visitsPerMinute: 6,
    trustedProxies: [],
    visitorsMax: 100,
    monotonic: clock.monotonic,
    ...options,
  });
  const exhaust = (remote: string, forwarded = '') => {
    for (let i = 0; i < 7; i++) assert.equal(visitors.admit(remote, forwarded), null);
  };
  return { clock, visitors, exhaust };
}

test('an address that has used up its visits waits for the next one', () => {
  const { clock, visitors, exhaust } = setUp();
  exhaust('192.0.2.1');
  assert.equal(visitors.admit('192.0.2.1', ''), 10);
  assert.equal(visitors.admit('192.0.2.2', ''), null);
  clock.advance(10_000);
  assert.equal(visitors.admit('192.0.2.1', ''), null);
});

const proxies = ['10.0.0.0/8', '2001:db8::1'];
/** Two ways to arrive, and whether they are one visitor. */
const pairs: readonly [string, [string, string], [string, string], boolean][] = [
  ['IPv4, plain and dressed as IPv6', ['192.0.2.1', ''], ['::ffff:192.0.2.1', ''], true],
  ['written out as IPv6', ['192.0.2.1', ''], ['0000:0000:0000:0000:0000:ffff:c000:0201', ''], true],
  ['one IPv6 network', ['2001:db8:1:2::1', ''], ['2001:db8:1:2:ffff::9', ''], true],
  ['two IPv6 networks', ['2001:db8:1:2::1', ''], ['2001:db8:1:3::1', ''], false],
  ['a header from nobody trusted', ['192.0.2.1', '198.51.100.1'], ['192.0.2.1', '198.51.100.2'], true],
  ['two visitors behind a proxy', ['10.1.2.3', '198.51.100.1'], ['10.1.2.3', '198.51.100.2'], false],
  [
    'one visitor behind two proxies',
    ['10.1.2.3', '198.51.100.1'],
    ['2001:db8::1', '198.51.100.1, 10.9.9.9'],
    true,
  ],
  [
    'what the visitor itself wrote',
    ['10.1.2.3', '203.0.113.9, 198.51.100.1'],
    ['10.1.2.3', '198.51.100.1'],
    true,
  ],
  ['rubbish in the header', ['10.1.2.3', 'unknown'], ['10.1.2.3', ''], true],
  ['what stands before rubbish', ['10.1.2.3', '203.0.113.9, unknown'], ['10.1.2.3', ''], true],
  ['proxies only', ['10.1.2.3', '10.1.2.4'], ['10.1.2.4', ''], true],
];
for (const [name, [remote, forwarded], other, same] of pairs) {
  test(`${name}: ${same ? 'one visitor' : 'two visitors'}`, () => {
    const { visitors, exhaust } = setUp({ trustedProxies: proxies });
    exhaust(remote, forwarded);
    assert.equal(visitors.admit(...other) !== null, same);
  });
}

test('a site with many IPv6 networks has a few times as many visits as one of them', () => {
  const { visitors, clock } = setUp();
  const admit = (network: number) => visitors.admit(`2001:db8:1:${network.toString(16)}::1`, '');
  const admitted = () =>
    Array.from({ length: 200 }, (_, network) => admit(network)).filter((wait) => wait === null);
  // Four times six, and ten seconds' worth on top.
  assert.equal(admitted().length, 28);
  assert.equal(visitors.admit('2001:db8:2::1', ''), null, 'another site');
  clock.advance(60_000);
  assert.equal(admitted().length, 24);
  // What the site has no room for is not spent for the network, which would else have one more in ten seconds.
  for (let i = 0; i < 7; i++) assert.notEqual(admit(150), null);
  clock.advance(10_000);
  for (let i = 0; i < 4; i++) assert.equal(admit(150), null);
});

test('so many addresses that were seen last are remembered, and not more than twice as many', () => {
  const { visitors, exhaust } = setUp({ visitorsMax: 2 });
  exhaust('192.0.2.1');
  exhaust('192.0.2.2');
  assert.notEqual(visitors.admit('192.0.2.1', ''), null);
  for (const other of ['192.0.2.3', '192.0.2.4']) assert.equal(visitors.admit(other, ''), null);
  assert.notEqual(visitors.admit('192.0.2.1', ''), null);
  assert.equal(visitors.admit('192.0.2.2', ''), null);
});

test('a trusted proxy that is no address is refused at the start', () => {
  for (const proxy of ['', 'proxy.example', '10.0.0.0/33']) {
    assert.throws(() => setUp({ trustedProxies: [proxy] }), /address or a network/);
  }
});

test('what comes from one address for an organization holds up none of the others, until it is too much for all', () => {
  const { monotonic, advance } = createManualClock(0);
  const callers = createCallers({ visitsPerMinute: 6, trustedProxies: [], visitorsMax: 100, monotonic });
  const admit = (org: string, address = '192.0.2.1') => callers.admit(address, '', org);
  for (let i = 0; i < 7; i++) assert.equal(admit('org_1'), null);
  assert.equal(admit('org_1'), 10);
  assert.equal(admit('org_2'), null);
  assert.equal(admit('org_1', '192.0.2.2'), null);
  callers.giveBack('192.0.2.1', '', 'org_1');
  assert.equal(admit('org_1'), null);
  const names = Array.from({ length: 1_000 }, (_, at) => `org_x${at}`);
  const admitted = names.filter((org) => admit(org) === null);
  assert(admitted.length > 100 && admitted.length < 150, String(admitted.length));
  for (let i = 0; i < 10; i++) assert.notEqual(admit('org_3'), null);
  callers.giveBack('192.0.2.1', '', names[0]!);
  assert.equal(admit('org_4'), null, 'what is given back is there for all');
  advance(5_000);
  assert.equal(admit('org_3'), null, 'what was refused for all was not spent');
});
