// The texts of the pages for request logs.

import { sayFrom, texts } from './say.ts';

export const requestMessages = texts({
  search: `Request, object or idempotency key
    Requête, objet ou clé d’idempotence
    طلب أو كائن أو مفتاح عدم التكرار`,
  any_status: 'Any status | Tous les statuts | كل الحالات',
  succeeded: 'Succeeded (2xx) | Réussies (2xx) | ناجحة (2xx)',
  refused: 'Refused (4xx) | Refusées (4xx) | مرفوضة (4xx)',
  failed: 'Failed on our side (5xx) | Échec de notre côté (5xx) | فشل من جهتنا (5xx)',
  path: 'Path begins with | Chemin commençant par | يبدأ المسار بـ',
  time: 'Time | Heure | الوقت',
  request: 'Request | Requête | الطلب',
  answer: 'Answer | Réponse | الجواب',
  duration: 'Duration | Durée | المدة',
  milliseconds: '{count} ms | {count} ms | {count} مللي ثانية',
  code: 'Error code | Code d’erreur | رمز الخطأ',
  idempotency_key: 'Idempotency key | Clé d’idempotence | مفتاح عدم التكرار',
  replay_of: 'Replay of | Répétition de | إعادة للطلب',
  replayed: 'replayed | répétée | مُعاد',
  api_version: 'API version | Version de l’API | إصدار API',
  key: 'API key | Clé d’API | مفتاح API',
  member: 'Made in the dashboard by | Faite dans le tableau de bord par | أجراه في لوحة التحكم',
  address: 'Sent from | Envoyée depuis | أُرسل من',
  events: 'Events that it caused | Événements qu’elle a causés | الأحداث التي سبّبها',
  body_cut: 'Only the beginning is kept. | Seul le début est conservé. | لا يُحفظ إلا أوله.',
  no_body: 'Without a body. | Sans corps. | بلا محتوى.',
  masked: `What looked like a secret or a card number was left out.
    Ce qui ressemblait à un secret ou à un numéro de carte a été omis.
    حُذف ما بدا أنه سر أو رقم بطاقة.`,
  missing_entries: `{count} requests before this were not kept.
    {count} requêtes avant celle-ci n’ont pas été conservées.
    لم تُحفظ {count} من الطلبات قبل هذا.`,
  none: 'No request yet | Aucune requête pour l’instant | لا طلبات بعد',
  none_text: `Each request to the API with one of this mode’s keys, and each change made here, appears here within a second.
    Chaque requête à l’API avec une clé de ce mode, et chaque changement fait ici, apparaît ici en moins d’une seconde.
    يظهر هنا كل طلب إلى API بأحد مفاتيح هذا الوضع، وكل تغيير يُجرى هنا، في أقل من ثانية.`,
  none_found: 'No request matches | Aucune requête ne correspond | لا طلب مطابق',
  none_found_yet: `No request that was searched matches. Older ones may: go on to them.
    Aucune requête ne correspond parmi celles examinées. Les plus anciennes peuvent correspondre : poursuivez.
    لا طلب مطابق بين ما بُحث فيه. قد تطابق الأقدم: تابع إليها.`,
  unanswered: `Requests that {nodes} took are missing here: no answer came from there.
    Il manque ici les requêtes reçues par {nodes}, qui n’a pas répondu.
    تنقص هنا الطلبات التي استقبلتها {nodes}: لم يصل منها جواب.`,
  not_kept: `The request logs don’t have this request
    Le journal n’a pas cette requête
    ليس هذا الطلب في السجل`,
  not_kept_text: `It is older than they are kept, of the other mode, or not written yet: then look again in a moment.
    Elle est trop ancienne, de l’autre mode, ou pas encore écrite : dans ce cas, réessayez dans un instant.
    إما أنه أقدم من مدة الحفظ، أو من الوضع الآخر، أو لم يُكتب بعد: عندها أعد المحاولة بعد لحظة.`,
  unavailable: `The request logs can’t be read now, or the service keeps none.
    Le journal des requêtes n’est pas lisible pour l’instant, ou le service n’en conserve pas.
    لا يمكن قراءة سجل الطلبات الآن، أو لا تحتفظ الخدمة به.`,
});

export const sayRequests = sayFrom(requestMessages);
