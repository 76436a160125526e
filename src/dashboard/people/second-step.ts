// The second step of a sign-in: codes of an authenticator app (TOTP, RFC 6238), each of which works
// once, and recovery codes.

import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { asciiDigits } from '../../core/card-number.ts';
import { digestOf } from '../../directory/api-key.ts';
import { type Member, totpOwner } from '../../directory/members.ts';
import { DirectoryRefusal } from '../../directory/refusal.ts';
import type { People } from './people.ts';

const period = 30;
/** The steps before and after now whose codes are accepted, for clocks that are a little wrong. */
const window = 1;
const recoveryCodes = 10;

interface NewSecret {
  /** For typing in. */
  readonly text: string;
  readonly sealed: string;
  /** For the QR code. */
  readonly uri: string;
}

function totpOf(text: string, email: string): TOTP {
  return new TOTP({ issuer: 'Payments', label: email, secret: Secret.fromBase32(text), period, digits: 6 });
}

/** A new secret for an app; it counts once a code of it was given. */
export function newSecret(people: People, { id, email }: Member): NewSecret {
  const text = new Secret({ size: 20 }).base32;
  return { text, sealed: people.secrets.seal(text, totpOwner(id)), uri: totpOf(text, email).toString() };
}

/** A sealed secret, for a form that is shown again; null when it is not the member's. */
export function openSecret(people: People, { id, email }: Member, sealed: string): NewSecret | null {
  try {
    const text = people.secrets.open(sealed, totpOwner(id));
    return { text, sealed, uri: totpOf(text, email).toString() };
  } catch {
    return null;
  }
}

/** The time step whose code this is; null when it is none that is accepted now. */
export function stepOf(people: People, { id, email }: Member, sealed: string, code: string): number | null {
  const timestamp = people.directory.store.now();
  const totp = totpOf(people.secrets.open(sealed, totpOwner(id)), email);
  const delta = totp.validate({ token: code, window, timestamp });
  return delta === null ? null : Math.floor(timestamp / 1000 / period) + delta;
}

/** New recovery codes: their texts, which are shown once, and what is stored of them. */
export function newRecoveryCodes(): { readonly texts: string[]; readonly digests: string[] } {
  const texts = Array.from({ length: recoveryCodes }, () =>
    randomBytes(8)
      .toString('hex')
      .replace(/(.{4})(?=.)/g, '$1-'),
  );
  return { texts, digests: texts.map(recoveryDigest) };
}

/** People may leave the hyphens out. */
function recoveryDigest(code: string): string {
  return digestOf(code.replaceAll('-', ''));
}

/** A code as it was typed, maybe in groups, or with the digits of an Arabic keyboard. */
export function typedCode(text: string): string {
  return asciiDigits(text).toLowerCase().replace(/\s/g, '');
}

/** Uses up a code of the app, or a recovery code; null when it is neither, or was used. */
export async function isCode(people: People, { id }: Member, typed: string): Promise<Member | null> {
  const code = typedCode(typed);
  const use = (member: Member): Member => {
    const { totp, recoveryCodes } = member;
    const step = totp !== null && /^\d{6}$/.test(code) ? stepOf(people, member, totp.sealed, code) : null;
    if (totp !== null && step !== null && step > totp.usedStep)
      return { ...member, totp: { ...totp, usedStep: step } };
    const digest = recoveryDigest(code);
    if (!recoveryCodes.includes(digest)) throw new DirectoryRefusal('the code is wrong', 'wrong_code');
    return { ...member, recoveryCodes: recoveryCodes.filter((each) => each !== digest) };
  };
  return people.directory.members.change(id, use).catch((error) => {
    if (error instanceof DirectoryRefusal) return null;
    throw error;
  });
}
