// The audit log's sentences for what is done seldom or by operators: looking at things, changing
// limits, the service as a whole, a member's own account, and the helpers of test mode.

export const seldomAuditMessages = {
  'api.complete_charge': {
    en: '{who} let the attempt {object} succeed, in test mode',
    fr: '{who} a fait réussir la tentative {object}, en mode test',
    ar: 'أنجح {who} المحاولة {object} في وضع الاختبار',
  },
  'api.delete_customer': {
    en: '{who} deleted the customer {object}',
    fr: '{who} a supprimé le client {object}',
    ar: 'حذف {who} العميل {object}',
  },
  'api.expire_charge': {
    en: '{who} let the attempt {object} run out of time, in test mode',
    fr: '{who} a fait expirer la tentative {object}, en mode test',
    ar: 'أنهى {who} مهلة المحاولة {object} في وضع الاختبار',
  },
  'api.fail_charge': {
    en: '{who} let the attempt {object} fail, in test mode',
    fr: '{who} a fait échouer la tentative {object}, en mode test',
    ar: 'أفشل {who} المحاولة {object} في وضع الاختبار',
  },
  'api.fail_refund': {
    en: '{who} let the refund {object} fail, in test mode',
    fr: '{who} a fait échouer le remboursement {object}, en mode test',
    ar: 'أفشل {who} الاسترداد {object} في وضع الاختبار',
  },
  'api.pay_cash': {
    en: '{who} paid a cash code, in test mode',
    fr: '{who} a payé un code en espèces, en mode test',
    ar: 'دفع {who} رمزًا نقديًا في وضع الاختبار',
  },
  'api.succeed_refund': {
    en: '{who} let the refund {object} succeed, in test mode',
    fr: '{who} a fait réussir le remboursement {object}, en mode test',
    ar: 'أنجح {who} الاسترداد {object} في وضع الاختبار',
  },
  'api.update_customer': {
    en: '{who} changed the customer {object}',
    fr: '{who} a modifié le client {object}',
    ar: 'عدّل {who} العميل {object}',
  },
  'api.update_payment_intent': {
    en: '{who} changed the payment {object}',
    fr: '{who} a modifié le paiement {object}',
    ar: 'عدّل {who} الدفعة {object}',
  },
  backup: {
    en: '{who} made a backup of the service',
    fr: '{who} a sauvegardé le service',
    ar: 'أخذ {who} نسخة احتياطية من الخدمة',
  },
  compact: {
    en: '{who} gave unused disk space back',
    fr: '{who} a libéré l’espace disque inutilisé',
    ar: 'حرّر {who} مساحة القرص غير المستعملة',
  },
  'events.follow': {
    en: '{who} followed the events',
    fr: '{who} a suivi les événements',
    ar: 'تابع {who} الأحداث',
  },
  'key.list': {
    en: '{who} looked at the API keys',
    fr: '{who} a consulté les clés d’API',
    ar: 'اطّلع {who} على مفاتيح API',
  },
  'limits.daily': {
    en: '{who} set the daily limits of requests',
    fr: '{who} a fixé les limites quotidiennes de requêtes',
    ar: 'حدّد {who} الحدود اليومية للطلبات',
  },
  'limits.requests': {
    en: '{who} looked at the requests for higher limits',
    fr: '{who} a consulté les demandes de limites plus élevées',
    ar: 'اطّلع {who} على طلبات رفع الحدود',
  },
  'limits.reset': {
    en: '{who} took all limits back to the usual ones',
    fr: '{who} a rétabli les limites habituelles',
    ar: 'أعاد {who} الحدود المعتادة',
  },
  'limits.show': {
    en: '{who} looked at the limits',
    fr: '{who} a consulté les limites',
    ar: 'اطّلع {who} على الحدود',
  },
  'member.change-password': {
    en: '{who} chose a new password',
    fr: '{who} a choisi un nouveau mot de passe',
    ar: 'اختار {who} كلمة مرور جديدة',
  },
  'member.invitations': {
    en: '{who} looked at the invitations',
    fr: '{who} a consulté les invitations',
    ar: 'اطّلع {who} على الدعوات',
  },
  'member.list': {
    en: '{who} looked at the members',
    fr: '{who} a consulté les membres',
    ar: 'اطّلع {who} على الأعضاء',
  },
  'member.notices': {
    en: '{who} chose which mails to get',
    fr: '{who} a choisi les e-mails à recevoir',
    ar: 'اختار {who} الرسائل التي تصله',
  },
  'member.recovery-codes': {
    en: '{who} made new recovery codes',
    fr: '{who} a créé de nouveaux codes de secours',
    ar: 'أنشأ {who} رموز استرداد جديدة',
  },
  'member.rename': { en: '{who} took another name', fr: '{who} a changé de nom', ar: 'غيّر {who} اسمه' },
  'member.reset': {
    en: '{who} made a link with which {object} sets a new password',
    fr: '{who} a créé un lien pour que {object} choisisse un nouveau mot de passe',
    ar: 'أنشأ {who} رابطًا ليختار {object} كلمة مرور جديدة',
  },
  'member.reset-password': {
    en: '{who} set a new password with a link',
    fr: '{who} a défini un nouveau mot de passe par un lien',
    ar: 'عيّن {who} كلمة مرور جديدة عبر رابط',
  },
  'member.two-step-off': {
    en: '{who} switched the second step off',
    fr: '{who} a désactivé la deuxième étape',
    ar: 'أوقف {who} الخطوة الثانية',
  },
  'member.two-step-on': {
    en: '{who} switched the second step on',
    fr: '{who} a activé la deuxième étape',
    ar: 'فعّل {who} الخطوة الثانية',
  },
  'network.check': {
    en: '{who} checked the payment networks',
    fr: '{who} a vérifié les réseaux de paiement',
    ar: 'تحقّق {who} من شبكات الدفع',
  },
  'network.show': {
    en: '{who} looked at the payment networks',
    fr: '{who} a consulté les réseaux de paiement',
    ar: 'اطّلع {who} على شبكات الدفع',
  },
  'org.activate': {
    en: '{who} activated live mode',
    fr: '{who} a activé le mode réel',
    ar: 'فعّل {who} الوضع الحقيقي',
  },
  'org.close': {
    en: '{who} closed the organization',
    fr: '{who} a fermé l’organisation',
    ar: 'أغلق {who} المؤسسة',
  },
  'org.list': {
    en: '{who} looked at the organizations',
    fr: '{who} a consulté les organisations',
    ar: 'اطّلع {who} على المؤسسات',
  },
  'org.methods': {
    en: '{who} changed the payment methods',
    fr: '{who} a modifié les moyens de paiement',
    ar: 'عدّل {who} طرق الدفع',
  },
  'org.show': {
    en: '{who} looked at the organization',
    fr: '{who} a consulté l’organisation',
    ar: 'اطّلع {who} على المؤسسة',
  },
  'reconcile.review': {
    en: '{who} opened a review after comparing a statement',
    fr: '{who} a ouvert une vérification après la comparaison d’un relevé',
    ar: 'فتح {who} مراجعة بعد مقارنة كشف',
  },
  'reconcile.settled': {
    en: '{who} read what was settled, to compare it with a statement',
    fr: '{who} a lu ce qui a été réglé, pour le comparer à un relevé',
    ar: 'قرأ {who} ما تمت تسويته لمقارنته بكشف',
  },
  resume: {
    en: '{who} ended the pause of the service',
    fr: '{who} a mis fin à la pause du service',
    ar: 'أنهى {who} توقف الخدمة',
  },
  'review.list': {
    en: '{who} looked at the reviews',
    fr: '{who} a consulté les vérifications',
    ar: 'اطّلع {who} على المراجعات',
  },
  trigger: {
    en: '{who} made a test event happen',
    fr: '{who} a déclenché un événement de test',
    ar: 'أحدث {who} حدثًا للاختبار',
  },
  'webhooks.attempts': {
    en: '{who} looked at the attempts of the delivery {object}',
    fr: '{who} a consulté les tentatives de l’envoi {object}',
    ar: 'اطّلع {who} على محاولات التسليم {object}',
  },
  'webhooks.deliveries': {
    en: '{who} looked at the deliveries to {object}',
    fr: '{who} a consulté les envois vers {object}',
    ar: 'اطّلع {who} على عمليات التسليم إلى {object}',
  },
  'webhooks.list': {
    en: '{who} looked at the webhook endpoints',
    fr: '{who} a consulté les webhooks',
    ar: 'اطّلع {who} على نقاط الاستقبال',
  },
} as const;
