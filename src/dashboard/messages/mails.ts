// The texts about mails: those to a member, on the account page, and the one that confirms the
// address of a sign-up.

import { sayFrom, texts } from './say.ts';

export const mailMessages = texts({
  notices: 'Mails to you | E-mails pour vous | رسائل إليك',
  notices_text: `A mail tells you when a live payment needs a review, when deliveries to an endpoint have failed for an hour, when live mode is activated, and when a request for a higher limit was answered: what your role may see, of each at most one an hour.
    Un e-mail vous prévient quand un paiement réel est à vérifier, quand les livraisons à un point de terminaison échouent depuis une heure, quand le mode production est activé et quand une demande de limite a reçu sa réponse : ce que votre rôle permet de voir, au plus un par heure pour chacun.
    تصلك رسالة عندما تحتاج دفعة حقيقية إلى مراجعة، وعندما يفشل التسليم إلى نقطة استقبال منذ ساعة، وعند تفعيل الوضع الحقيقي، وعند الرد على طلب حد أعلى: ما يسمح دورك برؤيته، رسالة واحدة على الأكثر في الساعة لكل نوع.`,
  notices_wanted: 'Send me these mails | M’envoyer ces e-mails | أرسلوا إليّ هذه الرسائل',
  notices_language: 'Language of the mails | Langue des e-mails | لغة الرسائل',
  mailed_title: 'Check your mailbox | Consultez votre messagerie | راجع بريدك',
  mailed: `A mail is on its way to {email}. It tells you how to continue. If none comes within a few minutes, look in your spam folder, and check the address; you can ask again tomorrow.
    Un e-mail est en route vers {email}. Il dit comment continuer. S’il n’arrive pas en quelques minutes, regardez parmi les indésirables et vérifiez l’adresse ; vous pouvez redemander demain.
    رسالة في طريقها إلى {email}، وفيها كيف تتابع. إذا لم تصل خلال بضع دقائق، فابحث في الرسائل غير المرغوبة وتحقق من العنوان؛ يمكنك الطلب مجددًا غدًا.`,
  confirmed: `Your address {email} is confirmed once you choose a password here. Your shop: {organization}.
    Votre adresse {email} est confirmée dès que vous choisissez un mot de passe ici. Votre boutique : {organization}.
    يُؤكَّد بريدك {email} عندما تختار كلمة مرور هنا. متجرك: {organization}.`,
});

export const sayMails = sayFrom(mailMessages);
