// Texts for requests that are not admitted: keys, permissions, idempotency, limits, and a service
// that can't answer. Only table.ts imports them.

import type { Language } from '../vocabulary.ts';

export const admissionMessages = {
  idempotency_key_missing: {
    en: 'This request needs an Idempotency-Key header, so that it can be retried safely.',
    fr: 'Cette requête nécessite un en-tête Idempotency-Key afin de pouvoir être renvoyée sans risque.',
    ar: 'يتطلب هذا الطلب ترويسة Idempotency-Key حتى تمكن إعادة إرساله بأمان.',
  },
  api_key_missing: {
    en: 'No API key was sent. Send your secret key as a bearer token, or as the user name of HTTP Basic with an empty password.',
    fr: 'Aucune clé d’API n’a été envoyée. Envoyez votre clé secrète comme jeton Bearer, ou comme nom d’utilisateur HTTP Basic avec un mot de passe vide.',
    ar: 'لم يُرسَل أي مفتاح API. أرسل مفتاحك السري كرمز Bearer، أو كاسم مستخدم في HTTP Basic مع كلمة مرور فارغة.',
  },
  api_key_invalid: {
    en: 'This API key does not exist.',
    fr: 'Cette clé d’API n’existe pas.',
    ar: 'مفتاح API هذا غير موجود.',
  },
  api_key_revoked: {
    en: 'This API key was revoked.',
    fr: 'Cette clé d’API a été révoquée.',
    ar: 'أُلغي مفتاح API هذا.',
  },
  api_key_expired: {
    en: 'This API key was rolled and no longer works. Use the key that replaced it.',
    fr: 'Cette clé d’API a été renouvelée et ne fonctionne plus. Utilisez celle qui la remplace.',
    ar: 'استُبدل مفتاح API هذا ولم يعد يعمل. استخدم المفتاح الذي حل محله.',
  },
  authentication_required: {
    en: 'The Authorization header must be “Bearer” with an API key, or “Basic” with the key as the user name and an empty password.',
    fr: 'L’en-tête Authorization doit être « Bearer » suivi d’une clé d’API, ou « Basic » avec la clé comme nom d’utilisateur et un mot de passe vide.',
    ar: 'يجب أن تكون ترويسة Authorization إما «Bearer» متبوعة بمفتاح API، أو «Basic» مع المفتاح كاسم مستخدم وكلمة مرور فارغة.',
  },
  secret_key_required: {
    en: 'This request needs a secret key; a publishable key was sent.',
    fr: 'Cette requête nécessite une clé secrète ; une clé publiable a été envoyée.',
    ar: 'يتطلب هذا الطلب مفتاحًا سريًا؛ وقد أُرسل مفتاح قابل للنشر.',
  },
  live_mode_not_activated: {
    en: 'Live mode is not activated for this account yet. Test keys work.',
    fr: 'Le mode production n’est pas encore activé pour ce compte. Les clés de test fonctionnent.',
    ar: 'لم يُفعَّل الوضع الحقيقي لهذا الحساب بعد. مفاتيح الاختبار تعمل.',
  },
  account_inactive: {
    en: 'This account is suspended or closed.',
    fr: 'Ce compte est suspendu ou fermé.',
    ar: 'هذا الحساب موقوف أو مغلق.',
  },
  test_mode_only: {
    en: 'Test helpers work with test keys only.',
    fr: 'Les routes de test ne fonctionnent qu’avec des clés de test.',
    ar: 'لا تعمل أدوات الاختبار إلا بمفاتيح الاختبار.',
  },
  permission_denied: {
    en: 'This API key is not allowed to do this.',
    fr: 'Cette clé d’API n’est pas autorisée à effectuer cette action.',
    ar: 'لا يملك مفتاح API هذا صلاحية تنفيذ هذا الإجراء.',
  },
  idempotency_key_reused: {
    en: 'This Idempotency-Key was already used for another request. Use a new key for a new request.',
    fr: 'Cette Idempotency-Key a déjà été utilisée pour une autre requête. Utilisez une nouvelle clé pour une nouvelle requête.',
    ar: 'سبق استخدام Idempotency-Key هذه لطلب آخر. استخدم مفتاحًا جديدًا لكل طلب جديد.',
  },
  idempotency_in_progress: {
    en: 'The first request with this Idempotency-Key is still running. Send it again in a moment.',
    fr: 'La première requête portant cette Idempotency-Key est encore en cours. Renvoyez-la dans un instant.',
    ar: 'لا يزال الطلب الأول الذي يحمل Idempotency-Key هذه قيد التنفيذ. أعد إرساله بعد لحظات.',
  },
  idempotency_error: {
    en: 'The Idempotency-Key was refused.',
    fr: 'L’Idempotency-Key a été refusée.',
    ar: 'رُفضت Idempotency-Key.',
  },
  rate_limit_exceeded: {
    en: 'Too many requests: the limit “{bucket}” is {limit} per minute. Try again in {wait} s.',
    fr: 'Trop de requêtes : la limite « {bucket} » est de {limit} par minute. Réessayez dans {wait} s.',
    ar: 'عدد الطلبات كبير جدًا: الحد «{bucket}» هو {limit} في الدقيقة. أعد المحاولة بعد {wait} ث.',
  },
  'rate_limit_exceeded.streams': {
    en: 'Too many streams of events at once: an organization may have {max}. Try again when one has ended.',
    fr: 'Trop de flux d’événements à la fois : une organisation peut en avoir {max}. Réessayez quand l’un d’eux sera terminé.',
    ar: 'عدد تدفقات الأحداث المتزامنة كبير جدًا: يُسمح للمؤسسة بعدد {max}. أعد المحاولة عند انتهاء أحدها.',
  },
  'rate_limit_exceeded.exports': {
    en: 'Too many exports at once: the limit “{bucket}” takes {max}. Try again when one has ended, in {wait} s at the earliest.',
    fr: 'Trop d’exports à la fois : la limite « {bucket} » en admet {max}. Réessayez quand l’un d’eux sera terminé, dans {wait} s au plus tôt.',
    ar: 'عدد عمليات التصدير المتزامنة كبير جدًا: الحد «{bucket}» يسمح بعدد {max}. أعد المحاولة عند انتهاء إحداها، بعد {wait} ث على الأقل.',
  },
  'rate_limit_exceeded.payment_link': {
    en: 'This payment link was opened too often. Try again in {wait} min.',
    fr: 'Ce lien de paiement a été ouvert trop souvent. Réessayez dans {wait} min.',
    ar: 'فُتح رابط الدفع هذا مرات كثيرة جدًا. أعد المحاولة بعد {wait} دقيقة.',
  },
  'rate_limit_exceeded.by_hand': {
    en: 'At most {limit} deliveries a minute can be sent to this endpoint by hand. Try again in {wait} s.',
    fr: 'On peut envoyer à la main {limit} livraisons par minute au plus à ce point de terminaison. Réessayez dans {wait} s.',
    ar: 'يمكن إرسال {limit} عملية تسليم في الدقيقة يدويًا إلى نقطة الاستقبال هذه كحد أقصى. أعد المحاولة بعد {wait} ث.',
  },
  'rate_limit_exceeded.resend_failed': {
    en: 'The failed deliveries of an endpoint can be sent again every {every} minutes: the next time in {wait} min.',
    fr: 'Tous les échecs de ce point de terminaison peuvent être renvoyés toutes les {every} minutes : la prochaine fois dans {wait} min.',
    ar: 'يمكن إعادة إرسال كل ما فشل لدى نقطة الاستقبال هذه مرة كل {every} دقيقة: المرة القادمة بعد {wait} د.',
  },
  test_daily_cap_reached: {
    en: 'The daily cap of test mode, {cap} a day, is reached until midnight, Morocco time.',
    fr: 'Le plafond quotidien du mode test, {cap} par jour, est atteint jusqu’à minuit, heure du Maroc.',
    ar: 'بُلغ السقف اليومي لوضع الاختبار، وهو {cap} في اليوم، حتى منتصف الليل بتوقيت المغرب.',
  },
  api_error: {
    en: 'Something went wrong on our side. Send the request again with the same Idempotency-Key.',
    fr: 'Une erreur s’est produite de notre côté. Renvoyez la requête avec la même Idempotency-Key.',
    ar: 'حدث خطأ من جانبنا. أعد إرسال الطلب باستخدام Idempotency-Key نفسها.',
  },
  'api_error.unavailable': {
    en: 'The service is recovering. Send the request again in a moment, with the same Idempotency-Key.',
    fr: 'Le service est en cours de rétablissement. Renvoyez la requête dans un instant, avec la même Idempotency-Key.',
    ar: 'يجري استعادة الخدمة. أعد إرسال الطلب بعد لحظات، باستخدام Idempotency-Key نفسها.',
  },
  'api_error.overloaded': {
    en: 'The service has too many requests to answer right now. This one was not carried out: send it again in a moment, with the same Idempotency-Key.',
    fr: 'Le service a trop de requêtes à traiter pour le moment. Celle-ci n’a pas été exécutée : renvoyez-la dans un instant, avec la même Idempotency-Key.',
    ar: 'لدى الخدمة عدد كبير جدًا من الطلبات حاليًا. لم يُنفَّذ هذا الطلب: أعد إرساله بعد لحظات، باستخدام Idempotency-Key نفسها.',
  },
  'api_error.network_unavailable': {
    en: 'The payment network takes no payments right now. Send the request again in a moment, with the same Idempotency-Key.',
    fr: 'Le réseau de paiement n’accepte aucun paiement pour le moment. Renvoyez la requête dans un instant, avec la même Idempotency-Key.',
    ar: 'لا تقبل شبكة الدفع أي دفعات حاليًا. أعد إرسال الطلب بعد لحظات، باستخدام Idempotency-Key نفسها.',
  },
  'api_error.answer_lost': {
    en: 'A request with this Idempotency-Key was carried out, and its answer can no longer be read. It is not carried out again: look up the object that it created.',
    fr: 'Une requête avec cette Idempotency-Key a été exécutée, et sa réponse ne peut plus être lue. Elle ne sera pas exécutée de nouveau : consultez plutôt ce qu’elle a créé.',
    ar: 'نُفِّذ طلب بهذا المفتاح Idempotency-Key ولم يعد بالإمكان قراءة الرد عليه. لن يُنفَّذ مرة أخرى: راجع ما أنشأه بدلًا من ذلك.',
  },
  'api_error.record_damaged': {
    en: 'Something that this request needs can’t be read. Nothing was changed; the operator of the service has to restore it.',
    fr: 'Un élément nécessaire à cette requête ne peut pas être lu. Rien n’a été modifié ; l’exploitant du service doit le restaurer.',
    ar: 'تعذّرت قراءة شيء يحتاجه هذا الطلب. لم يتغيّر شيء، وعلى مشغّل الخدمة استعادته.',
  },
  'api_error.timeout': {
    en: 'The answer took too long. Send the request again with the same Idempotency-Key.',
    fr: 'La réponse a mis trop de temps à arriver. Renvoyez la requête avec la même Idempotency-Key.',
    ar: 'استغرق الرد وقتًا أطول من اللازم. أعد إرسال الطلب باستخدام Idempotency-Key نفسها.',
  },
} as const satisfies Record<string, Readonly<Record<Language, string>>>;
