// The texts of the pages for webhook endpoints and events.

import { sayFrom, texts } from './say.ts';

export const webhookMessages = texts({
  intro: `The service sends events to these addresses of yours, signed, and tries again for about three days.
    Le service envoie les événements à ces adresses, signés, et réessaie pendant environ trois jours.
    ترسل الخدمة الأحداث موقَّعةً إلى عناوينك هذه، وتعيد المحاولة نحو ثلاثة أيام.`,
  endpoints: 'Webhook endpoints | Points de terminaison | نقاط الاستقبال',
  none: `There is no endpoint yet.
    Il n’y a pas encore de point de terminaison.
    لا توجد نقطة استقبال بعد.`,
  create: 'Add an endpoint | Ajouter un point de terminaison | إضافة نقطة استقبال',
  endpoint: 'Endpoint | Point de terminaison | نقطة الاستقبال',
  url: 'Address | Adresse | العنوان',
  url_hint: `An https address on your server that anybody can reach.
    Une adresse https de votre serveur, accessible publiquement.
    عنوان https على خادمك يمكن الوصول إليه من أي مكان.`,
  url_missing: `Enter an address that begins with https://.
    Saisissez une adresse qui commence par https://.
    أدخل عنوانًا يبدأ بـ ‎https://‎.`,
  events: 'Events | Événements | الأحداث',
  events_missing: `Choose at least one event.
    Choisissez au moins un événement.
    اختر حدثًا واحدًا على الأقل.`,
  all_events: 'All events | Tous les événements | جميع الأحداث',
  status: 'Status | État | الحالة',
  enabled: 'Enabled | Activé | مفعّلة',
  disabled: 'Disabled | Désactivé | معطّلة',
  deleted: 'Deleted | Supprimé | محذوفة',
  created: 'Created | Créé | تاريخ الإنشاء',
  edit: 'Edit | Modifier | تعديل',
  edit_title: 'Edit the endpoint | Modifier le point de terminaison | تعديل نقطة الاستقبال',
  disable: 'Disable | Désactiver | تعطيل',
  enable: 'Enable | Activer | تفعيل',
  delete: 'Delete | Supprimer | حذف',
  delete_title: 'Delete the endpoint | Supprimer le point de terminaison | حذف نقطة الاستقبال',
  delete_intro: `Nothing is sent to {url} any more, and what waits is not sent either. This cannot be undone.
    Plus rien n’est envoyé à {url}, ni ce qui attend. C’est irréversible.
    لن يُرسل شيء إلى {url} بعد الآن، ولا ما ينتظر الإرسال. لا يمكن التراجع عن ذلك.`,
  failing: 'Failing | En échec | تفشل',
  last_answer: 'Last answer | Dernière réponse | آخر رد',
  failed_24h: 'Failed in 24 hours | Échecs en 24 heures | الفاشلة خلال 24 ساعة',
  failed_of: '{failed} of {attempts} | {failed} sur {attempts} | {failed} من {attempts}',
  median: 'Median time | Durée médiane | المدة الوسيطة',
  attempts_by_hour: `Attempts of the last 24 hours, by the hour
    Tentatives des dernières 24 heures, par heure
    محاولات آخر 24 ساعة بالساعة`,
  attempts_counted: `Attempts are counted for 24 hours, from the last start of the service at the earliest.
    Les tentatives sont comptées pendant 24 heures, au plus tôt depuis le dernier démarrage du service.
    تُحسب المحاولات لمدة 24 ساعة، ومنذ آخر تشغيل للخدمة على أبعد تقدير.`,
  being_retried: `Failed so far, to be tried again
    En échec jusqu’ici, à réessayer
    فشلت حتى الآن وستُعاد محاولتها`,
  secret: 'Signing secret | Secret de signature | سر التوقيع',
  show_secret: 'Show the signing secret | Afficher le secret de signature | عرض سر التوقيع',
  secret_intro: `Check the signature of every delivery with it. Keep it on your server.
    Vérifiez avec lui la signature de chaque livraison. Gardez-le sur votre serveur.
    تحقّق به من توقيع كل إرسال. احتفظ به على خادمك.`,
  secret_until: 'signs until | signe jusqu’au | يوقّع حتى',
  active_secret: 'active | en vigueur | ساري المفعول',
  roll_secret: 'Roll the signing secret | Renouveler le secret de signature | تجديد سر التوقيع',
  roll_intro: `Deliveries are signed with a new secret, and with the old one too until its time is over.
    Les livraisons sont signées avec un nouveau secret, et aussi avec l’ancien jusqu’à son échéance.
    توقَّع الإرسالات بسر جديد، وبالقديم أيضًا حتى تنتهي مدته.`,
  old_secret: 'The old secret signs | L’ancien secret signe | يوقّع السر القديم',
  is_sample: 'Sample | Exemple | مثال',
  sample_text: `A sample, made up to try your server with: nothing happened.
    Un exemple, inventé pour essayer votre serveur : il ne s’est rien passé.
    مثال مصطنع لتجربة خادمك: لم يحدث شيء.`,
  sample: 'Send a sample event | Envoyer un événement d’exemple | إرسال حدث تجريبي',
  type: 'Type | Type | النوع',
  send: 'Send | Envoyer | إرسال',
  deliveries: 'Deliveries | Livraisons | الإرسالات',
  some_failed: 'Some failed | Des échecs | فشل بعضها',
  no_deliveries: 'Nothing was sent yet. | Rien n’a encore été envoyé. | لم يُرسل شيء بعد.',
  show_failed: 'Show failed ones only | Afficher seulement les échecs | عرض الفاشلة فقط',
  show_all: 'Show all | Tout afficher | عرض الكل',
  delivery: 'Delivery | Livraison | الإرسال',
  event: 'Event | Événement | الحدث',
  pending: 'Waiting | En attente | قيد الانتظار',
  retrying: 'To be retried | À réessayer | ستُعاد محاولته',
  succeeded: 'Delivered | Livré | وصل',
  failed: 'Failed | Échoué | فشل',
  ended: 'Ended | Terminé | انتهى',
  attempts: 'Attempts | Tentatives | المحاولات',
  no_attempts: 'No attempt was made yet. | Aucune tentative pour le moment. | لم تجر أي محاولة بعد.',
  gone_attempts: `Older attempts, which are no longer kept: {count}.
    Tentatives plus anciennes dont rien n’est plus conservé : {count}.
    محاولات أقدم لم يعد يُحتفظ بشيء منها: {count}.`,
  answer_not_kept: 'not kept | non conservée | غير محفوظ',
  answers_kept: `The first KiB of an answer is kept, of the last two failed attempts. When very many attempts of the organization fail, answers are not kept, and the oldest attempts go first.
    Le premier Kio d’une réponse est conservé, pour les deux dernières tentatives échouées. Quand de très nombreuses tentatives de l’organisation échouent, des réponses ne sont pas conservées, et les tentatives les plus anciennes disparaissent en premier.
    يُحفظ أول كيلوبايت من الرد لآخر محاولتين فاشلتين. وحين تفشل محاولات كثيرة جدًا للمؤسسة لا تُحفظ بعض الردود، وتُحذف أقدم المحاولات أولًا.`,
  next_attempt: 'Next attempt | Prochaine tentative | المحاولة التالية',
  status_code: 'Status code | Code d’état | رمز الحالة',
  duration: 'Time taken | Durée | المدة',
  answer: 'Answer | Réponse | الرد',
  resend: 'Resend | Renvoyer | إعادة الإرسال',
  resend_failed: 'Resend all failed | Renvoyer tous les échecs | إعادة إرسال كل الفاشلة',
  resend_failed_at: `Failed deliveries can be resent again from
    Tous les échecs pourront être renvoyés à partir du
    يمكن إعادة إرسال كل الفاشلة مجددًا ابتداءً من`,
  resending: `The failed deliveries are being sent again. You may leave this page.
    Les livraisons échouées sont renvoyées. Vous pouvez quitter cette page.
    يعاد إرسال ما فشل. يمكنك مغادرة هذه الصفحة.`,
  not_enabled: `Nothing can be sent again while the endpoint is disabled.
    Rien ne peut être renvoyé tant que le point de terminaison est désactivé.
    لا يمكن إعادة الإرسال ما دامت نقطة الاستقبال معطّلة.`,
  endpoint_gone: `Nothing can be sent again: the endpoint was deleted.
    Rien ne peut être renvoyé : le point de terminaison a été supprimé.
    لا يمكن إعادة الإرسال: حُذفت نقطة الاستقبال.`,
  done_created: 'The endpoint is added. | Le point de terminaison est ajouté. | أُضيفت نقطة الاستقبال.',
  done_changed: 'The change is saved. | La modification est enregistrée. | حُفظ التعديل.',
  done_deleted: 'The endpoint is deleted. | Le point de terminaison est supprimé. | حُذفت نقطة الاستقبال.',
  done_sent: 'It is being sent. | L’envoi est en cours. | جارٍ الإرسال.',
  refused: 'It was not sent: {reason} | Rien n’a été envoyé : {reason} | لم يُرسل: {reason}',
  back: 'Back to the endpoint | Retour au point de terminaison | العودة إلى نقطة الاستقبال',
  any_type: 'All types | Tous les types | كل الأنواع',
  no_event: 'There is no event here. | Il n’y a aucun événement ici. | لا توجد أحداث هنا.',
  request: 'Request | Requête | الطلب',
  idempotency_key: 'Idempotency key | Clé d’idempotence | مفتاح عدم التكرار',
  body: 'The event as it is sent | L’événement tel qu’il est envoyé | الحدث كما يُرسل',
});

export const sayWebhooks = sayFrom(webhookMessages);
