// The dashboard's cookies: the session, whose token opens everything and is therefore kept from
// scripts and other sites, and the language that somebody chose. Over plain http, in development, a
// cookie can't be bound to the host.

import { type Language, languages } from '../../contract/vocabulary.ts';

export interface Cookies {
  /** The token of the session; null without one. */
  session(header: string): string | null;
  setSession(token: string): string;
  clearSession(): string;
}

export function createCookies(secure: boolean): Cookies {
  const name = secure ? '__Host-payments-session' : 'payments-session';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{43})\\s*(?:;|$)`);
  return {
    session: (header) => pattern.exec(header)?.[1] ?? null,
    setSession: (token) => `${name}=${token}; ${attributes}`,
    clearSession: () => `${name}=; ${attributes}; Max-Age=0`,
  };
}

const languagePattern = /(?:^|;\s*)payments-language=(\w\w)\s*(?:;|$)/;

export function chosenLanguage(header: string): Language | undefined {
  return languages.find((language) => language === languagePattern.exec(header)?.[1]);
}

export function setLanguage(language: Language): string {
  return `payments-language=${language}; Path=/; Max-Age=31536000; SameSite=Lax`;
}
