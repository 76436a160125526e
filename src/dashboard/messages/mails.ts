// The texts about mails: those to a member, on the account page, and the one that confirms the
// address of a sign-up.

import { sayFrom } from './say.ts';

export const mailMessages = {
  notices: { en: 'Mails to you', fr: 'Courriels pour vous', ar: 'رسائل إليك' },
  notices_text: {
    en: 'A mail tells you when a live payment needs a review, when deliveries to an endpoint have failed for an hour, when live mode is activated, and when a request for a higher limit was answered: what your role may see, of each at most one an hour.',
    fr: 'Un courriel vous prévient quand un paiement réel est à vérifier, quand les livraisons à un point de terminaison échouent depuis une heure, quand le mode réel est activé et quand une demande de limite a reçu sa réponse : ce que votre rôle permet de voir, au plus un par heure pour chacun.',
    ar: 'تصلك رسالة عندما تحتاج دفعة حقيقية إلى مراجعة، وعندما يفشل التسليم إلى نقطة استقبال منذ ساعة، وعند تفعيل الوضع الحقيقي، وعند الرد على طلب حد أعلى: ما يسمح دورك برؤيته، رسالة واحدة على الأكثر في الساعة لكل نوع.',
  },
  notices_wanted: { en: 'Send me these mails', fr: 'M’envoyer ces courriels', ar: 'أرسلوا إليّ هذه الرسائل' },
  notices_language: { en: 'Language of the mails', fr: 'Langue des courriels', ar: 'لغة الرسائل' },
  mailed_title: { en: 'Look into your mailbox', fr: 'Consultez votre messagerie', ar: 'راجع بريدك' },
  mailed: {
    en: 'A mail is on its way to {email}. It says how to go on. If none comes within a few minutes, look among unwanted mails, and check the address; you can ask again tomorrow.',
    fr: 'Un courriel est en route vers {email}. Il dit comment continuer. S’il n’arrive pas en quelques minutes, regardez parmi les indésirables et vérifiez l’adresse ; vous pouvez redemander demain.',
    ar: 'رسالة في طريقها إلى {email}، وفيها كيف تتابع. إذا لم تصل خلال بضع دقائق، فابحث في الرسائل غير المرغوبة وتحقق من العنوان؛ يمكنك الطلب مجددًا غدًا.',
  },
  confirmed: {
    en: 'Your address {email} is confirmed once you choose a password here. Your shop: {organization}.',
    fr: 'Votre adresse {email} est confirmée dès que vous choisissez un mot de passe ici. Votre boutique : {organization}.',
    ar: 'يُؤكَّد بريدك {email} عندما تختار كلمة مرور هنا. متجرك: {organization}.',
  },
} as const;

export const sayMails = sayFrom(mailMessages);
