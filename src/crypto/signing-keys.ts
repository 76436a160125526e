// The signing secrets of endpoints as keys of an HMAC. A secret is opened for its first message,
// and its key kept for the ones that follow: opening costs more than signing.

import { createSecretKey, type KeyObject } from 'node:crypto';
import type { SecretBox, SecretOwner } from './secret-box.ts';

/** About 1 KiB each. */
const keysMax = 4096;

interface Opened extends SecretOwner {
  readonly key: KeyObject;
}

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
