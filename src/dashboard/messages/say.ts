// Texts in three languages, in which `{name}` is the placeholder of a value. Each part of the
// dashboard has a table of its own. All share the texts below; a part that says one of them
// otherwise has it in its own table.

import type { Language } from '../../contract/vocabulary.ts';
import { defined } from '../../core/assert.ts';
import { fillIn } from '../../edge/checkout/page-messages.ts';

export const sharedTexts = {
  amount: { en: 'Amount', fr: 'Montant', ar: 'المبلغ' },
  amount_dirhams: { en: 'Amount in dirhams', fr: 'Montant en dirhams', ar: 'المبلغ بالدرهم' },
  amount_invalid: {
    en: 'Give the amount in dirhams, for example 1,250.50.',
    fr: 'Indiquez le montant en dirhams, par exemple 1 250,50.',
    ar: 'اكتب المبلغ بالدرهم، مثل 1250,50.',
  },
  at: { en: 'Time', fr: 'Heure', ar: 'الوقت' },
  attempt: { en: 'Attempt', fr: 'Tentative', ar: 'المحاولة' },
  by: { en: 'By', fr: 'Par', ar: 'بواسطة' },
  customer: { en: 'Customer', fr: 'Client', ar: 'العميل' },
  description: { en: 'Description', fr: 'Description', ar: 'الوصف' },
  details: { en: 'Details', fr: 'Détails', ar: 'التفاصيل' },
  email: { en: 'E-mail address', fr: 'Adresse e-mail', ar: 'البريد الإلكتروني' },
  from: { en: 'From', fr: 'Du', ar: 'من' },
  id: { en: 'ID', fr: 'Identifiant', ar: 'المعرّف' },
  metadata: { en: 'Metadata', fr: 'Métadonnées', ar: 'البيانات الوصفية' },
  named: { en: '{name}: {value}', fr: '{name} : {value}', ar: '{name}: {value}' },
  object: { en: 'Object', fr: 'Objet', ar: 'الكائن' },
  outcome: { en: 'Outcome', fr: 'Résultat', ar: 'النتيجة' },
  payment: { en: 'Payment', fr: 'Paiement', ar: 'الدفعة' },
  payments: { en: 'Payments', fr: 'Paiements', ar: 'المدفوعات' },
  reason: { en: 'Reason', fr: 'Motif', ar: 'السبب' },
  received: { en: 'Received', fr: 'Reçu', ar: 'المستلَم' },
  reviews: { en: 'Reviews', fr: 'Vérifications', ar: 'المراجعات' },
  save: { en: 'Save', fr: 'Enregistrer', ar: 'حفظ' },
  to: { en: 'To', fr: 'Au', ar: 'إلى' },
  version: { en: 'API version', fr: 'Version de l’API', ar: 'إصدار API' },
} as const;

export type Texts = Readonly<Record<string, Readonly<Record<Language, string>>>>;

/** Says a text as plain text, not HTML. Throws when a value is missing. */
export type Say<Key extends string> = (
  key: Key | keyof typeof sharedTexts,
  values?: Readonly<Record<string, string | number>>,
) => string;

/** Returns the function that says the texts of a table in the language of a request. */
export function sayFrom<T extends Texts>(texts: T) {
  const all: Texts = { ...sharedTexts, ...texts };
  return ({ language }: { readonly language: Language }): Say<keyof T & string> =>
    (key, values = {}) =>
      fillIn(defined(all[key], 'a text')[language], language, values);
}
