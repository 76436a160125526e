// Passwords: what is stored of them, and which are too weak. scrypt takes a fifth of a second and
// 32 MiB on purpose (`dashboard.hashCost`), off the main thread; few run at a time and few wait, so
// many sign-ins at once take neither all memory nor all threads, and end soon.

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from '../../directory/members.ts';
import { Turns, type Waiter } from './turns.ts';

const hashBytes = 32;
const saltBytes = 16;
export const passwordCharactersMin = 12;
export const passwordCharactersMax = 200;

export class Passwords {
  readonly #cost: PasswordHash['cost'];
  /** Compared with when the member does not exist, so that the answer takes as long. */
  readonly #nobody: PasswordHash;
  /** A turn takes a fifth of a second, so nobody waits for more than some seconds. */
  readonly #turns = new Turns({ atOnceMax: 2, waitingMax: 32, shareOfOne: 1 / 8 });

  /** `hashCost`: two to this power is scrypt's N of new passwords. */
  constructor(hashCost: number) {
    this.#cost = { N: 2 ** hashCost, r: 8, p: 3 };
    this.#nobody = {
      salt: randomBytes(saltBytes).toString('base64'),
      hash: randomBytes(hashBytes).toString('base64'),
      cost: this.#cost,
    };
  }

  /** What is stored of a password; null when it did not get its turn. */
  async hash(password: string, waiter: Waiter): Promise<PasswordHash | null> {
    const salt = randomBytes(saltBytes);
    const cost = this.#cost;
    const hash = await this.#turns.take(waiter, () => derive(password, salt, cost));
    return hash && { salt: salt.toString('base64'), hash: hash.toString('base64'), cost };
  }

  /**
   * Whether it is the password; without one to compare with it takes as long, and is false. Null
   * when it did not get its turn, so nothing is known.
   */
  async isRight(password: string, stored: PasswordHash | null, waiter: Waiter): Promise<boolean | null> {
    const { salt, hash, cost } = stored ?? this.#nobody;
    const typed = [...password].slice(0, passwordCharactersMax).join('');
    const derived = await this.#turns.take(waiter, () => derive(typed, Buffer.from(salt, 'base64'), cost));
    if (derived === null) return null;
    return timingSafeEqual(derived, Buffer.from(hash, 'base64')) && stored !== null;
  }
}

function derive(password: string, salt: Uint8Array, { N, r, p }: PasswordHash['cost']): Promise<Buffer> {
  const options = { N, r, p, maxmem: 128 * N * r * 2 };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, hashBytes, options, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    );
  });
}

/** Parts that make a password easy to guess, however long it is. */
const common =
  /password|passw0rd|motdepasse|azerty|qwerty|qwertz|iloveyou|jetaime|letmein|welcome|bienvenue|bonjour|marhaba|administrator|admin|dashboard|payments?|secret|changeme|maroc|morocco|casablanca|marrakech|football|abc|0*123456789|12345|(.)\1{3,}/g;
const ownCharactersMin = 8;
const differentMin = 6;
/** The longest e-mail address has as many, and no name more. */
const aboutCharactersMax = 254;

type Weakness = 'password_short' | 'password_long' | 'password_personal' | 'password_common';

/** Why a password is too weak; null when it is not. */
export function weaknessOf(
  password: string,
  about: { readonly email: string; readonly name: string },
): Weakness | null {
  const { length } = [...password];
  if (length < passwordCharactersMin) return 'password_short';
  if (length > passwordCharactersMax) return 'password_long';
  const lower = password.normalize('NFKC').toLowerCase();
  // Longer texts are refused, and to go through all their parts would take long.
  const cut = (text: string) => text.slice(0, aboutCharactersMax).toLowerCase();
  const email = cut(about.email);
  const own = [email, ...email.split('@'), ...cut(about.name).split(/\s+/)].filter(
    (part) => part.length >= 3,
  );
  const impersonal = own.reduce((rest, part) => rest.replaceAll(part, ''), lower);
  if (impersonal.length < ownCharactersMin) return 'password_personal';
  const uncommon = impersonal.replace(common, '').replace(/[\s\d!?._-]+$/, '');
  const isCommon = uncommon.length < ownCharactersMin || new Set(uncommon).size < differentMin;
  return isCommon ? 'password_common' : null;
}
