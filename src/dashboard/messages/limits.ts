// The texts of the pages for rate limits.

import { sayFrom, texts } from './say.ts';

export const limitMessages = texts({
  intro: `Your programs can send this many requests in a minute. All keys of a mode share them; this dashboard spends none.
    Voici combien de requêtes vos programmes peuvent envoyer par minute. Toutes les clés d’un mode les partagent ; ce tableau de bord n’en dépense aucune.
    هذا عدد الطلبات التي يمكن لبرامجك إرسالها في الدقيقة. تتشارك فيها مفاتيح كل وضع، ولا تستهلك لوحة التحكم شيئًا منها.`,
  bucket: 'Requests | Requêtes | الطلبات',
  mode: 'Mode | Mode | الوضع',
  test: 'Test | Test | اختبار',
  live: 'Live | Production | حقيقي',
  both: 'Both | Les deux | كلاهما',
  per_minute: 'Per minute | Par minute | في الدقيقة',
  used: 'Used now | Utilisé maintenant | المستعمل الآن',
  source: 'Source | Origine | المصدر',
  default: 'Global default | Valeur par défaut | القيمة العامة',
  plan: 'Plan | Forfait | الباقة',
  custom: 'Custom | Personnalisé | مخصص',
  until: 'Until | Jusqu’au | حتى',
  no_end: 'No end | Sans fin | بلا نهاية',
  of: '{used} of {all} | {used} sur {all} | {used} من {all}',
  today: 'Test mode today | Mode test aujourd’hui | وضع الاختبار اليوم',
  requests_today: 'Requests | Requêtes | الطلبات',
  creations_today: 'Payment creations | Créations de paiements | إنشاء المدفوعات',
  request: 'Request a higher limit | Demander une limite plus élevée | طلب حد أعلى',
  requests: 'Requests for higher limits | Demandes de limites plus élevées | طلبات الحدود الأعلى',
  no_request: 'Nothing was requested yet. | Aucune demande pour le moment. | لا توجد طلبات بعد.',
  value: 'Requests a minute | Requêtes par minute | الطلبات في الدقيقة',
  end: `Last day (leave empty for no end)
    Dernier jour (vide : sans fin)
    اليوم الأخير (اتركه فارغًا إن لم تكن نهاية)`,
  reason_hint: `What happens, and how many requests you expect.
    Ce qui est prévu, et combien de requêtes vous attendez.
    ما الذي سيحدث، وكم طلبًا تتوقع.`,
  send: 'Send the request | Envoyer la demande | إرسال الطلب',
  done: `The request is sent. You will see the decision here.
    La demande est envoyée. La décision s’affichera ici.
    أُرسل الطلب. سيظهر القرار هنا.`,
  state: 'State | État | الحالة',
  open: 'Open | En cours | مفتوح',
  approved: 'Approved | Accordée | مقبول',
  denied: 'Denied | Refusée | مرفوض',
  asked: 'Sent | Envoyée | أُرسل',
  answer: 'Answer | Réponse | الرد',
  granted: '{value} a minute | {value} par minute | {value} في الدقيقة',
  choose_bucket: 'Choose which requests. | Choisissez les requêtes. | اختر نوع الطلبات.',
  whole_number: 'Give a whole number. | Indiquez un nombre entier. | أدخل عددًا صحيحًا.',
  no_day: `Give a day, such as 2026-12-31.
    Indiquez un jour, par exemple 2026-12-31.
    أدخل يومًا، مثل 2026-12-31.`,
  end_passed: `That day is over: choose a later one.
    Ce jour est passé : choisissez-en un autre.
    انقضى ذلك اليوم: اختر يومًا لاحقًا.`,
  limit_not_higher: `Ask for more than the current limit of each of these modes, and for at most 1,000,000,000.
    Demandez plus que la limite en vigueur dans chacun de ces modes, et au plus 1 000 000 000.
    اطلب أكثر من الحد الساري في كل من هذه الأوضاع، و1 000 000 000 على الأكثر.`,
  reason_missing: 'Say why you need it. | Dites pourquoi vous en avez besoin. | اذكر سبب حاجتك إليه.',
  request_open: `A request for this is open already: wait for its decision.
    Une telle demande est déjà en cours : attendez la décision.
    يوجد طلب مفتوح لهذا من قبل: انتظر القرار.`,
  text_invalid: `Use at most 1,000 characters, no invisible ones, and no card number.
    Au plus 1 000 caractères, sans caractère invisible ni numéro de carte.
    استعمل 1 000 حرف على الأكثر، دون أحرف غير مرئية ودون رقم بطاقة.`,
});

export const sayLimits = sayFrom(limitMessages);
