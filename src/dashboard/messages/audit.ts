// The audit log's sentences, by action. `{object}` is what the action made or changed. `other` is
// for an action of another version of the service, which is shown by its name.

import { seldomAuditMessages } from './audit-seldom.ts';
import { sayFrom } from './say.ts';

export const auditMessages = {
  ...seldomAuditMessages,
  not_done: { en: 'Not done: {sentence}', fr: 'Non effectué : {sentence}', ar: 'لم يتم: {sentence}' },
  other: { en: '{who}: {action}', fr: '{who} : {action}', ar: '{who}: {action}' },
  'api.create_payment_intent': {
    en: '{who} created the payment {object}',
    fr: '{who} a créé le paiement {object}',
    ar: 'أنشأ {who} الدفعة {object}',
  },
  'api.confirm_payment_intent': {
    en: '{who} started the payment {object}',
    fr: '{who} a lancé le paiement {object}',
    ar: 'بدأ {who} الدفعة {object}',
  },
  'api.cancel_payment_intent': {
    en: '{who} canceled the payment {object}',
    fr: '{who} a annulé le paiement {object}',
    ar: 'ألغى {who} الدفعة {object}',
  },
  'api.create_refund': {
    en: '{who} refunded {amount}: {object}',
    fr: '{who} a remboursé {amount} : {object}',
    ar: 'ردّ {who} مبلغ {amount}: {object}',
  },
  'api.create_checkout_session': {
    en: '{who} created the payment page {object}',
    fr: '{who} a créé la page de paiement {object}',
    ar: 'أنشأ {who} صفحة الدفع {object}',
  },
  'api.expire_checkout_session': {
    en: '{who} ended the payment page {object}',
    fr: '{who} a mis fin à la page de paiement {object}',
    ar: 'أنهى {who} صفحة الدفع {object}',
  },
  'api.create_customer': {
    en: '{who} added the customer {object}',
    fr: '{who} a ajouté le client {object}',
    ar: 'أضاف {who} العميل {object}',
  },
  'api.create_webhook_endpoint': {
    en: '{who} added the webhook endpoint {object}',
    fr: '{who} a ajouté le webhook {object}',
    ar: 'أضاف {who} نقطة الاستقبال {object}',
  },
  'api.update_webhook_endpoint': {
    en: '{who} changed the webhook endpoint {object}',
    fr: '{who} a modifié le webhook {object}',
    ar: 'عدّل {who} نقطة الاستقبال {object}',
  },
  'api.delete_webhook_endpoint': {
    en: '{who} deleted the webhook endpoint {object}',
    fr: '{who} a supprimé le webhook {object}',
    ar: 'حذف {who} نقطة الاستقبال {object}',
  },
  'webhooks.resend': {
    en: '{who} sent the delivery {object} again',
    fr: '{who} a renvoyé l’envoi {object}',
    ar: 'أعاد {who} إرسال التسليم {object}',
  },
  'webhooks.resend-failed': {
    en: '{who} sent the failed deliveries to {object} again',
    fr: '{who} a renvoyé les envois échoués vers {object}',
    ar: 'أعاد {who} إرسال عمليات التسليم الفاشلة إلى {object}',
  },
  'webhooks.sample': {
    en: '{who} sent a sample event to {object}',
    fr: '{who} a envoyé un événement d’exemple à {object}',
    ar: 'أرسل {who} حدثًا تجريبيًا إلى {object}',
  },
  'webhooks.show-secret': {
    en: '{who} looked at the signing secret of {object}',
    fr: '{who} a affiché le secret de signature de {object}',
    ar: 'اطّلع {who} على سر توقيع {object}',
  },
  'webhooks.roll-secret': {
    en: '{who} replaced the signing secret of {object}',
    fr: '{who} a remplacé le secret de signature de {object}',
    ar: 'استبدل {who} سر توقيع {object}',
  },
  'key.create': {
    en: '{who} created the API key {object}',
    fr: '{who} a créé la clé d’API {object}',
    ar: 'أنشأ {who} مفتاح API {object}',
  },
  'key.name': {
    en: '{who} named the API key {object}',
    fr: '{who} a nommé la clé d’API {object}',
    ar: 'سمّى {who} مفتاح API {object}',
  },
  'key.roll': {
    en: '{who} replaced the API key {object}',
    fr: '{who} a remplacé la clé d’API {object}',
    ar: 'استبدل {who} مفتاح API {object}',
  },
  'key.revoke': {
    en: '{who} revoked the API key {object}',
    fr: '{who} a révoqué la clé d’API {object}',
    ar: 'أبطل {who} مفتاح API {object}',
  },
  'limits.request': {
    en: '{who} asked for a higher limit: {object}',
    fr: '{who} a demandé une limite plus élevée : {object}',
    ar: 'طلب {who} حدًا أعلى: {object}',
  },
  'limits.approve': {
    en: '{who} approved a higher limit: {object}',
    fr: '{who} a accordé une limite plus élevée : {object}',
    ar: 'وافق {who} على حد أعلى: {object}',
  },
  'limits.deny': {
    en: '{who} denied a higher limit: {object}',
    fr: '{who} a refusé une limite plus élevée : {object}',
    ar: 'رفض {who} حدًا أعلى: {object}',
  },
  'limits.set': {
    en: '{who} set a limit',
    fr: '{who} a fixé une limite',
    ar: 'حدّد {who} حدًا',
  },
  'member.invite': {
    en: '{who} invited somebody: {object}',
    fr: '{who} a invité quelqu’un : {object}',
    ar: 'دعا {who} شخصًا: {object}',
  },
  'member.revoke-invitation': {
    en: '{who} withdrew an invitation: {object}',
    fr: '{who} a retiré une invitation : {object}',
    ar: 'سحب {who} دعوة: {object}',
  },
  'member.join': {
    en: '{who} joined',
    fr: '{who} a rejoint l’organisation',
    ar: 'انضم {who}',
  },
  'member.role': {
    en: '{who} changed the role of {object}',
    fr: '{who} a changé le rôle de {object}',
    ar: 'غيّر {who} دور {object}',
  },
  'member.remove': { en: '{who} removed {object}', fr: '{who} a retiré {object}', ar: 'أزال {who} {object}' },
  'member.end-sessions': {
    en: '{who} ended the sessions of {object}',
    fr: '{who} a fermé les sessions de {object}',
    ar: 'أنهى {who} جلسات {object}',
  },
  'member.sign-in': { en: '{who} signed in', fr: '{who} s’est connecté', ar: 'سجّل {who} الدخول' },
  'member.sign-out': { en: '{who} signed out', fr: '{who} s’est déconnecté', ar: 'سجّل {who} الخروج' },
  'network.set': {
    en: '{who} connected a payment network: {object}',
    fr: '{who} a connecté un réseau de paiement : {object}',
    ar: 'ربط {who} شبكة دفع: {object}',
  },
  'network.remove': {
    en: '{who} disconnected a payment network: {object}',
    fr: '{who} a déconnecté un réseau de paiement : {object}',
    ar: 'فصل {who} شبكة دفع: {object}',
  },
  'org.create': {
    en: '{who} made the organization {object}',
    fr: '{who} a créé l’organisation {object}',
    ar: 'أنشأ {who} المؤسسة {object}',
  },
  'member.sign-up': {
    en: '{who} made the organization {object}',
    fr: '{who} a créé l’organisation {object}',
    ar: 'أنشأ {who} المؤسسة {object}',
  },
  'org.settings': {
    en: '{who} changed the settings of the organization',
    fr: '{who} a modifié les paramètres de l’organisation',
    ar: 'عدّل {who} إعدادات المؤسسة',
  },
  'org.suspend': {
    en: '{who} suspended the organization',
    fr: '{who} a suspendu l’organisation',
    ar: 'أوقف {who} المؤسسة',
  },
  'org.reinstate': {
    en: '{who} reinstated the organization',
    fr: '{who} a rétabli l’organisation',
    ar: 'أعاد {who} تفعيل المؤسسة',
  },
  'payment_link.make': {
    en: '{who} made a payment link over {amount}',
    fr: '{who} a créé un lien de paiement de {amount}',
    ar: 'أنشأ {who} رابط دفع بمبلغ {amount}',
  },
  'payment_link.pause': {
    en: '{who} paused a payment link',
    fr: '{who} a mis en pause un lien de paiement',
    ar: 'أوقف {who} رابط دفع مؤقتًا',
  },
  'payment_link.resume': {
    en: '{who} opened a payment link again',
    fr: '{who} a réactivé un lien de paiement',
    ar: 'أعاد {who} تفعيل رابط دفع',
  },
  'payment_link.remove': {
    en: '{who} removed a payment link',
    fr: '{who} a supprimé un lien de paiement',
    ar: 'حذف {who} رابط دفع',
  },
  'review.close': {
    en: '{who} closed the review {object}',
    fr: '{who} a clos la vérification {object}',
    ar: 'أغلق {who} المراجعة {object}',
  },
} as const;

export const sayAudit = sayFrom(auditMessages);
