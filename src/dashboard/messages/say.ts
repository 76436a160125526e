// Texts in three languages, in which `{name}` is the placeholder of a value. Each part of the
// dashboard has a table of its own. All share the texts below; a part that says one of them
// otherwise has it in its own table.

import { type Language, languages } from '../../contract/vocabulary.ts';
import { assert, defined } from '../../core/assert.ts';
import { namesOf, tableOf } from '../../core/tables.ts';
import { fillIn } from '../../edge/checkout/page-messages.ts';

export const sharedTexts = texts({
  amount: 'Amount | Montant | المبلغ',
  amount_dirhams: 'Amount in dirhams | Montant en dirhams | المبلغ بالدرهم',
  amount_invalid: `Give the amount in dirhams, for example 1,250.50.
    Indiquez le montant en dirhams, par exemple 1 250,50.
    اكتب المبلغ بالدرهم، مثل 1250,50.`,
  at: 'Time | Heure | الوقت',
  attempt: 'Attempt | Tentative | المحاولة',
  by: 'By | Par | بواسطة',
  created: 'Created | Créé le | أُنشئ في',
  choice_invalid: `Choose one from the list.
    Choisissez dans la liste.
    اختر من القائمة.`,
  customer: 'Customer | Client | العميل',
  day_before_from: `This day is before the first one.
    Ce jour précède le premier.
    هذا اليوم قبل اليوم الأول.`,
  day_invalid: `Give the day as YYYY-MM-DD.
    Indiquez le jour sous la forme AAAA-MM-JJ.
    اكتب اليوم على شكل YYYY-MM-DD.`,
  description: 'Description | Description | الوصف',
  details: 'Details | Détails | التفاصيل',
  email: 'E-mail address | Adresse e-mail | البريد الإلكتروني',
  ends: 'Ends | Expire le | ينتهي في',
  from: 'From | Du | من',
  id: 'ID | Identifiant | المعرّف',
  metadata: 'Metadata | Métadonnées | البيانات الوصفية',
  name: 'Name | Nom | الاسم',
  named: '{name}: {value} | {name} : {value} | {name}: {value}',
  none_found: 'Nothing found | Aucun résultat | لم يُعثر على شيء',
  object: 'Object | Objet | الكائن',
  outcome: 'Outcome | Résultat | النتيجة',
  payment: 'Payment | Paiement | الدفعة',
  payments: 'Payments | Paiements | المدفوعات',
  reason: 'Reason | Motif | السبب',
  received: 'Received | Reçu | المستلَم',
  reviews: 'Reviews | Vérifications | المراجعات',
  save: 'Save | Enregistrer | حفظ',
  since: 'since | depuis | منذ',
  status: 'Status | Statut | الحالة',
  to: 'To | Au | إلى',
  version: 'API version | Version de l’API | إصدار API',
});

export type Texts<Key extends string = string> = Readonly<Record<Key, Readonly<Record<Language, string>>>>;

/** Texts as they are written: English, French, Arabic, with ` | ` or a line break between. */
export function texts<Key extends string>(written: Readonly<Record<Key, string>>): Texts<Key> {
  return tableOf(namesOf(written), (key) => {
    const inAll = written[key].split(/ \| |\n */);
    assert(inAll.length === languages.length, `${key} is there in each language`);
    return tableOf(languages, (language) => defined(inAll[languages.indexOf(language)], key));
  });
}

/** Says a text as plain text, not HTML. Throws when a value is missing. */
export type Say<Key extends string> = (
  key: Key | keyof typeof sharedTexts,
  values?: Readonly<Record<string, string | number>>,
) => string;

/** Returns the function that says the texts of a table in the language of a request. */
export function sayFrom<Key extends string>(table: Texts<Key>) {
  const all: Texts = { ...sharedTexts, ...table };
  return ({ language }: { readonly language: Language }): Say<Key> =>
    (key, values = {}) =>
      fillIn(defined(all[key], 'a text')[language], language, values);
}
