// Writes X.509 certificates (RFC 5280) that are signed with ECDSA over P-256. It only writes them:
// OpenSSL reads and judges them, in every handshake.

import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface CertificateContents {
  /** A common name, and who it is that signs. */
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: { readonly name: string; readonly key: KeyObject };
  /** It may sign others, and nothing else. */
  readonly isAuthority: boolean;
  /** DNS names or IP addresses that the certificate is for. */
  readonly hosts: readonly string[];
  /** What it is good for as one side of a connection; none: for anything. */
  readonly sides?: readonly ('server' | 'client')[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** The certificate, PEM. */
export function writeCertificate(contents: CertificateContents): string {
  const { subject, publicKey, issuer, notBefore, notAfter } = contents;
  const content = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    commonName(issuer.name),
    sequence(time(notBefore), time(notAfter)),
    commonName(subject),
    spki(publicKey),
    der(0xa3, sequence(...extensionsOf(contents))),
  );
  const signature = sign('sha256', content, issuer.key);
  const certificate = sequence(content, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const sideIds = { server: '2b06010505070301', client: '2b06010505070302' };
const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
const isTrue = der(0x01, Buffer.of(0xff));
/**
 * Bit strings, the number of unused bits first: to sign certificates and lists of revoked ones; to
 * sign handshakes.
 */
const usages = { authority: Buffer.of(1, 0x06), other: Buffer.of(7, 0x80) };

function extensionsOf({ publicKey, issuer, isAuthority, hosts, sides = [] }: CertificateContents): Buffer[] {
  const usage = isAuthority ? usages.authority : usages.other;
  return [
    extension('551d13', sequence(...(isAuthority ? [isTrue] : [])), isTrue),
    extension('551d0f', der(0x03, usage), isTrue),
    // Two authorities of one name are told apart by their keys.
    extension('551d0e', der(0x04, keyId(publicKey))),
    extension('551d23', sequence(der(0x80, keyId(createPublicKey(issuer.key))))),
    ...(sides.length > 0
      ? [extension('551d25', sequence(...sides.map((side) => objectId(sideIds[side]))))]
      : []),
    ...(hosts.length > 0 ? [extension('551d11', sequence(...hosts.map(alternativeName)))] : []),
  ];
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(name)))));
}

const firstYearOfLongForm = 2050;

/** To the second; with two digits of the year as long as these say it. */
function time(date: Date): Buffer {
  const text = Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, ''));
  return date.getUTCFullYear() < firstYearOfLongForm ? der(0x17, text.subarray(2)) : der(0x18, text);
}

function spki(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

function keyId(publicKey: KeyObject): Buffer {
  return createHash('sha256').update(spki(publicKey)).digest().subarray(0, 20);
}

function extension(id: string, value: Buffer, ...critical: readonly Buffer[]): Buffer {
  return sequence(objectId(id), ...critical, der(0x04, value));
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 0
    ? der(0x82, Buffer.from(host))
    : der(0x87, Buffer.from(ipaddr.parse(host).toByteArray()));
}
