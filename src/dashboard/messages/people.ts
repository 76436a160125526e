// The texts about people: signing in, invitations, the account, members.

import { sayFrom } from './say.ts';

export const peopleMessages = {
  sign_in: { en: 'Sign in', fr: 'Se connecter', ar: 'تسجيل الدخول' },
  email: { en: 'E-mail address', fr: 'Adresse e-mail', ar: 'البريد الإلكتروني' },
  password: { en: 'Password', fr: 'Mot de passe', ar: 'كلمة المرور' },
  no_account: {
    en: 'You get an account by an invitation from an owner of your organization.',
    fr: 'Vous obtenez un compte par une invitation d’un propriétaire de votre organisation.',
    ar: 'تحصل على حساب بدعوة من مالك مؤسستك.',
  },
  lost_password: {
    en: 'Lost your password or your authenticator app? Ask whoever runs this service for a new link.',
    fr: 'Mot de passe ou application d’authentification perdus ? Demandez un nouveau lien à qui exploite ce service.',
    ar: 'هل فقدت كلمة المرور أو تطبيق المصادقة؟ اطلب رابطًا جديدًا ممن يشغّل هذه الخدمة.',
  },
  wrong_sign_in: {
    en: 'The e-mail address or the password is wrong.',
    fr: 'L’adresse e-mail ou le mot de passe est incorrect.',
    ar: 'البريد الإلكتروني أو كلمة المرور غير صحيحة.',
  },
  too_many_attempts: {
    en: 'Too many attempts. Try again in {minutes} minutes.',
    fr: 'Trop de tentatives. Réessayez dans {minutes} minutes.',
    ar: 'محاولات كثيرة جدًا. حاول مجددًا بعد {minutes} دقيقة.',
  },
  code_title: { en: 'Enter the code', fr: 'Saisissez le code', ar: 'أدخل الرمز' },
  code: { en: 'Code', fr: 'Code', ar: 'الرمز' },
  code_hint: {
    en: 'The six digits that your authenticator app shows now, or one of your recovery codes.',
    fr: 'Les six chiffres qu’affiche votre application d’authentification, ou un de vos codes de secours.',
    ar: 'الأرقام الستة التي يعرضها تطبيق المصادقة الآن، أو أحد رموز الاسترداد.',
  },
  wrong_code: {
    en: 'The code is wrong, or it was used already.',
    fr: 'Le code est incorrect, ou il a déjà été utilisé.',
    ar: 'الرمز غير صحيح أو سبق استخدامه.',
  },
  continue: { en: 'Continue', fr: 'Continuer', ar: 'متابعة' },
  confirm_title: { en: 'Confirm that it is you', fr: 'Confirmez que c’est vous', ar: 'أكّد هويتك' },
  confirm_text: {
    en: 'What follows shows or changes secrets. Enter your password again.',
    fr: 'La suite montre ou change des secrets. Saisissez à nouveau votre mot de passe.',
    ar: 'ما يلي يعرض أسرارًا أو يغيّرها. أدخل كلمة المرور مرة أخرى.',
  },
  confirm_without_password: {
    en: 'What follows shows or changes secrets. Choose a password for your account first.',
    fr: 'La suite montre ou change des secrets. Choisissez d’abord un mot de passe pour votre compte.',
    ar: 'ما يلي يعرض أسرارًا أو يغيّرها. اختر أولًا كلمة مرور لحسابك.',
  },
  wrong_password: {
    en: 'The password is wrong.',
    fr: 'Le mot de passe est incorrect.',
    ar: 'كلمة المرور غير صحيحة.',
  },
  link_missing_title: {
    en: 'This link works no more',
    fr: 'Ce lien n’est plus valable',
    ar: 'هذا الرابط لم يعد صالحًا',
  },
  link_missing: {
    en: 'A link works once, and for {days} days. Ask for a new one.',
    fr: 'Un lien sert une seule fois, pendant {days} jours. Demandez-en un autre.',
    ar: 'يعمل الرابط مرة واحدة ولمدة {days} أيام. اطلب رابطًا جديدًا.',
  },
  invitation_title: {
    en: 'Join {organization}',
    fr: 'Rejoindre {organization}',
    ar: 'الانضمام إلى {organization}',
  },
  invitation_text: {
    en: 'You were invited as {email}. Your role will be: {role}.',
    fr: 'Vous êtes invité en tant que {email}. Votre rôle sera : {role}.',
    ar: 'تمت دعوتك بصفة {email}. سيكون دورك: {role}.',
  },
  invitation_sign_in: {
    en: 'This address has an account. Sign in as {email} to join.',
    fr: 'Cette adresse a un compte. Connectez-vous en tant que {email} pour rejoindre.',
    ar: 'لهذا البريد حساب. سجّل الدخول بصفة {email} للانضمام.',
  },
  join: { en: 'Join', fr: 'Rejoindre', ar: 'انضم' },
  name: { en: 'Your name', fr: 'Votre nom', ar: 'اسمك' },
  new_password: { en: 'New password', fr: 'Nouveau mot de passe', ar: 'كلمة مرور جديدة' },
  password_hint: {
    en: 'At least {min} characters. Several words that don’t belong together are easy to remember and hard to guess.',
    fr: 'Au moins {min} caractères. Plusieurs mots sans rapport entre eux sont faciles à retenir et difficiles à deviner.',
    ar: '{min} حرفًا على الأقل. عدة كلمات لا علاقة بينها يسهل تذكرها ويصعب تخمينها.',
  },
  password_short: {
    en: 'The password is too short: it needs at least {min} characters.',
    fr: 'Le mot de passe est trop court : il faut au moins {min} caractères.',
    ar: 'كلمة المرور قصيرة: يلزم {min} حرفًا على الأقل.',
  },
  password_long: {
    en: 'The password is too long: at most {max} characters.',
    fr: 'Le mot de passe est trop long : {max} caractères au plus.',
    ar: 'كلمة المرور طويلة: {max} حرف على الأكثر.',
  },
  password_personal: {
    en: 'The password is mostly your name or e-mail address, which others know. Choose another.',
    fr: 'Le mot de passe reprend surtout votre nom ou votre adresse, que d’autres connaissent. Choisissez-en un autre.',
    ar: 'كلمة المرور مأخوذة من اسمك أو بريدك، وهما معروفان لغيرك. اختر غيرها.',
  },
  password_common: {
    en: 'The password is easy to guess, because many people use one like it. Choose another.',
    fr: 'Le mot de passe est facile à deviner, car beaucoup en utilisent un semblable. Choisissez-en un autre.',
    ar: 'كلمة المرور سهلة التخمين لأن كثيرين يستخدمون مثلها. اختر غيرها.',
  },
  name_invalid: {
    en: 'Enter a name of 1 to 100 characters.',
    fr: 'Saisissez un nom de 1 à 100 caractères.',
    ar: 'أدخل اسمًا من 1 إلى 100 حرف.',
  },
  reset_title: {
    en: 'Choose a new password',
    fr: 'Choisir un nouveau mot de passe',
    ar: 'اختر كلمة مرور جديدة',
  },
  reset_text: {
    en: 'For the account of {email}. An authenticator app of this account is forgotten, and its sessions end.',
    fr: 'Pour le compte de {email}. L’application d’authentification de ce compte est oubliée, et ses sessions se terminent.',
    ar: 'لحساب {email}. سيُنسى تطبيق المصادقة لهذا الحساب وتنتهي جلساته.',
  },
  link_sign_in_text: {
    en: 'Sign in as {email} with this link. It works once.',
    fr: 'Connectez-vous en tant que {email} avec ce lien. Il sert une seule fois.',
    ar: 'سجّل الدخول بصفة {email} بهذا الرابط. يعمل مرة واحدة.',
  },
  save: { en: 'Save', fr: 'Enregistrer', ar: 'حفظ' },
  no_organization_title: { en: 'No organization', fr: 'Aucune organisation', ar: 'لا مؤسسة' },
  no_organization: {
    en: 'Your account belongs to no organization. An owner can invite you.',
    fr: 'Votre compte n’appartient à aucune organisation. Un propriétaire peut vous inviter.',
    ar: 'حسابك لا ينتمي إلى أي مؤسسة. يمكن لمالك دعوتك.',
  },
} as const;

export const sayPeople = sayFrom(peopleMessages);
