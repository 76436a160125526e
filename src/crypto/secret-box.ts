// Seals secrets that are needed as they are, so that a digest would not do: AES-256-GCM, with a key
// outside of the data folder. A sealed secret opens only with what it belongs to (an endpoint, a
// setting, a member's authenticator app, a mail) and its organization, where it has one. While a
// new key replaces an old one, the first one seals, and each opens what it sealed.
//
//   v1.<key id>.<base64url of: nonce (12 bytes), sealed text, tag (16)>

import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { defined, elementAt } from '../core/assert.ts';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** What a secret belongs to, by its id; the organization of that, or a word in its place. */
export interface SecretOwner {
  readonly id: string;
  readonly org: string;
}

/** A sealed secret was changed, or none of the keys opens it. The message contains no secret. */
export class SecretUnreadable extends Error {
  override name = 'SecretUnreadable';
}

/** A new key in the form of a line of a key file. */
export function newSecretsKey(): string {
  return randomBytes(keyBytes).toString('base64');
}

/** The id of a key, which reveals nothing of the key. */
export function idOfKey(key: string): string {
  return hash('sha256', Buffer.from(key, 'base64'), 'hex').slice(0, 12);
}

/** Whether a text has the form of a key: 32 bytes in base 64. */
export function isSecretsKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}

export class SecretBox {
  readonly #keys = new Map<string, Buffer>();
  /** The id of the key that seals. */
  readonly keyId: string;

  /** `keys` are the lines of a key file, at least one. */
  constructor(keys: readonly string[]) {
    for (const key of keys) this.#keys.set(idOfKey(key), Buffer.from(key, 'base64'));
    this.keyId = idOfKey(elementAt(keys, 0));
  }

  seal(secret: string, owner: SecretOwner): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(
      algorithm,
      defined(this.#keys.get(this.keyId), 'there is a key that seals'),
      nonce,
    );
    cipher.setAAD(associatedData(owner));
    const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `v1.${this.keyId}.${sealed.toString('base64url')}`;
  }

  /** Throws `SecretUnreadable`. */
  open(sealed: string, owner: SecretOwner): string {
    const [version, keyId = '', content = ''] = sealed.split('.');
    const key = this.#keys.get(keyId);
    if (version !== 'v1' || key === undefined)
      throw new SecretUnreadable(`the key ${keyId} of the secret of ${owner.id} is missing`);
    const bytes = Buffer.from(content, 'base64url');
    const nonce = bytes.subarray(0, nonceBytes);
    try {
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(associatedData(owner));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([opened, decipher.final()]).toString();
    } catch {
      throw new SecretUnreadable(`the sealed secret of ${owner.id} was changed`);
    }
  }
}

function associatedData({ id, org }: SecretOwner): Buffer {
  return Buffer.from(`${id} ${org}`);
}

/** About 1 KiB each. */
const keysMax = 4096;

interface Opened extends SecretOwner {
  readonly key: KeyObject;
}

/**
 * The signing secrets of endpoints as keys of an HMAC. A secret is opened for its first message,
 * and its key kept for the ones that follow: opening costs more than signing.
 */
export class SigningKeys {
  readonly #box: SecretBox;
  /** By the sealed secret. */
  readonly #opened = new Map<string, Opened>();

  constructor(box: SecretBox) {
    this.#box = box;
  }

  /** The key of a sealed secret. Throws `SecretUnreadable`. */
  open(sealed: string, { id, org }: SecretOwner): KeyObject {
    const known = this.#opened.get(sealed);
    if (known?.id === id && known.org === org) return known.key;
    const key = createSecretKey(this.#box.open(sealed, { id, org }), 'utf8');
    if (this.#opened.size >= keysMax) this.#opened.clear();
    this.#opened.set(sealed, { id, org, key });
    return key;
  }
}
