// The texts of the pages for request logs.

import { sayFrom } from './say.ts';

export const requestMessages = {
  search: {
    en: 'Request, object or idempotency key',
    fr: 'Requête, objet ou clé d’idempotence',
    ar: 'طلب أو كائن أو مفتاح عدم التكرار',
  },
  status: { en: 'Status', fr: 'Statut', ar: 'الحالة' },
  any_status: { en: 'Any status', fr: 'Tous les statuts', ar: 'كل الحالات' },
  succeeded: { en: 'Succeeded (2xx)', fr: 'Réussies (2xx)', ar: 'ناجحة (2xx)' },
  refused: { en: 'Refused (4xx)', fr: 'Refusées (4xx)', ar: 'مرفوضة (4xx)' },
  failed: { en: 'Failed on our side (5xx)', fr: 'Échec de notre côté (5xx)', ar: 'فشل من جهتنا (5xx)' },
  path: { en: 'Path begins with', fr: 'Chemin commençant par', ar: 'يبدأ المسار بـ' },
  time: { en: 'Time', fr: 'Heure', ar: 'الوقت' },
  request: { en: 'Request', fr: 'Requête', ar: 'الطلب' },
  answer: { en: 'Answer', fr: 'Réponse', ar: 'الجواب' },
  duration: { en: 'Duration', fr: 'Durée', ar: 'المدة' },
  milliseconds: { en: '{count} ms', fr: '{count} ms', ar: '{count} مللي ثانية' },
  code: { en: 'Error code', fr: 'Code d’erreur', ar: 'رمز الخطأ' },
  idempotency_key: { en: 'Idempotency key', fr: 'Clé d’idempotence', ar: 'مفتاح عدم التكرار' },
  replay_of: { en: 'Replay of', fr: 'Répétition de', ar: 'إعادة للطلب' },
  replayed: { en: 'replayed', fr: 'répétée', ar: 'مُعاد' },
  api_version: { en: 'API version', fr: 'Version de l’API', ar: 'إصدار API' },
  key: { en: 'API key', fr: 'Clé d’API', ar: 'مفتاح API' },
  member: {
    en: 'Made in the dashboard by',
    fr: 'Faite dans le tableau de bord par',
    ar: 'أجراه في لوحة التحكم',
  },
  address: { en: 'Sent from', fr: 'Envoyée depuis', ar: 'أُرسل من' },
  events: { en: 'Events that it caused', fr: 'Événements qu’elle a causés', ar: 'الأحداث التي سبّبها' },
  body_cut: {
    en: 'Only the beginning is kept.',
    fr: 'Seul le début est conservé.',
    ar: 'لا يُحفظ إلا أوله.',
  },
  no_body: { en: 'Without a body.', fr: 'Sans corps.', ar: 'بلا محتوى.' },
  masked: {
    en: 'What looked like a secret or a card number was left out.',
    fr: 'Ce qui ressemblait à un secret ou à un numéro de carte a été omis.',
    ar: 'حُذف ما بدا أنه سر أو رقم بطاقة.',
  },
  missing_entries: {
    en: '{count} requests before this were not kept.',
    fr: '{count} requêtes avant celle-ci n’ont pas été conservées.',
    ar: 'لم تُحفظ {count} من الطلبات قبل هذا.',
  },
  none: { en: 'No request yet', fr: 'Aucune requête pour l’instant', ar: 'لا طلبات بعد' },
  none_text: {
    en: 'Each request to the API with one of this mode’s keys, and each change made here, appears here within a second.',
    fr: 'Chaque requête à l’API avec une clé de ce mode, et chaque changement fait ici, apparaît ici en moins d’une seconde.',
    ar: 'يظهر هنا كل طلب إلى API بأحد مفاتيح هذا الوضع، وكل تغيير يُجرى هنا، في أقل من ثانية.',
  },
  none_found: { en: 'No request fits', fr: 'Aucune requête ne correspond', ar: 'لا طلب مطابق' },
  none_found_yet: {
    en: 'No request fits among those that were searched. Older ones may: go on to them.',
    fr: 'Aucune requête ne correspond parmi celles examinées. Les plus anciennes peuvent correspondre : poursuivez.',
    ar: 'لا طلب مطابق بين ما بُحث فيه. قد تطابق الأقدم: تابع إليها.',
  },
  not_kept: {
    en: 'The request logs don’t have this request',
    fr: 'Le journal n’a pas cette requête',
    ar: 'ليس هذا الطلب في السجل',
  },
  not_kept_text: {
    en: 'It is older than they are kept, of the other mode, or not written yet: then look again in a moment.',
    fr: 'Elle est trop ancienne, de l’autre mode, ou pas encore écrite : dans ce cas, réessayez dans un instant.',
    ar: 'إما أنه أقدم من مدة الحفظ، أو من الوضع الآخر، أو لم يُكتب بعد: عندها أعد المحاولة بعد لحظة.',
  },
  unavailable: {
    en: 'The request logs can’t be read now, or the service keeps none.',
    fr: 'Le journal des requêtes n’est pas lisible pour l’instant, ou le service n’en conserve pas.',
    ar: 'لا يمكن قراءة سجل الطلبات الآن، أو لا تحتفظ الخدمة به.',
  },
} as const;

export const sayRequests = sayFrom(requestMessages);
