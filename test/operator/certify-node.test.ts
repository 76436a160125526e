// `payments cluster certificate`: what it makes, for how long it is good, and what it refuses to touch.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { certifyNode } from '../../src/operator/use-cases/certify-node.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { createAuthority } from '../webhooks/certificates.ts';

const now = new Date('2026-11-27T12:00:00Z');
const years = (count: number) => new Date(now.getTime() + count * 365 * 86_400_000);

test('the first call makes an authority, and the next ones certificates of it', () => {
  const folder = join(temporaryFolder(), 'authority');
  const a = certifyNode(folder, 'a', now);
  assert.deepEqual(a, {
    node: 'a',
    certificate: join(folder, 'node-a.pem'),
    key: join(folder, 'node-a.key'),
    ends: '2028-11-26T12:00:00.000Z',
    authority: join(folder, 'ca.pem'),
    authority_ends: '2036-11-24T12:00:00.000Z',
    is_new_authority: true,
  });
  const authority = readFileSync(a.authority, 'utf8');
  const b = certifyNode(folder, 'B-2', now);
  assert.deepEqual([b.is_new_authority, readFileSync(b.authority, 'utf8')], [false, authority]);
  assert.equal(
    new X509Certificate(readFileSync(b.certificate)).subjectAltName,
    'DNS:b-2.payments-node.internal',
  );
  assert.deepEqual(readdirSync(folder).sort(), [
    'ca.key',
    'ca.pem',
    'node-B-2.key',
    'node-B-2.pem',
    'node-a.key',
    'node-a.pem',
  ]);
  for (const key of ['ca.key', 'node-B-2.key', 'node-a.key'])
    assert.equal(statSync(join(folder, key)).mode & 0o777, 0o600);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
});

test('a certificate does not outlast its authority', () => {
  const folder = temporaryFolder();
  certifyNode(folder, 'a', now);
  const late = certifyNode(folder, 'b', years(9.5));
  assert.equal(late.ends, late.authority_ends);
  assert.throws(
    () => certifyNode(folder, 'c', years(10)),
    /ca\.pem has ended \(.* 2036 GMT\): make a new authority/,
  );
});

for (const node of ['', 'a b', 'a.b', '../a', '-a', 'a-', '*', 'é', 'a'.repeat(64)])
  test(`no certificate is made for a node called ${JSON.stringify(node)}`, () => {
    const folder = join(temporaryFolder(), 'authority');
    assert.throws(() => certifyNode(folder, node, now), /^CommandFailure: no certificate can name the node/);
    assert.throws(() => statSync(folder), /ENOENT/);
  });

test('what is there is not overwritten', () => {
  const folder = temporaryFolder();
  const { certificate, key } = certifyNode(folder, 'a', now);
  for (const file of [certificate, key]) {
    const other = file === key ? certificate : key;
    rmSync(other);
    const before = readFileSync(file, 'utf8');
    assert.throws(() => certifyNode(folder, 'a', now), new RegExp(`${file} is there: move it away`));
    assert.equal(readFileSync(file, 'utf8'), before);
    rmSync(file);
    certifyNode(folder, 'a', now);
  }
});

const broken: readonly (readonly [title: string, breakIt: (folder: string) => void, failure: RegExp])[] = [
  [
    'without its key',
    (at) => rmSync(join(at, 'ca.key')),
    /ca\.pem is there without .*ca\.key: put that back/,
  ],
  [
    'without its certificate',
    (at) => rmSync(join(at, 'ca.pem')),
    /ca\.key is there without .*ca\.pem: put that back/,
  ],
  [
    "with another's key",
    (at) => copyFileSync(join(at, 'node-a.key'), join(at, 'ca.key')),
    /ca\.key is not the key of .*ca\.pem/,
  ],
  [
    'that this command has not made',
    (at) => {
      const { cert, key } = createAuthority().issue({ hosts: [] });
      writeFileSync(join(at, 'ca.pem'), cert);
      writeFileSync(join(at, 'ca.key'), key);
    },
    /ca\.pem is no authority that this command has made/,
  ],
  [
    'that is no certificate',
    (at) => writeFileSync(join(at, 'ca.pem'), 'x'),
    /ca\.pem can't be used \(.*\): put back/,
  ],
];
for (const [title, breakIt, failure] of broken)
  test(`an authority ${title} signs nothing`, () => {
    const folder = temporaryFolder();
    certifyNode(folder, 'a', new Date());
    breakIt(folder);
    assert.throws(() => certifyNode(folder, 'b', new Date()), failure);
    assert.equal(
      readdirSync(folder).some((file) => file.startsWith('node-b')),
      false,
    );
  });

test('a folder that can not be written is named', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  assert.throws(() => certifyNode(file, 'a', now), /ENOTDIR.*ca\.key/);
});
