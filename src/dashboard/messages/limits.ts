// The texts of the pages for rate limits.

import { sayFrom } from './say.ts';

export const limitMessages = {
  intro: {
    en: 'Your programs can send this many requests in a minute. All keys of a mode share them; this dashboard spends none.',
    fr: 'Voici combien de requêtes vos programmes peuvent envoyer par minute. Toutes les clés d’un mode les partagent ; ce tableau de bord n’en dépense aucune.',
    ar: 'هذا عدد الطلبات التي يمكن لبرامجك إرسالها في الدقيقة. تتشارك فيها مفاتيح كل وضع، ولا تستهلك لوحة التحكم شيئًا منها.',
  },
  bucket: { en: 'Requests', fr: 'Requêtes', ar: 'الطلبات' },
  mode: { en: 'Mode', fr: 'Mode', ar: 'الوضع' },
  test: { en: 'Test', fr: 'Test', ar: 'اختبار' },
  live: { en: 'Live', fr: 'Réel', ar: 'حقيقي' },
  both: { en: 'Both', fr: 'Les deux', ar: 'كلاهما' },
  per_minute: { en: 'Per minute', fr: 'Par minute', ar: 'في الدقيقة' },
  used: { en: 'Used now', fr: 'Utilisé maintenant', ar: 'المستعمل الآن' },
  source: { en: 'Source', fr: 'Origine', ar: 'المصدر' },
  default: { en: 'Global default', fr: 'Valeur par défaut', ar: 'القيمة العامة' },
  plan: { en: 'Plan', fr: 'Forfait', ar: 'الباقة' },
  custom: { en: 'Custom', fr: 'Personnalisé', ar: 'مخصص' },
  until: { en: 'Until', fr: 'Jusqu’au', ar: 'حتى' },
  no_end: { en: 'No end', fr: 'Sans fin', ar: 'بلا نهاية' },
  of: { en: '{used} of {all}', fr: '{used} sur {all}', ar: '{used} من {all}' },
  today: { en: 'Test mode today', fr: 'Mode test aujourd’hui', ar: 'وضع الاختبار اليوم' },
  requests_today: { en: 'Requests', fr: 'Requêtes', ar: 'الطلبات' },
  creations_today: { en: 'Payment creations', fr: 'Créations de paiements', ar: 'إنشاء المدفوعات' },
  request: { en: 'Request a higher limit', fr: 'Demander une limite plus élevée', ar: 'طلب حد أعلى' },
  requests: {
    en: 'Requests for higher limits',
    fr: 'Demandes de limites plus élevées',
    ar: 'طلبات الحدود الأعلى',
  },
  no_request: {
    en: 'Nothing was requested yet.',
    fr: 'Aucune demande pour le moment.',
    ar: 'لا توجد طلبات بعد.',
  },
  value: { en: 'Requests a minute', fr: 'Requêtes par minute', ar: 'الطلبات في الدقيقة' },
  end: {
    en: 'Last day (leave empty for no end)',
    fr: 'Dernier jour (vide : sans fin)',
    ar: 'اليوم الأخير (اتركه فارغًا إن لم تكن نهاية)',
  },
  reason_hint: {
    en: 'What happens, and how many requests you expect.',
    fr: 'Ce qui est prévu, et combien de requêtes vous attendez.',
    ar: 'ما الذي سيحدث، وكم طلبًا تتوقع.',
  },
  send: { en: 'Send the request', fr: 'Envoyer la demande', ar: 'إرسال الطلب' },
  done: {
    en: 'The request is sent. You see the decision here.',
    fr: 'La demande est envoyée. La décision s’affichera ici.',
    ar: 'أُرسل الطلب. سيظهر القرار هنا.',
  },
  state: { en: 'State', fr: 'État', ar: 'الحالة' },
  open: { en: 'Open', fr: 'En cours', ar: 'مفتوح' },
  approved: { en: 'Approved', fr: 'Accordée', ar: 'مقبول' },
  denied: { en: 'Denied', fr: 'Refusée', ar: 'مرفوض' },
  asked: { en: 'Sent', fr: 'Envoyée', ar: 'أُرسل' },
  answer: { en: 'Answer', fr: 'Réponse', ar: 'الرد' },
  granted: {
    en: '{value} a minute',
    fr: '{value} par minute',
    ar: '{value} في الدقيقة',
  },
  choose_bucket: { en: 'Choose which requests.', fr: 'Choisissez les requêtes.', ar: 'اختر نوع الطلبات.' },
  whole_number: { en: 'Give a whole number.', fr: 'Indiquez un nombre entier.', ar: 'أدخل عددًا صحيحًا.' },
  no_day: {
    en: 'Give a day, such as 2026-12-31.',
    fr: 'Indiquez un jour, par exemple 2026-12-31.',
    ar: 'أدخل يومًا، مثل 2026-12-31.',
  },
  end_passed: {
    en: 'That day is over: choose a later one.',
    fr: 'Ce jour est passé : choisissez-en un autre.',
    ar: 'انقضى ذلك اليوم: اختر يومًا لاحقًا.',
  },
  limit_not_higher: {
    en: 'Ask for more than the current limit of each of these modes, and for at most 1,000,000,000.',
    fr: 'Demandez plus que la limite en vigueur dans chacun de ces modes, et au plus 1 000 000 000.',
    ar: 'اطلب أكثر من الحد الساري في كل من هذه الأوضاع، و1 000 000 000 على الأكثر.',
  },
  reason_missing: {
    en: 'Say why you need it.',
    fr: 'Dites pourquoi vous en avez besoin.',
    ar: 'اذكر سبب حاجتك إليه.',
  },
  request_open: {
    en: 'A request for this is open already: wait for its decision.',
    fr: 'Une telle demande est déjà en cours : attendez la décision.',
    ar: 'يوجد طلب مفتوح لهذا من قبل: انتظر القرار.',
  },
  text_invalid: {
    en: 'Use at most 1,000 characters, no invisible ones, and no card number.',
    fr: 'Au plus 1 000 caractères, sans caractère invisible ni numéro de carte.',
    ar: 'استعمل 1 000 حرف على الأكثر، دون أحرف غير مرئية ودون رقم بطاقة.',
  },
} as const;

export const sayLimits = sayFrom(limitMessages);
