// How an organization looks on the pages where its customers pay: a colour and a logo. A logo is a
// small PNG, JPEG or WebP; SVG is refused because it can contain scripts. It is part of the
// organization, so backups and exports have it, and its digest is in its address.

import { createHash } from 'node:crypto';
import { DirectoryRefusal } from './refusal.ts';

export interface Branding {
  /** `#rrggbb`, lowercase; null: the pages' own colour. */
  readonly colour: string | null;
  readonly logo: Logo | null;
}

interface Logo {
  readonly type: LogoType;
  /** The start of its SHA-256, hexadecimal. */
  readonly digest: string;
  /** Its bytes in base 64. */
  readonly data: string;
}

export const logoBytesMax = 64 * 1024;

/** The media types of logos, and the texts in Latin-1 that their files have at these bytes. */
const signatures = {
  'image/png': { 0: '\x89PNG\r\n\x1a\n' },
  'image/jpeg': { 0: '\xff\xd8\xff' },
  'image/webp': { 0: 'RIFF', 8: 'WEBP' },
} as const;
type LogoType = keyof typeof signatures;
export const logoTypes = Object.keys(signatures) as LogoType[];

/** The colour in its one form. Throws `DirectoryRefusal`. */
export function checkedColour(text: string): string {
  const colour = text.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(colour)) return colour;
  throw new DirectoryRefusal(
    'a colour must be # and six hexadecimal digits, such as #0a6e4f',
    'colour_invalid',
  );
}

/** The logo in a file. Throws `DirectoryRefusal`. */
export function logoOf(file: Uint8Array): Logo {
  if (file.length > logoBytesMax) {
    throw new DirectoryRefusal(`a logo must have at most ${logoBytesMax / 1024} KiB`, 'logo_too_large');
  }
  const bytes = Buffer.from(file);
  const start = bytes.toString('latin1', 0, 12);
  const type = logoTypes.find((each) =>
    Object.entries(signatures[each]).every(([at, text]) => start.startsWith(text, Number(at))),
  );
  if (type === undefined)
    throw new DirectoryRefusal('a logo must be a PNG, JPEG or WebP file', 'logo_invalid');
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { type, digest, data: bytes.toString('base64') };
}

/** The path of an organization's logo, which changes with the logo; null without one. */
export function logoPathOf(org: string, { logo }: Branding): string | null {
  return logo === null ? null : `/logos/${org}/${logo.digest}`;
}
