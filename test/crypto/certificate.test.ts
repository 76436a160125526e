// Certificates are what OpenSSL reads, and are encoded in the one way that DER allows.

import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { type CertificateContents, writeCertificate } from '../../src/crypto/certificate.ts';

const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

function written(contents: Partial<CertificateContents> = {}): X509Certificate {
  return new X509Certificate(
    writeCertificate({
      subject: 'node 1',
      publicKey,
      issuer: { name: 'nodes', key: authority.privateKey },
      isAuthority: false,
      hosts: [],
      notBefore: new Date('2026-01-02T03:04:05.678Z'),
      notAfter: new Date('2027-01-02T03:04:05Z'),
      ...contents,
    }),
  );
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** Those that lie side by side. Each tells its length in as few bytes as it takes. */
function elementsOf(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at + 1]!;
    const lengthBytes = first < 0x80 ? 0 : first - 0x80;
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
    assert.ok(lengthBytes === 0 || length >= 0x80, 'a length below 128 is one byte');
    assert.ok(lengthBytes < 2 || length >= 256 ** (lengthBytes - 1), 'a length has no leading zero');
    const from = at + 2 + lengthBytes;
    elements.push({ tag: bytes[at]!, content: bytes.subarray(from, from + length) });
    at = from + length;
  }
  return elements;
}

/** Looks at all lengths, to the innermost. */
function assertDer(bytes: Buffer): void {
  for (const { tag, content } of elementsOf(bytes)) if ((tag & 0x20) !== 0) assertDer(content);
}

function partsOf(certificate: X509Certificate): Element[] {
  const [whole] = elementsOf(certificate.raw);
  const [content] = elementsOf(whole!.content);
  return elementsOf(content!.content);
}

/** What it says of these extensions, by their ids: whether it is critical, and its value. */
function extensionOf(
  certificate: X509Certificate,
  id: string,
): { isCritical: boolean; value: string } | null {
  const [list] = elementsOf(partsOf(certificate).at(-1)!.content);
  for (const { content } of elementsOf(list!.content)) {
    const parts = elementsOf(content);
    if (parts[0]!.content.toString('hex') !== id) continue;
    const isCritical = parts.length === 3 && parts[1]!.content.toString('hex') === 'ff';
    return { isCritical, value: parts.at(-1)!.content.toString('hex') };
  }
  return null;
}

const usage = '551d0f';
const sides = '551d25';

test('it says who signs, for whom, and is signed', () => {
  const certificate = written();
  assert.equal(certificate.issuer, 'CN=nodes');
  assert.equal(certificate.subject, 'CN=node 1');
  assert.ok(certificate.verify(authority.publicKey));
  assert.ok(!certificate.verify(publicKey));
  assert.ok(certificate.publicKey.equals(publicKey));
  assert.equal(certificate.serialNumber.length, 32);
  assert.notEqual(certificate.serialNumber, written().serialNumber);
});

test('who is an authority may sign others, and who is not may not', () => {
  const one = written({ isAuthority: true });
  assert.ok(one.ca);
  assert.deepEqual(extensionOf(one, usage), { isCritical: true, value: '03020106' });
  const other = written();
  assert.ok(!other.ca);
  assert.deepEqual(extensionOf(other, usage), { isCritical: true, value: '03020780' });
});

test('sides and hosts are those that it is for', () => {
  const certificate = written({ sides: ['server', 'client'], hosts: ['a.test', '10.0.0.1', '::1'] });
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  assert.equal(certificate.subjectAltName, 'DNS:a.test, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1');
  assert.deepEqual(written({ sides: ['client'] }).keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.equal(extensionOf(written(), sides), null);
  assert.equal(written().subjectAltName, undefined);
});

for (const [at, tag, text] of [
  ['2026-01-02T03:04:05.678Z', 0x17, '260102030405Z'],
  ['2049-12-31T23:59:59Z', 0x17, '491231235959Z'],
  ['2050-01-01T00:00:00Z', 0x18, '20500101000000Z'],
] as const)
  test(`a time has the years' digits that it takes: ${at}`, () => {
    const certificate = written({ notAfter: new Date(at) });
    const [, notAfter] = elementsOf(partsOf(certificate)[4]!.content);
    assert.deepEqual([notAfter!.tag, notAfter!.content.toString()], [tag, text]);
    assert.equal(new Date(certificate.validTo).getTime(), Math.floor(Date.parse(at) / 1000) * 1000);
  });

for (const length of [
  1, 100, 121, 122, 123, 124, 125, 126, 127, 128, 200, 249, 250, 251, 252, 253, 254, 255, 256, 400,
])
  test(`each length is told in as few bytes as it takes, with a host of ${length} letters`, () => {
    const host = 'a'.repeat(length);
    const certificate = written({ hosts: [host] });
    assertDer(certificate.raw);
    assert.equal(certificate.subjectAltName, `DNS:${host}`);
    assert.ok(certificate.verify(authority.publicKey));
  });
