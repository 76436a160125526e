// The language of a request's messages, from its `Accept-Language` header (RFC 9110, section
// 12.5.4). It is found for every request, so results are remembered by the header's text, for a
// bounded number of short headers.

import { remembering } from '../core/remembering.ts';
import { type Language, languages } from './vocabulary.ts';

/** Longer than any header a browser or a client library sends. */
const headerLengthMax = 256;

// A wildcard, or a primary subtag with whatever follows it (a region, a script); then an optional
// quality.
const rangePattern =
  /^(?:\*|([a-z]{1,8})(?:-[a-z0-9]{1,8})*)[ \t]*(?:;[ \t]*q[ \t]*=[ \t]*(0(?:\.\d*)?|1(?:\.0*)?))?$/i;

/**
 * The language of the service that the header prefers most. Only the primary subtag counts (`fr-MA`
 * is `fr`), a quality of 0 excludes a language, and of equal qualities the first named wins, before
 * any that only `*` covers. English for an empty header, for one longer than 256 characters, and
 * when nothing in it is acceptable or well formed.
 */
export function negotiateLanguage(acceptLanguage: string): Language {
  return acceptLanguage === '' || acceptLanguage.length > headerLengthMax ? 'en' : preferred(acceptLanguage);
}

const preferred = remembering(256, (acceptLanguage: string): Language => {
  const qualities = new Map<Language, number>();
  let wildcardQuality = 0;
  for (const range of acceptLanguage.split(',')) {
    const match = rangePattern.exec(range.trim());
    if (match === null) continue;
    const quality = Number(match[2] ?? 1);
    if (match[1] === undefined) {
      wildcardQuality = Math.max(wildcardQuality, quality);
      continue;
    }
    const primary = match[1].toLowerCase();
    const language = languages.find((candidate) => candidate === primary);
    if (language) qualities.set(language, Math.max(qualities.get(language) ?? 0, quality));
  }
  // A map iterates in the order of insertion, so languages that only `*` covers come last.
  for (const language of languages) {
    if (!qualities.has(language)) qualities.set(language, wildcardQuality);
  }
  let best: Language = 'en';
  let bestQuality = 0;
  for (const [language, quality] of qualities) {
    if (quality > bestQuality) [best, bestQuality] = [language, quality];
  }
  return best;
});
