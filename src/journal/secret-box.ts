// Sealed secrets: what must not lie in the data folder as it is, because it is used again and so can't be a digest.
// AES-256-GCM under a key that is kept elsewhere. A sealed text is bound to what it belongs to: put anywhere else it
// doesn't open.
//
//   v1.<key id>.<base64url of: nonce (12 bytes), sealed text, tag (16)>
//
// There may be several keys, so that a new one can take over: the first seals, all of them open.

import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** The endpoint and the organization that a signing secret is of. */
export interface SecretOwner {
  readonly id: string;
  readonly org: string;
}

/** A sealed text can't be opened with the keys there are, or was changed. Names no secret. */
export class SecretUnreadable extends Error {
  override name = 'SecretUnreadable';
}

/** A new key, as it stands in a key file. */
export function newSecretsKey(): string {
  return randomBytes(keyBytes).toString('base64');
}

/** What a key is called by: tells nothing of it. */
export function idOfKey(key: string): string {
  return hash('sha256', Buffer.from(key, 'base64'), 'hex').slice(0, 12);
}

/** Whether a text is a key: 32 bytes in base 64. */
export function isSecretsKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}

export class SecretBox {
  readonly #keys = new Map<string, Buffer>();
  /** The id of the key that seals. */
  readonly keyId: string;

  /** Keys as they stand in a key file, at least one. */
  constructor(keys: readonly string[]) {
    for (const key of keys) this.#keys.set(idOfKey(key), Buffer.from(key, 'base64'));
    this.keyId = idOfKey(keys[0]!);
  }

  seal(secret: string, owner: SecretOwner): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#keys.get(this.keyId)!, nonce);
    cipher.setAAD(associatedData(owner));
    const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `v1.${this.keyId}.${sealed.toString('base64url')}`;
  }

  /** Throws `SecretUnreadable`. */
  open(sealed: string, owner: SecretOwner): string {
    const [version, keyId = '', content = ''] = sealed.split('.');
    const key = this.#keys.get(keyId);
    if (version !== 'v1' || key === undefined)
      throw new SecretUnreadable(`no key ${keyId} is there to open the signing secret of ${owner.id}`);
    const bytes = Buffer.from(content, 'base64url');
    const nonce = bytes.subarray(0, nonceBytes);
    try {
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(associatedData(owner));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([opened, decipher.final()]).toString();
    } catch {
      throw new SecretUnreadable(`the signing secret of ${owner.id} is not as it was sealed`);
    }
  }
}

function associatedData({ id, org }: SecretOwner): Buffer {
  return Buffer.from(`${id} ${org}`);
}
