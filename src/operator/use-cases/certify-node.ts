// `payments cluster certificate`: certificates for the links between nodes, signed by an authority
// of their own. All lies in a folder that is no node's: whoever has the authority's key can make
// nodes. Nothing in it is overwritten.

import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certifiedName } from '../../cluster/node-certificate.ts';
import { errorText } from '../../core/errors.ts';
import { writeCertificate } from '../../crypto/certificate.ts';
import { CommandFailure } from './failures.ts';

const dayMs = 86_400_000;
const authorityDays = 3_650;
const nodeDays = 730;
/** Clocks of the nodes may be behind by so much. */
const earlierMs = 3_600_000;
const authorityName = 'Authority of payments nodes';

export interface CertifiedNode {
  readonly node: string;
  /** Paths, and ISO 8601. */
  readonly certificate: string;
  readonly key: string;
  readonly ends: string;
  readonly authority: string;
  readonly authority_ends: string;
  readonly is_new_authority: boolean;
}

interface Authority {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

export function certifyNode(folder: string, node: string, now: Date): CertifiedNode {
  const name = certifiedName(node);
  if (name === null)
    throw new CommandFailure(
      `no certificate can name the node "${node}": take letters, digits and hyphens, at most 63`,
    );
  const authorityFiles = filesOf(folder, 'ca');
  const files = filesOf(folder, `node-${node}`);
  for (const file of Object.values(files))
    if (existsSync(file)) throw new CommandFailure(`${file} is there: move it away to make another one`);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  const isNew = !existsSync(authorityFiles.certificate) && !existsSync(authorityFiles.key);
  if (isNew) makeAuthority(authorityFiles, now);
  const { certificate: authority, key } = authorityIn(authorityFiles, now);
  const endsMs = Math.min(now.getTime() + nodeDays * dayMs, Date.parse(authority.validTo));
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const text = writeCertificate({
    subject: node,
    publicKey: pair.publicKey,
    issuer: { name: authorityName, key },
    isAuthority: false,
    hosts: [name],
    sides: ['server', 'client'],
    notBefore: new Date(now.getTime() - earlierMs),
    notAfter: new Date(endsMs),
  });
  const made = new X509Certificate(text);
  if (!made.checkIssued(authority) || !made.verify(authority.publicKey))
    throw new CommandFailure(`${authorityFiles.certificate} is no authority that this command has made`);
  write(files, text, pair.privateKey);
  return {
    node,
    ...files,
    ends: isoOf(made),
    authority: authorityFiles.certificate,
    authority_ends: isoOf(authority),
    is_new_authority: isNew,
  };
}

type Files = Pick<CertifiedNode, 'certificate' | 'key'>;

function filesOf(folder: string, name: string): Files {
  return { certificate: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
}

function makeAuthority(files: Files, now: Date): void {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const text = writeCertificate({
    subject: authorityName,
    publicKey,
    issuer: { name: authorityName, key: privateKey },
    isAuthority: true,
    hosts: [],
    notBefore: new Date(now.getTime() - earlierMs),
    notAfter: new Date(now.getTime() + authorityDays * dayMs),
  });
  write(files, text, privateKey);
}

function authorityIn(files: Files, now: Date): Authority {
  for (const [file, other] of [
    [files.certificate, files.key],
    [files.key, files.certificate],
  ] as const)
    if (!existsSync(file))
      throw new CommandFailure(`${other} is there without ${file}: put that back, or name another folder`);
  const certificate = readAs(files.certificate, (text) => new X509Certificate(text));
  const key = readAs(files.key, createPrivateKey);
  if (!certificate.checkPrivateKey(key))
    throw new CommandFailure(`${files.key} is not the key of ${files.certificate}`);
  if (Date.parse(certificate.validTo) <= now.getTime())
    throw new CommandFailure(
      `${files.certificate} has ended (${certificate.validTo}): make a new authority in another folder`,
    );
  return { certificate, key };
}

function readAs<T>(file: string, parse: (content: Buffer) => T): T {
  const content = readFileSync(file);
  try {
    return parse(content);
  } catch (error) {
    throw new CommandFailure(`${file} can't be used (${errorText(error)}): put back what it was`);
  }
}

/** The key first: a certificate without its key would be of no use. */
function write(files: Files, certificate: string, key: KeyObject): void {
  const content = key.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(files.key, content, { flag: 'wx', mode: 0o600, flush: true });
  writeFileSync(files.certificate, certificate, { flag: 'wx', mode: 0o644, flush: true });
}

function isoOf({ validTo }: X509Certificate): string {
  return new Date(validTo).toISOString();
}
