// THE table of test cards: what the simulated card network knows, what the card page lists in test
// mode and what the docs and tests go by. Every number is valid by its check digit and belongs to
// nobody. No two cards of a brand share their last four digits, because a refund knows its card by
// those alone.

import type { DeclineCode, Language } from '../contract/vocabulary.ts';
import type { CardBrand } from '../core/card-number.ts';

/** What the simulated network does with a card. */
export interface CardBehavior {
  /** The bank asks for a challenge (3-D Secure) first. */
  readonly challenge: boolean;
  /** The network says only later how it ended. */
  readonly lingers: boolean;
  /** How it ends; null: the payment succeeds. */
  readonly decline: DeclineCode | null;
  /** Refunds of it fail. */
  readonly refundFails: boolean;
}

export interface TestCard extends CardBehavior {
  readonly number: string;
  readonly brand: CardBrand;
  readonly text: Readonly<Record<Language, string>>;
}

const plain: CardBehavior = { challenge: false, lingers: false, decline: null, refundFails: false };

function row(
  number: string,
  brand: CardBrand,
  behavior: Partial<CardBehavior>,
  en: string,
  fr: string,
  ar: string,
): TestCard {
  return { number, brand, ...plain, ...behavior, text: { en, fr, ar } };
}

const declines = (decline: DeclineCode): Partial<CardBehavior> => ({ decline });

export const testCards: readonly TestCard[] = [
  row('4242424242424242', 'visa', {}, 'Succeeds', 'Réussit', 'ينجح الدفع'),
  row('5555555555554444', 'mastercard', {}, 'Succeeds', 'Réussit', 'ينجح الدفع'),
  row('2223003122003222', 'mastercard', {}, 'Succeeds', 'Réussit', 'ينجح الدفع'),
  row(
    '378282246310005',
    'amex',
    {},
    'Succeeds (security code of 4 digits)',
    'Réussit (code de sécurité à 4 chiffres)',
    'ينجح الدفع (رمز أمان من 4 أرقام)',
  ),
  row(
    '4000002760003184',
    'visa',
    { challenge: true },
    '3-D Secure challenge, then succeeds',
    'Vérification 3-D Secure, puis réussit',
    'تحقق \u20683-D Secure\u2069 ثم ينجح الدفع',
  ),
  row(
    '4000008400001629',
    'visa',
    { challenge: true, decline: 'generic_decline' },
    '3-D Secure challenge, then declined',
    'Vérification 3-D Secure, puis refusée',
    'تحقق \u20683-D Secure\u2069 ثم تُرفض البطاقة',
  ),
  row(
    '4000000000000077',
    'visa',
    { lingers: true },
    'Stays in processing, then succeeds',
    'Reste en cours de traitement, puis réussit',
    'يبقى قيد المعالجة ثم ينجح الدفع',
  ),
  row(
    '4000000000000093',
    'visa',
    { lingers: true, decline: 'generic_decline' },
    'Stays in processing, then declined',
    'Reste en cours de traitement, puis refusée',
    'يبقى قيد المعالجة ثم تُرفض البطاقة',
  ),
  row(
    '4000000000005126',
    'visa',
    { refundFails: true },
    'Succeeds, but its refunds fail',
    'Réussit, mais ses remboursements échouent',
    'ينجح الدفع لكن يفشل استرداد المبلغ',
  ),
  row(
    '4000000000000002',
    'visa',
    declines('generic_decline'),
    'Declined: no precise reason',
    'Refusée : sans motif précis',
    'تُرفض البطاقة: دون سبب محدد',
  ),
  row(
    '4000000000009995',
    'visa',
    declines('insufficient_funds'),
    'Declined: insufficient funds',
    'Refusée : provision insuffisante',
    'تُرفض البطاقة: الرصيد غير كافٍ',
  ),
  row(
    '4000000000009987',
    'visa',
    declines('lost_card'),
    'Declined: lost card',
    'Refusée : carte perdue',
    'تُرفض البطاقة: بطاقة مفقودة',
  ),
  row(
    '4000000000009979',
    'visa',
    declines('stolen_card'),
    'Declined: stolen card',
    'Refusée : carte volée',
    'تُرفض البطاقة: بطاقة مسروقة',
  ),
  row(
    '4000000000000069',
    'visa',
    declines('expired_card'),
    'Declined: expired card',
    'Refusée : carte expirée',
    'تُرفض البطاقة: بطاقة منتهية الصلاحية',
  ),
  row(
    '4000000000000127',
    'visa',
    declines('incorrect_cvc'),
    'Declined: wrong security code',
    'Refusée : code de sécurité incorrect',
    'تُرفض البطاقة: رمز أمان غير صحيح',
  ),
  row(
    '4000000000000119',
    'visa',
    declines('processing_error'),
    'Declined: processing error',
    'Refusée : erreur de traitement',
    'تُرفض البطاقة: خطأ في المعالجة',
  ),
  row(
    '5105105105105100',
    'mastercard',
    declines('do_not_honor'),
    'Declined: do not honor',
    'Refusée : « do not honor »',
    'تُرفض البطاقة: رفض دون سبب من البنك',
  ),
  row(
    '5200828282828210',
    'mastercard',
    declines('transaction_not_allowed'),
    'Declined: transaction not allowed',
    'Refusée : opération non autorisée',
    'تُرفض البطاقة: عملية غير مسموح بها',
  ),
];
