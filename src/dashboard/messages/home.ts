// The texts of the home page.

import { sayFrom } from './say.ts';

export const homeMessages = {
  period: { en: 'Period', fr: 'Période', ar: 'الفترة' },
  days: { en: '{days}', fr: '{days}', ar: '{days}' },
  money_in: { en: 'Money in', fr: 'Encaissements', ar: 'المبالغ المستلمة' },
  by_card: { en: 'By card', fr: 'Par carte', ar: 'بالبطاقة' },
  in_cash: { en: 'In cash', fr: 'En espèces', ar: 'نقدًا' },
  refunded: { en: 'Refunded', fr: 'Remboursé', ar: 'المسترد' },
  success_rate: { en: 'Success rate', fr: 'Taux de réussite', ar: 'معدل النجاح' },
  success_text: {
    en: '{succeeded} of {tried} attempts',
    fr: '{succeeded} tentatives sur {tried}',
    ar: '{succeeded} من {tried} محاولة',
  },
  unpaid_text: {
    en: 'Pages and codes that nobody paid: {count}',
    fr: 'Pages et codes que personne n’a payés : {count}',
    ar: 'صفحات ورموز لم يدفعها أحد: {count}',
  },
  before: {
    en: '{value} in the {days} before',
    fr: '{value} les {days} précédents',
    ar: '{value} في الفترة السابقة: {days}',
  },
  recent: { en: 'Latest payments', fr: 'Derniers paiements', ar: 'أحدث المدفوعات' },
  all_payments: { en: 'All payments', fr: 'Tous les paiements', ar: 'كل المدفوعات' },
  no_attempts: { en: 'No attempts yet', fr: 'Aucune tentative', ar: 'لا محاولات بعد' },
  chart: {
    en: 'Money in by day, by card and in cash',
    fr: 'Encaissements par jour, par carte et en espèces',
    ar: 'المبالغ المستلمة يوميًا بالبطاقة ونقدًا',
  },
  as_table: { en: 'As a table', fr: 'Sous forme de tableau', ar: 'على شكل جدول' },
  day: { en: 'Day', fr: 'Jour', ar: 'اليوم' },
  nothing_in: {
    en: 'No money came in during this time.',
    fr: 'Aucun encaissement pendant cette période.',
    ar: 'لم تصل أي مبالغ خلال هذه الفترة.',
  },
  to_look_at: { en: 'To look at', fr: 'À vérifier', ar: 'يحتاج إلى انتباهك' },
  all_well: {
    en: 'Nothing needs you.',
    fr: 'Rien ne demande votre attention.',
    ar: 'لا شيء يحتاج إلى انتباهك.',
  },
  open_reviews: {
    en: 'Open reviews: {count}',
    fr: 'Vérifications ouvertes : {count}',
    ar: 'مراجعات مفتوحة: {count}',
  },
  failing_endpoint: {
    en: 'Deliveries to {url} have failed',
    fr: 'Des envois vers {url} ont échoué',
    ar: 'فشل التسليم إلى {url}',
  },
  since: { en: 'since', fr: 'depuis', ar: 'منذ' },
  failing_endpoints: {
    en: 'Webhook endpoints to which deliveries have failed: {count}',
    fr: 'Webhooks dont des envois ont échoué : {count}',
    ar: 'نقاط استقبال إشعارات الويب التي فشل التسليم إليها: {count}',
  },
  no_password: {
    en: 'Your account has no password yet: the link that signed you in works once.',
    fr: 'Votre compte n’a pas encore de mot de passe : le lien qui vous a connecté ne sert qu’une fois.',
    ar: 'ليس لحسابك كلمة مرور بعد: الرابط الذي أدخلك يعمل مرة واحدة.',
  },
  choose_password: {
    en: 'Choose a password',
    fr: 'Choisir un mot de passe',
    ar: 'اختر كلمة مرور',
  },
  first_steps: { en: 'First steps', fr: 'Premiers pas', ar: 'الخطوات الأولى' },
  step_link: {
    en: 'Make a payment link and pay it with a test card',
    fr: 'Créez un lien de paiement et payez-le avec une carte de test',
    ar: 'أنشئ رابط دفع وادفعه ببطاقة اختبار',
  },
  step_keys: {
    en: 'Get an API key for your server',
    fr: 'Obtenez une clé d’API pour votre serveur',
    ar: 'احصل على مفتاح API لخادمك',
  },
  step_webhooks: {
    en: 'Add a webhook endpoint, so that your server learns of each payment',
    fr: 'Ajoutez un webhook pour que votre serveur apprenne chaque paiement',
    ar: 'أضف إشعار ويب ليعلم خادمك بكل دفعة',
  },
  step_activation: {
    en: 'Have your account activated for live mode',
    fr: 'Faites activer votre compte pour le mode réel',
    ar: 'اطلب تفعيل حسابك للوضع الحقيقي',
  },
  activation_note: {
    en: 'Whoever runs this service does this:',
    fr: 'C’est l’exploitant de ce service qui s’en charge :',
    ar: 'يقوم بذلك من يشغّل هذه الخدمة:',
  },
  step_network: {
    en: 'Connect a payment network: CMI for cards, or cash agents',
    fr: 'Connectez un réseau de paiement : le CMI pour les cartes, ou des agents d’espèces',
    ar: 'اربط شبكة دفع: مركز النقديات CMI للبطاقات أو وكلاء النقد',
  },
  method_off_note: {
    en: 'A network is connected, but payments with it are switched off. Whoever runs this service switches them on:',
    fr: 'Un réseau est connecté, mais ses paiements sont désactivés. L’exploitant de ce service les active :',
    ar: 'توجد شبكة متصلة لكن الدفع عبرها متوقف. يفعّله من يشغّل هذه الخدمة:',
  },
  step_keys_live: {
    en: 'Create a live secret key for your server',
    fr: 'Créez une clé secrète réelle pour votre serveur',
    ar: 'أنشئ مفتاحًا سريًا حقيقيًا لخادمك',
  },
  step_payment_live: {
    en: 'Take your first live payment: a payment link is enough',
    fr: 'Encaissez votre premier paiement réel : un lien de paiement suffit',
    ar: 'استلم أول دفعة حقيقية: يكفي رابط دفع',
  },
  steps_done: {
    en: '{done} of {all} done',
    fr: '{done} sur {all} faits',
    ar: 'أُنجز {done} من {all}',
  },
  done: { en: 'Done', fr: 'Fait', ar: 'تمّ' },
  to_do: { en: 'To do', fr: 'À faire', ar: 'للإنجاز' },
  step_docs: { en: 'Read the documentation', fr: 'Lisez la documentation', ar: 'اقرأ التوثيق' },
} as const;

export const sayHome = sayFrom(homeMessages);
