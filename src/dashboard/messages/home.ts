// The texts of the home page.

import { sayFrom, texts } from './say.ts';

export const homeMessages = texts({
  period: 'Period | Période | الفترة',
  days: '{days} | {days} | {days}',
  money_in: 'Money in | Encaissements | المبالغ المستلمة',
  by_card: 'By card | Par carte | بالبطاقة',
  in_cash: 'In cash | En espèces | نقدًا',
  refunded: 'Refunded | Remboursé | المسترد',
  success_rate: 'Success rate | Taux de réussite | معدل النجاح',
  success_text: `{succeeded} of {tried} attempts
    {succeeded} tentatives sur {tried}
    {succeeded} من {tried} محاولة`,
  unpaid_text: `Pages and codes that nobody paid: {count}
    Pages et codes que personne n’a payés : {count}
    صفحات ورموز لم يدفعها أحد: {count}`,
  before: '{value} in the {days} before | {value} les {days} précédents | {value} في الفترة السابقة: {days}',
  recent: 'Latest payments | Derniers paiements | أحدث المدفوعات',
  all_payments: 'All payments | Tous les paiements | كل المدفوعات',
  no_attempts: 'No attempts yet | Aucune tentative | لا محاولات بعد',
  chart: `Money in by day, by card and in cash
    Encaissements par jour, par carte et en espèces
    المبالغ المستلمة يوميًا بالبطاقة ونقدًا`,
  as_table: 'As a table | Sous forme de tableau | على شكل جدول',
  day: 'Day | Jour | اليوم',
  nothing_in: `No money came in during this time.
    Aucun encaissement pendant cette période.
    لم تصل أي مبالغ خلال هذه الفترة.`,
  to_look_at: 'To look at | À vérifier | يحتاج إلى انتباهك',
  all_well: 'Nothing needs your attention. | Rien ne demande votre attention. | لا شيء يحتاج إلى انتباهك.',
  open_reviews: 'Open reviews: {count} | Vérifications ouvertes : {count} | مراجعات مفتوحة: {count}',
  failing_endpoint: `Deliveries to {url} have failed
    Des envois vers {url} ont échoué
    فشل التسليم إلى {url}`,
  failing_endpoints: `Webhook endpoints to which deliveries have failed: {count}
    Webhooks dont des envois ont échoué : {count}
    نقاط استقبال إشعارات الويب التي فشل التسليم إليها: {count}`,
  no_password: `Your account has no password yet: the link that signed you in works once.
    Votre compte n’a pas encore de mot de passe : le lien qui vous a connecté ne sert qu’une fois.
    ليس لحسابك كلمة مرور بعد: الرابط الذي أدخلك يعمل مرة واحدة.`,
  choose_password: 'Choose a password | Choisir un mot de passe | اختر كلمة مرور',
  first_steps: 'First steps | Premiers pas | الخطوات الأولى',
  step_link: `Make a payment link and pay it with a test card
    Créez un lien de paiement et payez-le avec une carte de test
    أنشئ رابط دفع وادفعه ببطاقة اختبار`,
  step_keys: `Get an API key for your server
    Obtenez une clé d’API pour votre serveur
    احصل على مفتاح API لخادمك`,
  step_webhooks: `Add a webhook endpoint, so that your server learns of each payment
    Ajoutez un webhook pour que votre serveur apprenne chaque paiement
    أضف إشعار ويب ليعلم خادمك بكل دفعة`,
  step_activation: `Have your account activated for live mode
    Faites activer votre compte pour le mode production
    اطلب تفعيل حسابك للوضع الحقيقي`,
  activation_note: `Whoever runs this service does this:
    C’est l’exploitant de ce service qui s’en charge :
    يقوم بذلك من يشغّل هذه الخدمة:`,
  step_network: `Connect a payment network: CMI for cards, or cash agents
    Connectez un réseau de paiement : le CMI pour les cartes, ou des agents d’espèces
    اربط شبكة دفع: مركز النقديات CMI للبطاقات أو وكلاء النقد`,
  method_off_note: `A network is connected, but payments with it are switched off. Whoever runs this service switches them on:
    Un réseau est connecté, mais ses paiements sont désactivés. L’exploitant de ce service les active :
    توجد شبكة متصلة لكن الدفع عبرها متوقف. يفعّله من يشغّل هذه الخدمة:`,
  step_keys_live: `Create a live secret key for your server
    Créez une clé secrète de production pour votre serveur
    أنشئ مفتاحًا سريًا حقيقيًا لخادمك`,
  step_payment_live: `Take your first live payment: a payment link is enough
    Encaissez votre premier paiement réel : un lien de paiement suffit
    استلم أول دفعة حقيقية: يكفي رابط دفع`,
  steps_done: '{done} of {all} done | {done} sur {all} faits | أُنجز {done} من {all}',
  done: 'Done | Fait | تمّ',
  to_do: 'To do | À faire | للإنجاز',
  step_docs: 'Read the documentation | Lisez la documentation | اقرأ التوثيق',
});

export const sayHome = sayFrom(homeMessages);
