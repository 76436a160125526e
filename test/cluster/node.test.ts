// What nodes are told of each other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linksByOf, mismatchOf, parseNodeAddress } from '../../src/cluster/node.ts';

test('addresses of nodes', () => {
  for (const [address, expected] of [
    ['10.0.0.1:8080', { host: '10.0.0.1', port: 8080 }],
    ['node-a.example:443', { host: 'node-a.example', port: 443 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['10.0.0.1', null],
    ['::1:8080', null],
    ['10.0.0.1:0', null],
    ['10.0.0.1:1', { host: '10.0.0.1', port: 1 }],
    ['10.0.0.1:65535', { host: '10.0.0.1', port: 65_535 }],
    ['10.0.0.1:65536', null],
    ['10.0.0.1:70000', null],
    ['', null],
  ] as const)
    assert.deepEqual(parseNodeAddress(address), expected, address);
});

test('nodes link where they know each other by the same', () => {
  const [bySecrets, byCertificate] = [linksByOf(null), linksByOf('node.pem')];
  assert.deepEqual([bySecrets, byCertificate], ['secrets key', 'certificate']);
  for (const same of [bySecrets, byCertificate]) assert.equal(mismatchOf(same, same), null);
  assert.match(
    String(mismatchOf(byCertificate, bySecrets)),
    /^its links go by certificate, and those here by secrets key: set PAYMENTS_CLUSTER_CERT_FILE/,
  );
});
