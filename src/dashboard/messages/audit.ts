// The audit log's sentences, by action. `{object}` is what the action made or changed. `other` is
// for an action of another version of the service, which is shown by its name.

import { sayFrom, texts } from './say.ts';

export const auditMessages = texts({
  not_done: 'Not done: {sentence} | Non effectué : {sentence} | لم يتم: {sentence}',
  other: '{who}: {action} | {who} : {action} | {who}: {action}',
  'api.create_payment_intent': `{who} created the payment {object}
    {who} a créé le paiement {object}
    أنشأ {who} الدفعة {object}`,
  'api.confirm_payment_intent': `{who} started the payment {object}
    {who} a lancé le paiement {object}
    بدأ {who} الدفعة {object}`,
  'api.cancel_payment_intent': `{who} canceled the payment {object}
    {who} a annulé le paiement {object}
    ألغى {who} الدفعة {object}`,
  'api.create_refund': `{who} refunded {amount}: {object}
    {who} a remboursé {amount} : {object}
    ردّ {who} مبلغ {amount}: {object}`,
  'api.create_checkout_session': `{who} created the payment page {object}
    {who} a créé la page de paiement {object}
    أنشأ {who} صفحة الدفع {object}`,
  'api.expire_checkout_session': `{who} ended the payment page {object}
    {who} a mis fin à la page de paiement {object}
    أنهى {who} صفحة الدفع {object}`,
  'api.create_customer': `{who} added the customer {object}
    {who} a ajouté le client {object}
    أضاف {who} العميل {object}`,
  'api.create_webhook_endpoint': `{who} added the webhook endpoint {object}
    {who} a ajouté le webhook {object}
    أضاف {who} نقطة الاستقبال {object}`,
  'api.update_webhook_endpoint': `{who} changed the webhook endpoint {object}
    {who} a modifié le webhook {object}
    عدّل {who} نقطة الاستقبال {object}`,
  'api.delete_webhook_endpoint': `{who} deleted the webhook endpoint {object}
    {who} a supprimé le webhook {object}
    حذف {who} نقطة الاستقبال {object}`,
  'webhooks.resend': `{who} sent the delivery {object} again
    {who} a renvoyé l’envoi {object}
    أعاد {who} إرسال التسليم {object}`,
  'webhooks.resend-failed': `{who} sent the failed deliveries to {object} again
    {who} a renvoyé les envois échoués vers {object}
    أعاد {who} إرسال عمليات التسليم الفاشلة إلى {object}`,
  'webhooks.sample': `{who} sent a sample event to {object}
    {who} a envoyé un événement d’exemple à {object}
    أرسل {who} حدثًا تجريبيًا إلى {object}`,
  'webhooks.show-secret': `{who} looked at the signing secret of {object}
    {who} a affiché le secret de signature de {object}
    اطّلع {who} على سر توقيع {object}`,
  'webhooks.roll-secret': `{who} replaced the signing secret of {object}
    {who} a remplacé le secret de signature de {object}
    استبدل {who} سر توقيع {object}`,
  'key.create': `{who} created the API key {object}
    {who} a créé la clé d’API {object}
    أنشأ {who} مفتاح API {object}`,
  'key.name': `{who} named the API key {object}
    {who} a nommé la clé d’API {object}
    سمّى {who} مفتاح API {object}`,
  'key.roll': `{who} replaced the API key {object}
    {who} a remplacé la clé d’API {object}
    استبدل {who} مفتاح API {object}`,
  'key.revoke': `{who} revoked the API key {object}
    {who} a révoqué la clé d’API {object}
    أبطل {who} مفتاح API {object}`,
  'limits.request': `{who} asked for a higher limit: {object}
    {who} a demandé une limite plus élevée : {object}
    طلب {who} حدًا أعلى: {object}`,
  'limits.approve': `{who} approved a higher limit: {object}
    {who} a accordé une limite plus élevée : {object}
    وافق {who} على حد أعلى: {object}`,
  'limits.deny': `{who} denied a higher limit: {object}
    {who} a refusé une limite plus élevée : {object}
    رفض {who} حدًا أعلى: {object}`,
  'limits.set': '{who} set a limit | {who} a fixé une limite | حدّد {who} حدًا',
  'member.invite': `{who} invited somebody: {object}
    {who} a invité quelqu’un : {object}
    دعا {who} شخصًا: {object}`,
  'member.revoke-invitation': `{who} withdrew an invitation: {object}
    {who} a retiré une invitation : {object}
    سحب {who} دعوة: {object}`,
  'member.join': '{who} joined | {who} a rejoint l’organisation | انضم {who}',
  'member.role': `{who} changed the role of {object}
    {who} a changé le rôle de {object}
    غيّر {who} دور {object}`,
  'member.remove': '{who} removed {object} | {who} a retiré {object} | أزال {who} {object}',
  'member.end-sessions': `{who} ended the sessions of {object}
    {who} a fermé les sessions de {object}
    أنهى {who} جلسات {object}`,
  'member.sign-in': '{who} signed in | {who} s’est connecté | سجّل {who} الدخول',
  'member.sign-out': '{who} signed out | {who} s’est déconnecté | سجّل {who} الخروج',
  'network.set': `{who} connected a payment network: {object}
    {who} a connecté un réseau de paiement : {object}
    ربط {who} شبكة دفع: {object}`,
  'network.remove': `{who} disconnected a payment network: {object}
    {who} a déconnecté un réseau de paiement : {object}
    فصل {who} شبكة دفع: {object}`,
  'network.settle': `{who} settled what a payment network could not tell the outcome of: {object}
    {who} a réglé ce dont un réseau de paiement ne savait pas l’issue : {object}
    حسم {who} ما لم تعرف شبكة الدفع نتيجته: {object}`,
  'org.create': `{who} made the organization {object}
    {who} a créé l’organisation {object}
    أنشأ {who} المؤسسة {object}`,
  'member.sign-up': `{who} made the organization {object}
    {who} a créé l’organisation {object}
    أنشأ {who} المؤسسة {object}`,
  'org.settings': `{who} changed the settings of the organization
    {who} a modifié les paramètres de l’organisation
    عدّل {who} إعدادات المؤسسة`,
  'org.suspend': '{who} suspended the organization | {who} a suspendu l’organisation | أوقف {who} المؤسسة',
  'org.reinstate': `{who} reinstated the organization
    {who} a rétabli l’organisation
    أعاد {who} تفعيل المؤسسة`,
  'payment_link.make': `{who} made a payment link over {amount}
    {who} a créé un lien de paiement de {amount}
    أنشأ {who} رابط دفع بمبلغ {amount}`,
  'payment_link.pause': `{who} paused a payment link
    {who} a mis en pause un lien de paiement
    أوقف {who} رابط دفع مؤقتًا`,
  'payment_link.resume': `{who} opened a payment link again
    {who} a réactivé un lien de paiement
    أعاد {who} تفعيل رابط دفع`,
  'payment_link.remove': `{who} removed a payment link
    {who} a supprimé un lien de paiement
    حذف {who} رابط دفع`,
  'review.close': `{who} closed the review {object}
    {who} a clos la vérification {object}
    أغلق {who} المراجعة {object}`,

  // What is done seldom or by operators: looking at things, changing limits, the service as a
  // whole, a member's own account, and the helpers of test mode.
  'api.complete_charge': `{who} let the attempt {object} succeed, in test mode
    {who} a fait réussir la tentative {object}, en mode test
    أنجح {who} المحاولة {object} في وضع الاختبار`,
  'api.delete_customer': `{who} deleted the customer {object}
    {who} a supprimé le client {object}
    حذف {who} العميل {object}`,
  'api.expire_charge': `{who} let the attempt {object} run out of time, in test mode
    {who} a fait expirer la tentative {object}, en mode test
    أنهى {who} مهلة المحاولة {object} في وضع الاختبار`,
  'api.fail_charge': `{who} let the attempt {object} fail, in test mode
    {who} a fait échouer la tentative {object}, en mode test
    أفشل {who} المحاولة {object} في وضع الاختبار`,
  'api.fail_refund': `{who} let the refund {object} fail, in test mode
    {who} a fait échouer le remboursement {object}, en mode test
    أفشل {who} الاسترداد {object} في وضع الاختبار`,
  'api.pay_cash': `{who} paid a cash code, in test mode
    {who} a payé un code en espèces, en mode test
    دفع {who} رمزًا نقديًا في وضع الاختبار`,
  'api.succeed_refund': `{who} let the refund {object} succeed, in test mode
    {who} a fait réussir le remboursement {object}, en mode test
    أنجح {who} الاسترداد {object} في وضع الاختبار`,
  'api.update_customer': `{who} changed the customer {object}
    {who} a modifié le client {object}
    عدّل {who} العميل {object}`,
  'api.update_payment_intent': `{who} changed the payment {object}
    {who} a modifié le paiement {object}
    عدّل {who} الدفعة {object}`,
  backup: `{who} made a backup of the service
    {who} a sauvegardé le service
    أخذ {who} نسخة احتياطية من الخدمة`,
  compact: `{who} released unused disk space
    {who} a libéré l’espace disque inutilisé
    حرّر {who} مساحة القرص غير المستعملة`,
  'events.follow': '{who} followed the events | {who} a suivi les événements | تابع {who} الأحداث',
  'key.list': '{who} looked at the API keys | {who} a consulté les clés d’API | اطّلع {who} على مفاتيح API',
  'limits.daily': `{who} set the daily limits of requests
    {who} a fixé les limites quotidiennes de requêtes
    حدّد {who} الحدود اليومية للطلبات`,
  'limits.requests': `{who} looked at the requests for higher limits
    {who} a consulté les demandes de limites plus élevées
    اطّلع {who} على طلبات رفع الحدود`,
  'limits.reset': `{who} reset all limits to the defaults
    {who} a rétabli les limites habituelles
    أعاد {who} الحدود المعتادة`,
  'limits.show': '{who} looked at the limits | {who} a consulté les limites | اطّلع {who} على الحدود',
  'member.change-password': `{who} chose a new password
    {who} a choisi un nouveau mot de passe
    اختار {who} كلمة مرور جديدة`,
  'member.invitations': `{who} looked at the invitations
    {who} a consulté les invitations
    اطّلع {who} على الدعوات`,
  'member.list': '{who} looked at the members | {who} a consulté les membres | اطّلع {who} على الأعضاء',
  'member.notices': `{who} chose which mails to get
    {who} a choisi les e-mails à recevoir
    اختار {who} الرسائل التي تصله`,
  'member.recovery-codes': `{who} made new recovery codes
    {who} a créé de nouveaux codes de secours
    أنشأ {who} رموز استرداد جديدة`,
  'member.rename': '{who} changed their name | {who} a changé de nom | غيّر {who} اسمه',
  'member.reset': `{who} made a link with which {object} can set a new password
    {who} a créé un lien pour que {object} choisisse un nouveau mot de passe
    أنشأ {who} رابطًا ليختار {object} كلمة مرور جديدة`,
  'member.reset-password': `{who} set a new password with a link
    {who} a défini un nouveau mot de passe par un lien
    عيّن {who} كلمة مرور جديدة عبر رابط`,
  'member.two-step-off': `{who} switched the second step off
    {who} a désactivé la deuxième étape
    أوقف {who} الخطوة الثانية`,
  'member.two-step-on': `{who} switched the second step on
    {who} a activé la deuxième étape
    فعّل {who} الخطوة الثانية`,
  'network.check': `{who} checked the payment networks
    {who} a vérifié les réseaux de paiement
    تحقّق {who} من شبكات الدفع`,
  'network.show': `{who} looked at the payment networks
    {who} a consulté les réseaux de paiement
    اطّلع {who} على شبكات الدفع`,
  'org.activate': '{who} activated live mode | {who} a activé le mode production | فعّل {who} الوضع الحقيقي',
  'org.close': '{who} closed the organization | {who} a fermé l’organisation | أغلق {who} المؤسسة',
  'org.list': `{who} looked at the organizations
    {who} a consulté les organisations
    اطّلع {who} على المؤسسات`,
  'org.methods': `{who} changed the payment methods
    {who} a modifié les moyens de paiement
    عدّل {who} طرق الدفع`,
  'org.show': '{who} looked at the organization | {who} a consulté l’organisation | اطّلع {who} على المؤسسة',
  'reconcile.review': `{who} opened a review after comparing a statement
    {who} a ouvert une vérification après la comparaison d’un relevé
    فتح {who} مراجعة بعد مقارنة كشف`,
  'reconcile.settled': `{who} read what was settled, to compare it with a statement
    {who} a lu ce qui a été réglé, pour le comparer à un relevé
    قرأ {who} ما تمت تسويته لمقارنته بكشف`,
  resume: `{who} ended the pause of the service
    {who} a mis fin à la pause du service
    أنهى {who} توقف الخدمة`,
  'review.list': `{who} looked at the reviews
    {who} a consulté les vérifications
    اطّلع {who} على المراجعات`,
  trigger: `{who} triggered a test event
    {who} a déclenché un événement de test
    أحدث {who} حدثًا للاختبار`,
  'webhooks.attempts': `{who} looked at the attempts of the delivery {object}
    {who} a consulté les tentatives de l’envoi {object}
    اطّلع {who} على محاولات التسليم {object}`,
  'webhooks.deliveries': `{who} looked at the deliveries to {object}
    {who} a consulté les envois vers {object}
    اطّلع {who} على عمليات التسليم إلى {object}`,
  'webhooks.list': `{who} looked at the webhook endpoints
    {who} a consulté les webhooks
    اطّلع {who} على نقاط الاستقبال`,
});

export const sayAudit = sayFrom(auditMessages);
