// Makes X.509 certificates for tests, an authority and what it signs, with P-256 keys unless asked otherwise. Tests need no tool
// and no network for it.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type CertificateContents, writeCertificate } from '../../src/crypto/certificate.ts';

/** A certificate and its private key, both PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

interface CertificateOptions extends Partial<Pick<CertificateContents, 'sides' | 'notBefore' | 'notAfter'>> {
  /** DNS names or IP addresses that the certificate is for. */
  readonly hosts: readonly string[];
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
    cert: certify({ subject: name, publicKey: keys.publicKey, issuer, isAuthority: true, hosts: [] }),
    issue: ({ rsa, ...options }) => {
      const { publicKey, privateKey } = rsa
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const cert = certify({ subject: 'Receiver', publicKey, issuer, isAuthority: false, ...options });
      return { cert, key: pemOfKey(privateKey) };
    },
  };
}

/** A self-signed certificate. */
export function selfSigned(options: Omit<CertificateOptions, 'rsa'>): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name: 'Receiver', key: privateKey };
  const cert = certify({ subject: 'Receiver', publicKey, issuer, isAuthority: false, ...options });
  return { cert, key: pemOfKey(privateKey) };
}

type Undated = Omit<CertificateContents, 'notBefore' | 'notAfter'>;

function certify(contents: Undated & Partial<CertificateContents>): string {
  const notBefore = new Date(Date.now() - dayMs);
  const notAfter = new Date(Date.now() + dayMs);
  return writeCertificate({ notBefore, notAfter, ...contents });
}

function pemOfKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}
