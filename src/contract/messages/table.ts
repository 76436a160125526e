// The texts of the API in English, French and Arabic, keyed by error code or by `code.variant`
// where one code has several precise reasons. `{name}` is the placeholder of a value. Messages may
// change; clients must not branch on them. The texts are in one file for each theme.

import { spaced } from '../../core/shown-number.ts';
import type { Language } from '../vocabulary.ts';
import { admissionMessages } from './admission.ts';
import { operationMessages } from './operations.ts';
import { requestMessages } from './requests.ts';

type Texts = Readonly<Record<Language, string>>;
/** The value of a placeholder. A name that people read is in their language. */
type Value = string | number | Texts;
export type Values = Readonly<Record<string, Value>>;

export const messages = {
  ...requestMessages,
  ...operationMessages,
  ...admissionMessages,
} as const satisfies Record<string, Texts>;

export type MessageKey = keyof typeof messages;

/** The text of `key` with its placeholders filled in. Throws when a value is missing. */
export function format(key: MessageKey, language: Language, values: Values): string {
  return spaced(messages[key][language], language).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the message ${key} lacks a value for ${name}`);
    return typeof value === 'object' ? value[language] : String(value);
  });
}
