// Makes X.509 certificates for tests, an authority and what it signs, with P-256 keys unless asked otherwise. It writes the DER
// itself, so tests need no tool and no network.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A certificate and its private key, both PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

interface CertificateOptions {
  /** DNS names or IP addresses that the certificate is for. */
  readonly hosts: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** On an RSA key. */
  readonly rsa?: boolean;
}

interface Authority {
  /** The authority's own certificate, PEM. */
  readonly cert: string;
  issue(options: CertificateOptions): Identity;
}

const dayMs = 86_400_000;

export function createAuthority(name = 'Test authority'): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name, key: keys.privateKey };
  return {
    cert: certify({ subject: name, publicKey: keys.publicKey, issuer, authority: true, hosts: [] }),
    issue: (options) => {
      const { publicKey, privateKey } = options.rsa
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const cert = certify({ subject: 'Receiver', publicKey, issuer, authority: false, ...options });
      return { cert, key: pemOfKey(privateKey) };
    },
  };
}

/** A self-signed certificate. */
export function selfSigned(options: CertificateOptions): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name: 'Receiver', key: privateKey };
  const cert = certify({ subject: 'Receiver', publicKey, issuer, authority: false, ...options });
  return { cert, key: pemOfKey(privateKey) };
}

interface Contents extends CertificateOptions {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuer: { readonly name: string; readonly key: KeyObject };
  readonly authority: boolean;
}

function certify(contents: Contents): string {
  const { subject, publicKey, issuer, authority, hosts } = contents;
  const notBefore = contents.notBefore ?? new Date(Date.now() - dayMs);
  const notAfter = contents.notAfter ?? new Date(Date.now() + dayMs);
  const extensions = [extension('551d13', sequence(...(authority ? [der(0x01, Buffer.of(0xff))] : [])))];
  if (hosts.length > 0) extensions.push(extension('551d11', sequence(...hosts.map(alternativeName))));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    commonName(issuer.name),
    sequence(time(notBefore), time(notAfter)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', content, issuer.key);
  const certificate = sequence(content, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
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

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(name)))));
}

/** GeneralizedTime, `YYYYMMDDHHMMSSZ`. */
function time(date: Date): Buffer {
  return der(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, '')));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), der(0x04, value));
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 0
    ? der(0x82, Buffer.from(host))
    : der(0x87, Buffer.from(ipaddr.parse(host).toByteArray()));
}

function pemOfKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
