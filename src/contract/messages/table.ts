// The texts of the API in English, French and Arabic, keyed by error code or by `code.variant` where one code has
// several precise reasons. `{name}` stands for a value. Messages may change; nobody should branch on them. The texts
// themselves are in one file a theme: what a request says, what an operation refuses, who is let in.

import type { Language } from '../vocabulary.ts';
import { admissionMessages } from './admission.ts';
import { operationMessages } from './operations.ts';
import { requestMessages } from './requests.ts';

type Texts = Readonly<Record<Language, string>>;

export const messages = {
  ...requestMessages,
  ...operationMessages,
  ...admissionMessages,
} as const satisfies Record<string, Texts>;

export type MessageKey = keyof typeof messages;

/**
 * The text of `key` in `language`, with its placeholders filled in. Whoever refuses something owes the text all of its
 * values: a missing one throws.
 */
export function format(
  key: MessageKey,
  language: Language,
  values: Readonly<Record<string, string | number>>,
): string {
  return messages[key][language].replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the message ${key} lacks a value for ${name}`);
    return String(value);
  });
}
