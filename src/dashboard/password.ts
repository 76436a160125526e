// Passwords: what is stored of them, and which are too weak. scrypt takes a fifth of a second and 32 MiB on purpose, off the main
// thread; few run at a time, so that many sign-ins at once take neither all memory nor all threads.

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from '../directory/members.ts';

const cost = { N: 2 ** 15, r: 8, p: 3 } as const;
const hashBytes = 32;
const saltBytes = 16;
const atOnceMax = 2;
export const passwordCharactersMin = 12;
export const passwordCharactersMax = 200;

let running = 0;
const waiting: (() => void)[] = [];

async function derive(
  password: string,
  salt: Uint8Array,
  { N, r, p }: PasswordHash['cost'],
): Promise<Buffer> {
  if (running >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await new Promise((resolve, reject) => {
      const options = { N, r, p, maxmem: 128 * N * r * 2 };
      scrypt(password.normalize('NFKC'), salt, hashBytes, options, (error, hash) =>
        error === null ? resolve(hash) : reject(error),
      );
    });
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

export async function hashPassword(password: string): Promise<PasswordHash> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, cost);
  return { salt: salt.toString('base64'), hash: hash.toString('base64'), cost };
}

/** Stands for the password of somebody who does not exist, so that finding that out takes as long. */
const nobody: PasswordHash = {
  salt: randomBytes(saltBytes).toString('base64'),
  hash: randomBytes(hashBytes).toString('base64'),
  cost,
};

/** Whether it is the password; without one to compare with it takes as long, and is false. */
export async function isPassword(password: string, stored: PasswordHash | null): Promise<boolean> {
  const { salt, hash, cost } = stored ?? nobody;
  const typed = password.slice(0, passwordCharactersMax);
  const derived = await derive(typed, Buffer.from(salt, 'base64'), cost);
  return timingSafeEqual(derived, Buffer.from(hash, 'base64')) && stored !== null;
}

/** Parts that make a password easy to guess, however long it is. */
const common =
  /password|passw0rd|motdepasse|azerty|qwerty|qwertz|iloveyou|jetaime|letmein|welcome|bienvenue|bonjour|marhaba|administrator|admin|dashboard|payments?|secret|changeme|maroc|morocco|casablanca|marrakech|football|abc|0*123456789|12345|(.)\1{3,}/g;
const ownCharactersMin = 8;
const differentMin = 6;

export type Weakness = 'password_short' | 'password_long' | 'password_personal' | 'password_common';

/** Why a password is too weak; null when it is not. */
export function weaknessOf(
  password: string,
  about: { readonly email: string; readonly name: string },
): Weakness | null {
  const { length } = [...password];
  if (length < passwordCharactersMin) return 'password_short';
  if (length > passwordCharactersMax) return 'password_long';
  const lower = password.normalize('NFKC').toLowerCase();
  const email = about.email.toLowerCase();
  const own = [email, ...email.split('@'), ...about.name.toLowerCase().split(/\s+/)].filter(
    (part) => part.length >= 3,
  );
  const impersonal = own.reduce((rest, part) => rest.replaceAll(part, ''), lower);
  if (impersonal.length < ownCharactersMin) return 'password_personal';
  const uncommon = impersonal.replace(common, '').replace(/[\s\d!?._-]+$/, '');
  const isCommon = uncommon.length < ownCharactersMin || new Set(uncommon).size < differentMin;
  return isCommon ? 'password_common' : null;
}
