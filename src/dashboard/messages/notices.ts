// The texts of the account page about mails to its member.

import { sayFrom } from './say.ts';

export const noticeMessages = {
  notices: { en: 'Mails to you', fr: 'Courriels pour vous', ar: 'رسائل إليك' },
  notices_text: {
    en: 'A mail tells you when a live payment needs a review, when deliveries to an endpoint have failed for an hour, when live mode is activated, and when a request for a higher limit was answered: what your role may see, of each at most one an hour.',
    fr: 'Un courriel vous prévient quand un paiement réel est à vérifier, quand les livraisons à un point de terminaison échouent depuis une heure, quand le mode réel est activé et quand une demande de limite a reçu sa réponse : ce que votre rôle permet de voir, au plus un par heure pour chacun.',
    ar: 'تصلك رسالة عندما تحتاج دفعة حقيقية إلى مراجعة، وعندما يفشل التسليم إلى نقطة استقبال منذ ساعة، وعند تفعيل الوضع الحقيقي، وعند الرد على طلب حد أعلى: ما يسمح دورك برؤيته، رسالة واحدة على الأكثر في الساعة لكل نوع.',
  },
  notices_wanted: { en: 'Send me these mails', fr: 'M’envoyer ces courriels', ar: 'أرسلوا إليّ هذه الرسائل' },
  notices_language: { en: 'Language of the mails', fr: 'Langue des courriels', ar: 'لغة الرسائل' },
} as const;

export const sayNotices = sayFrom(noticeMessages);
