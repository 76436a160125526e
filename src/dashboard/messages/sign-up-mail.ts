// The texts about the link that confirms the address of a sign-up.

import { sayFrom } from './say.ts';

export const signUpMailMessages = {
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

export const saySignUpMail = sayFrom(signUpMailMessages);
