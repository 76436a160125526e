// The address of a connection's other end, as it comes from uWebSockets.js.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import ipaddr from 'ipaddr.js';
import { createNetworksOf, remoteAddressOf } from '../../src/edge/http/client-address.ts';

test('each address has its own text, and that of an IPv4 address is made from its bytes', () => {
  const asked: string[] = [];
  const addresses = ['203.0.113.7', '7.113.0.203', '255.255.255.255', '0.0.0.0', '2001:db8:0:0:0:0:0:1'];
  for (const address of [...addresses, ...addresses]) {
    const found = remoteAddressOf({
      getRemoteAddress: () => Uint8Array.from(ipaddr.parse(address).toByteArray()).buffer,
      getRemoteAddressAsText() {
        asked.push(address);
        return new TextEncoder().encode(address).buffer;
      },
    });
    assert.equal(found, address);
  }
  assert.deepEqual(asked, [addresses.at(-1), addresses.at(-1)]);
});

test('many addresses are remembered no longer than they have room', () => {
  const textOf = (number: number) => `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  for (let number = 0; number < 25_000; number++) {
    const address = textOf(number % 12_000);
    const found = remoteAddressOf({
      getRemoteAddress: () => Uint8Array.from(address.split('.').map(Number)).buffer,
      getRemoteAddressAsText: () => new TextEncoder().encode(address).buffer,
    });
    assert.equal(found, address);
  }
});

const networksOf = createNetworksOf(['10.0.0.0/8']);
for (const [given, counted] of [
  ['192.0.2.1', ['c0000201']],
  ['::ffff:192.0.2.1', ['c0000201']],
  ['2001:db8:1:2::7', ['20010db800010002', '20010db80001']],
  ['10.1.2.3', []],
  ['no address', []],
] as const)
  test(`connections of ${given} are counted as ${counted.join(' and ') || 'nothing'}`, () =>
    assert.deepEqual(networksOf(given), counted));
