// The limit of connections from one address: it is estimated from what the address has opened, and counted when connections
// may have ended.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import ipaddr from 'ipaddr.js';
import {
  type ConnectionRefusal,
  Connections,
  type ConnectionsOptions,
} from '../../src/edge/http/connections.ts';
import { addressKeys, countPeers, createPeerCount } from '../../src/edge/http/peer-table.ts';

const bytesOf = (address: string) => Uint8Array.from(ipaddr.parse(address).toByteArray());

function peer(address: string) {
  return {
    getRemoteAddress: () => bytesOf(address).buffer,
    getRemoteAddressAsText: () => new TextEncoder().encode(address).buffer,
  };
}

/** An edge with a made-up kernel table, which counts how often it is read. */
function edge(options: Partial<ConnectionsOptions> = {}) {
  const open = new Map<string, number>();
  const refusals: ConnectionRefusal[] = [];
  const clock = { ms: 0 };
  let counts = 0;
  const connections = new Connections({
    max: 100,
    perAddressMax: 10,
    open: new Int32Array(1),
    edges: 1,
    isExempt: () => false,
    countPeers() {
      counts++;
      return new Map(open);
    },
    monotonic: () => clock.ms,
    onRefused: (reason) => refusals.push(reason),
    ...options,
  });
  const add = (address: string, change: number) => {
    for (const key of addressKeys(bytesOf(address))) open.set(key, (open.get(key) ?? 0) + change);
  };
  const close = (address: string) => {
    add(address, -1);
    connections.closed();
  };
  return {
    refusals,
    clock,
    counts: () => counts,
    close,
    come(address: string): boolean {
      add(address, 1);
      const stays = connections.opened(peer(address));
      if (!stays) close(address);
      return stays;
    },
  };
}

const times = (count: number, step: () => boolean) =>
  Array.from({ length: count }, step).filter(Boolean).length;

test('an address gets so many and no more, the others what is left', () => {
  const { come, refusals } = edge({ max: 25 });
  assert.equal(
    times(15, () => come('192.0.2.1')),
    10,
  );
  assert.equal(
    times(15, () => come('2001:db8::1')),
    10,
  );
  assert.equal(
    times(3, () => come('2001:db8::2')),
    0,
    'the same network',
  );
  assert.deepEqual(new Set(refusals), new Set(['address']));
  assert.equal(
    times(15, () => come('::ffff:192.0.2.2')),
    5,
  );
  assert.equal(refusals.at(-1), 'all');
});

test('a site with many IPv6 networks gets a few times as many as one network, and leaves room for others', () => {
  const { come, refusals } = edge({ max: 1_000 });
  const admitted = Array.from({ length: 100 }, (_, i) =>
    times(15, () => come(`2001:db8:5:${i.toString(16)}::1`)),
  );
  assert.deepEqual(admitted.slice(0, 5), [10, 10, 10, 10, 0]);
  assert.deepEqual(new Set(admitted.slice(5)), new Set([0]));
  assert.deepEqual(new Set(refusals), new Set(['address']));
  assert.equal(
    times(15, () => come('2001:db8:6::1')),
    10,
    'another site',
  );
});

test('what has ended does not count, although nobody says whose it was', () => {
  const { come, close, counts, clock } = edge();
  for (let i = 0; i < 10; i++) assert(come('192.0.2.9'));
  for (let i = 0; i < 1_000; i++) {
    assert(come('192.0.2.1'), `connection ${i}`);
    close('192.0.2.1');
    clock.ms += 10;
  }
  assert(counts() <= 101, `it was counted ${counts()} times`);
});

test('of several edges each expects that the others have as many of an address, and as many that have ended', () => {
  const { come, close, counts } = edge({ edges: 2, max: 1_000 });
  for (let i = 0; i < 20; i++) assert(come(`198.51.100.${i}`));
  for (let i = 0; i < 5; i++) assert(come('192.0.2.1'));
  assert.equal(counts(), 0);
  close('192.0.2.1');
  assert(come('192.0.2.1'));
  assert.equal(counts(), 1);
});

test('between two counts, as many too many get in as have ended, and the next count notices', () => {
  const { come, close, clock } = edge({ perAddressMax: 10, max: 1_000 });
  for (let i = 0; i < 20; i++) assert(come(`198.51.100.${i}`));
  assert.equal(
    times(15, () => come('192.0.2.1')),
    10,
  );
  // Others leave while nothing is counted.
  close('198.51.100.1');
  assert.equal(
    times(1, () => come('192.0.2.1')),
    0,
    'this was counted',
  );
  for (let i = 2; i < 6; i++) close(`198.51.100.${i}`);
  assert.equal(
    times(15, () => come('192.0.2.1')),
    4,
  );
  clock.ms += 1_000;
  assert.equal(
    times(15, () => come('192.0.2.1')),
    0,
  );
});

test('few connections are not counted at all', () => {
  const { come, close, counts } = edge();
  for (let i = 0; i < 1_000; i++) {
    assert(come('192.0.2.1'));
    close('192.0.2.1');
  }
  assert.equal(counts(), 0);
});

test('who is refused again and again does not have it counted each time', () => {
  const { come, counts } = edge();
  assert.equal(
    times(1_000, () => come('192.0.2.1')),
    10,
  );
  assert.equal(counts(), 0);
});

test('addresses that never come back are not remembered for ever', () => {
  const { come, close, counts, clock } = edge();
  for (let i = 0; i < 30_000; i++) {
    const address = `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
    assert(come(address));
    close(address);
    clock.ms++;
  }
  assert(counts() >= 2, 'a count forgets them');
});

test('trusted proxies, and a system without a table, have no limit of an address', () => {
  const proxy = edge({ isExempt: (address) => address === '192.0.2.1' });
  assert.equal(
    times(30, () => proxy.come('192.0.2.1')),
    30,
  );
  assert.equal(proxy.counts(), 0);
  assert.equal(
    times(30, () => proxy.come('192.0.2.2')),
    10,
  );
  const elsewhere = edge({ countPeers: null });
  assert.equal(
    times(100, () => elsewhere.come('192.0.2.1')),
    100,
  );
});

test('the table of the kernel is read as it is written, which may tell of a connection twice', () => {
  const line = (local: string, remote: string, state: string, inode: number) =>
    `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 00 20 4 30 10 -1\n`;
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n',
    line('0100007F:1F90', '00000000:0000', '0A', 900),
    line('0100007F:1F90', '010200C0:B43B', '01', 901),
    line('0100007F:1F90', '010200C0:B43C', '08', 902),
    line('0100007F:1F90', '010200C0:B43B', '01', 901),
    line('0100007F:1F90', '010200C0:B43D', '06', 0),
    line('0100007F:1F91', '010200C0:B43E', '01', 903),
    line('0000000000000000FFFF00000100007F:1F90', '0000000000000000FFFF0000010200C0:B43F', '01', 904),
    line('B80D0120000000000000000001000000:1F90', 'B80D0120000000000000000002000000:B440', '01', 905),
  ].join('');
  const expected = [
    [...addressKeys(bytesOf('192.0.2.1')), 3],
    ...addressKeys(bytesOf('2001:db8::2')).map((key) => [key, 1]),
  ];
  assert.deepEqual([...countPeers(table, 0x1f90)], expected);
});

test('and has the connections that there are', async (context) => {
  if (process.platform !== 'linux') return context.skip('there is no such table');
  const accepted = Promise.withResolvers<void>();
  let left = 5;
  const server = createServer(() => {
    if (--left === 0) accepted.resolve();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: left }, () => connect(port, '127.0.0.1'));
  await accepted.promise;
  assert.deepEqual([...createPeerCount(port)!()], [[...addressKeys(bytesOf('127.0.0.1')), 5]]);
  for (const socket of sockets) socket.destroy();
  server.close();
});
