// The texts about people: signing in, invitations, the account, members.

import { sayFrom } from './say.ts';

export const peopleMessages = {
  sign_in: { en: 'Sign in', fr: 'Se connecter', ar: 'تسجيل الدخول' },
  check_address: {
    en: 'Before you type your password, check that the address of this page begins with',
    fr: 'Avant de saisir votre mot de passe, vérifiez que l’adresse de cette page commence par',
    ar: 'قبل كتابة كلمة المرور، تحقق من أن عنوان هذه الصفحة يبدأ بـ',
  },
  password: { en: 'Password', fr: 'Mot de passe', ar: 'كلمة المرور' },
  no_account: {
    en: 'You get an account by an invitation from an owner of your organization.',
    fr: 'Vous obtenez un compte par une invitation d’un propriétaire de votre organisation.',
    ar: 'تحصل على حساب بدعوة من مالك مؤسستك.',
  },
  no_account_yet: {
    en: 'No account yet?',
    fr: 'Pas encore de compte ?',
    ar: 'ليس لديك حساب بعد؟',
  },
  sign_up: { en: 'Create an account', fr: 'Créer un compte', ar: 'إنشاء حساب' },
  sign_up_text: {
    en: 'You get keys for test mode at once. Live payments start once your account is activated.',
    fr: 'Vous recevez aussitôt des clés pour le mode test. Les paiements réels commencent une fois votre compte activé.',
    ar: 'تحصل فورًا على مفاتيح وضع الاختبار. تبدأ المدفوعات الحقيقية بعد تفعيل حسابك.',
  },
  sign_up_name: { en: 'Name of your shop', fr: 'Nom de votre boutique', ar: 'اسم متجرك' },
  sign_up_name_invalid: {
    en: 'Enter the name of your shop: up to 100 characters, all of which are seen.',
    fr: 'Saisissez le nom de votre boutique : 100 caractères visibles au plus.',
    ar: 'أدخل اسم متجرك: 100 حرف ظاهر على الأكثر.',
  },
  sign_up_email_invalid: {
    en: 'Enter an e-mail address, such as name@example.ma.',
    fr: 'Saisissez une adresse e-mail, par exemple nom@example.ma.',
    ar: 'أدخل بريدًا إلكترونيًا مثل name@example.ma.',
  },
  sign_up_email_taken: {
    en: 'There is an account with this address already: sign in instead.',
    fr: 'Il existe déjà un compte avec cette adresse : connectez-vous.',
    ar: 'يوجد حساب بهذا البريد: سجّل الدخول بدلًا من ذلك.',
  },
  sign_up_later: {
    en: 'Too many accounts were created lately. Try again tomorrow.',
    fr: 'Trop de comptes ont été créés récemment. Réessayez demain.',
    ar: 'أُنشئت حسابات كثيرة مؤخرًا. حاول مجددًا غدًا.',
  },
  sign_up_has_account: {
    en: 'You have an account already?',
    fr: 'Vous avez déjà un compte ?',
    ar: 'لديك حساب؟',
  },
  sign_up_done_title: {
    en: '{organization}: all is ready',
    fr: '{organization} : tout est prêt',
    ar: '{organization}: كل شيء جاهز',
  },
  sign_up_keys_text: {
    en: 'Copy your keys now: they are shown this once. They work in test mode, where no money moves. You can make others at any time.',
    fr: 'Copiez vos clés maintenant : elles ne sont montrées qu’une fois. Elles fonctionnent en mode test, où aucun argent ne circule. Vous pouvez en créer d’autres à tout moment.',
    ar: 'انسخ مفاتيحك الآن: تُعرض هذه المرة فقط. تعمل في وضع الاختبار حيث لا تتحرك أي أموال. يمكنك إنشاء غيرها في أي وقت.',
  },
  sign_up_secret_key: {
    en: 'Secret key, for your server alone',
    fr: 'Clé secrète, pour votre serveur uniquement',
    ar: 'المفتاح السري، لخادمك وحده',
  },
  sign_up_publishable_key: {
    en: 'Publishable key',
    fr: 'Clé publique',
    ar: 'المفتاح القابل للنشر',
  },
  sign_up_first_payment: {
    en: 'Your first payment',
    fr: 'Votre premier paiement',
    ar: 'دفعتك الأولى',
  },
  sign_up_first_payment_text: {
    en: 'Paste this into a terminal: it creates a payment of 120.00 dirhams.',
    fr: 'Collez ceci dans un terminal : un paiement de 120,00 dirhams est créé.',
    ar: 'الصق هذا في الطرفية: ينشئ دفعة بمبلغ 120.00 درهمًا.',
  },
  sign_up_to_dashboard: { en: 'Open the dashboard', fr: 'Ouvrir le tableau de bord', ar: 'فتح لوحة التحكم' },
  sign_up_to_docs: { en: 'Read the documentation', fr: 'Lire la documentation', ar: 'قراءة التوثيق' },
  lost_password: {
    en: 'Lost your password or your authenticator app? Whoever runs this service makes a new link for you with “payments member reset”.',
    fr: 'Mot de passe ou application d’authentification perdus ? Qui exploite ce service vous crée un nouveau lien avec « payments member reset ».',
    ar: 'هل فقدت كلمة المرور أو تطبيق المصادقة؟ ينشئ لك مشغّل هذه الخدمة رابطًا جديدًا بالأمر ‎“payments member reset”‎.',
  },
  wrong_sign_in: {
    en: 'The e-mail address or the password is wrong.',
    fr: 'L’adresse e-mail ou le mot de passe est incorrect.',
    ar: 'البريد الإلكتروني أو كلمة المرور غير صحيحة.',
  },
  too_many_attempts: {
    en: 'Too many attempts. Try again in {minutes}.',
    fr: 'Trop de tentatives. Réessayez dans {minutes}.',
    ar: 'محاولات كثيرة جدًا. حاول مجددًا بعد {minutes}.',
  },
  too_many_attempts_now: {
    en: 'Too many attempts. Try again in {seconds}.',
    fr: 'Trop de tentatives. Réessayez dans {seconds}.',
    ar: 'محاولات كثيرة جدًا. حاول مجددًا بعد {seconds}.',
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
    en: 'This link has expired or was used',
    fr: 'Ce lien n’est plus valable',
    ar: 'هذا الرابط لم يعد صالحًا',
  },
  link_missing: {
    en: 'A link works once: an invitation for {days}, a link to a new password for an hour. Ask for a new one.',
    fr: 'Un lien sert une seule fois : une invitation pendant {days}, un lien de nouveau mot de passe pendant une heure. Demandez-en un autre.',
    ar: 'يعمل الرابط مرة واحدة: الدعوة لمدة {days}، ورابط كلمة المرور الجديدة لمدة ساعة. اطلب رابطًا جديدًا.',
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
    en: 'No new account can be made for {email}. Sign in first if it is yours.',
    fr: 'Aucun nouveau compte ne peut être créé pour {email}. Connectez-vous d’abord si cette adresse est la vôtre.',
    ar: 'لا يمكن إنشاء حساب جديد للبريد {email}. سجّل الدخول أولًا إن كان بريدك.',
  },
  invitation_has_account: {
    en: 'If you have an account with this address, sign in first:',
    fr: 'Si vous avez déjà un compte avec cette adresse, connectez-vous d’abord :',
    ar: 'إن كان لديك حساب بهذا البريد فسجّل الدخول أولًا:',
  },
  mode: { en: 'Mode', fr: 'Mode', ar: 'الوضع' },
  known_keys: {
    en: 'Keys that this person may know',
    fr: 'Clés que cette personne peut connaître',
    ar: 'مفاتيح قد يعرفها هذا الشخص',
  },
  known_keys_text: {
    en: 'These keys work, and this person has made or may have seen them. Roll or revoke each of them, so that the old text stops working.',
    fr: 'Ces clés fonctionnent, et cette personne les a créées ou a pu les voir. Renouvelez ou révoquez-les toutes, pour que l’ancien texte ne fonctionne plus.',
    ar: 'هذه المفاتيح تعمل، وقد أنشأها هذا الشخص أو ربما رآها. جدّد كلًّا منها أو ألغِه حتى يتوقف النص القديم عن العمل.',
  },
  known_keys_none: {
    en: 'This person knows no key that still works.',
    fr: 'Cette personne ne connaît aucune clé encore valable.',
    ar: 'لا يعرف هذا الشخص أي مفتاح يعمل.',
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
    en: 'Enter a name of 1 to 100 characters, without invisible ones.',
    fr: 'Saisissez un nom de 1 à 100 caractères, sans caractère invisible.',
    ar: 'أدخل اسمًا من 1 إلى 100 حرف، دون أحرف غير مرئية.',
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
  no_organization_title: { en: 'No organization', fr: 'Aucune organisation', ar: 'لا مؤسسة' },
  no_organization: {
    en: 'Your account belongs to no organization. An owner can invite you.',
    fr: 'Votre compte n’appartient à aucune organisation. Un propriétaire peut vous inviter.',
    ar: 'حسابك لا ينتمي إلى أي مؤسسة. يمكن لمالك دعوتك.',
  },
  account_title: { en: 'Your account', fr: 'Votre compte', ar: 'حسابك' },
  you: { en: 'You', fr: 'Vous', ar: 'أنت' },
  current_password: { en: 'Current password', fr: 'Mot de passe actuel', ar: 'كلمة المرور الحالية' },
  name_saved: { en: 'The name was saved.', fr: 'Le nom est enregistré.', ar: 'حُفظ الاسم.' },
  password_saved: {
    en: 'The password was saved. You were signed out everywhere else.',
    fr: 'Le mot de passe est enregistré. Vous êtes déconnecté partout ailleurs.',
    ar: 'حُفظت كلمة المرور. سُجّل خروجك من كل مكان آخر.',
  },
  two_step: { en: 'Two-step sign-in', fr: 'Connexion en deux étapes', ar: 'الدخول بخطوتين' },
  notices_saved: { en: 'Your choice was saved.', fr: 'Votre choix est enregistré.', ar: 'حُفظ اختيارك.' },
  two_step_text: {
    en: 'With an authenticator app, a stolen password alone opens nothing.',
    fr: 'Avec une application d’authentification, un mot de passe volé ne suffit plus.',
    ar: 'مع تطبيق مصادقة، لا تكفي كلمة مرور مسروقة وحدها.',
  },
  two_step_is_on: { en: 'On', fr: 'Activée', ar: 'مفعّل' },
  two_step_is_off: { en: 'Off', fr: 'Désactivée', ar: 'غير مفعّل' },
  two_step_turn_on: {
    en: 'Turn on two-step sign-in',
    fr: 'Activer la connexion en deux étapes',
    ar: 'فعّل الدخول بخطوتين',
  },
  two_step_turn_off: {
    en: 'Turn off two-step sign-in',
    fr: 'Désactiver la connexion en deux étapes',
    ar: 'عطّل الدخول بخطوتين',
  },
  two_step_off: {
    en: 'Two-step sign-in is off.',
    fr: 'La connexion en deux étapes est désactivée.',
    ar: 'عُطّل الدخول بخطوتين.',
  },
  two_step_scan: {
    en: 'Scan this with your authenticator app, or type the secret into it. Then enter the code that the app shows.',
    fr: 'Scannez ceci avec votre application d’authentification, ou saisissez-y le secret. Saisissez ensuite le code qu’elle affiche.',
    ar: 'امسح هذا بتطبيق المصادقة أو اكتب السر فيه، ثم أدخل الرمز الذي يعرضه التطبيق.',
  },
  two_step_qr: {
    en: 'QR code of the secret below',
    fr: 'QR code du secret ci-dessous',
    ar: 'رمز QR للسر أدناه',
  },
  recovery_codes: { en: 'Recovery codes', fr: 'Codes de secours', ar: 'رموز الاسترداد' },
  recovery_codes_text: {
    en: 'Keep these codes where you find them without your phone. Each signs you in once when the app is lost. They are shown this once.',
    fr: 'Gardez ces codes là où vous les trouverez sans votre téléphone. Chacun sert une fois si l’application est perdue. Ils ne sont affichés qu’une fois.',
    ar: 'احفظ هذه الرموز حيث تجدها دون هاتفك. يعمل كل رمز مرة واحدة إذا فُقد التطبيق. لن تُعرض مرة أخرى.',
  },
  recovery_codes_left: {
    en: 'Recovery codes left: {count}.',
    fr: 'Codes de secours restants : {count}.',
    ar: 'رموز الاسترداد المتبقية: {count}.',
  },
  recovery_codes_new: {
    en: 'Make new recovery codes',
    fr: 'Créer de nouveaux codes de secours',
    ar: 'أنشئ رموز استرداد جديدة',
  },
  sessions: { en: 'Sessions', fr: 'Sessions', ar: 'الجلسات' },
  sessions_open: {
    en: 'Open sessions: {count}.',
    fr: 'Sessions ouvertes : {count}.',
    ar: 'الجلسات المفتوحة: {count}.',
  },
  session_opened: { en: 'Opened', fr: 'Ouverte', ar: 'فُتحت' },
  session_used: { en: 'Last used', fr: 'Dernière utilisation', ar: 'آخر استخدام' },
  session_from: { en: 'From', fr: 'Depuis', ar: 'من' },
  session_this: { en: 'This one', fr: 'Celle-ci', ar: 'هذه' },
  session_end: { en: 'Sign out', fr: 'Déconnecter', ar: 'تسجيل الخروج' },
  sessions_end_others: {
    en: 'Sign out everywhere else',
    fr: 'Se déconnecter partout ailleurs',
    ar: 'سجّل الخروج من كل مكان آخر',
  },
  sessions_ended: {
    en: 'The sessions have ended.',
    fr: 'Les sessions sont terminées.',
    ar: 'انتهت الجلسات.',
  },
  person: { en: 'Name', fr: 'Nom', ar: 'الاسم' },
  role: { en: 'Role', fr: 'Rôle', ar: 'الدور' },
  role_owner: {
    en: 'Everything, with members, settings and the audit log.',
    fr: 'Tout, y compris les membres, les paramètres et le journal d’audit.',
    ar: 'كل شيء، بما في ذلك الأعضاء والإعدادات وسجل التدقيق.',
  },
  role_developer: {
    en: 'Sees and makes payments; keys, webhooks, events, request logs and limits.',
    fr: 'Voit et crée des paiements ; clés, webhooks, événements, journal des requêtes et limites.',
    ar: 'يرى المدفوعات وينشئها؛ المفاتيح وإشعارات الويب والأحداث وسجل الطلبات والحدود.',
  },
  role_support: {
    en: 'Sees and makes payments, pays back, closes reviews.',
    fr: 'Voit et crée des paiements, rembourse, clôt les vérifications.',
    ar: 'يرى المدفوعات وينشئها، ويردّ الأموال، ويغلق المراجعات.',
  },
  role_viewer: {
    en: 'Sees payments and changes nothing.',
    fr: 'Voit les paiements et ne change rien.',
    ar: 'يرى المدفوعات ولا يغيّر شيئًا.',
  },
  role_saved: { en: 'The role was saved.', fr: 'Le rôle est enregistré.', ar: 'حُفظ الدور.' },
  invite: { en: 'Invite somebody', fr: 'Inviter quelqu’un', ar: 'دعوة شخص' },
  invitations: { en: 'Open invitations', fr: 'Invitations en attente', ar: 'الدعوات المفتوحة' },
  invitation_made: { en: 'The invitation is ready', fr: 'L’invitation est prête', ar: 'الدعوة جاهزة' },
  invitation_give: {
    en: 'Give this link to {email} alone. It works once and is shown this once.',
    fr: 'Donnez ce lien à {email} uniquement. Il sert une fois et n’est affiché qu’une fois.',
    ar: 'أعطِ هذا الرابط إلى {email} فقط. يعمل مرة واحدة ولن يُعرض مرة أخرى.',
  },
  invitation_mailed: {
    en: 'We are sending it by e-mail, too.',
    fr: 'Nous l’envoyons aussi par e-mail.',
    ar: 'نرسله أيضًا عبر البريد الإلكتروني.',
  },
  invitation_until: { en: 'Works until', fr: 'Valable jusqu’au', ar: 'صالح حتى' },
  invitation_revoke: { en: 'Take back', fr: 'Retirer', ar: 'سحب' },
  invitation_revoked: {
    en: 'The invitation was taken back.',
    fr: 'L’invitation est retirée.',
    ar: 'سُحبت الدعوة.',
  },
  member_remove: {
    en: 'Remove from the organization',
    fr: 'Retirer de l’organisation',
    ar: 'إزالة من المؤسسة',
  },
  member_remove_text: {
    en: 'This person can no longer see anything of the organization.',
    fr: 'Cette personne ne verra plus rien de l’organisation.',
    ar: 'لن يرى هذا الشخص شيئًا من المؤسسة بعد الآن.',
  },
  member_removed: { en: 'The member was removed.', fr: 'Le membre est retiré.', ar: 'أُزيل العضو.' },
  member_exists: {
    en: 'This address belongs to a member already.',
    fr: 'Cette adresse appartient déjà à un membre.',
    ar: 'هذا البريد لعضو موجود بالفعل.',
  },
  member_missing: { en: 'There is no such member.', fr: 'Ce membre n’existe pas.', ar: 'لا يوجد هذا العضو.' },
  last_owner: {
    en: 'This is the last owner: make somebody else an owner first.',
    fr: 'C’est le dernier propriétaire : nommez d’abord un autre propriétaire.',
    ar: 'هذا آخر مالك: عيّن مالكًا آخر أولًا.',
  },
  email_invalid: {
    en: 'Enter an e-mail address such as name@example.ma.',
    fr: 'Saisissez une adresse e-mail, par exemple nom@exemple.ma.',
    ar: 'أدخل بريدًا إلكترونيًا مثل name@example.ma.',
  },
  too_many_links: {
    en: 'There are too many open invitations. Take some back first.',
    fr: 'Il y a trop d’invitations en attente. Retirez-en d’abord.',
    ar: 'الدعوات المفتوحة كثيرة جدًا. اسحب بعضها أولًا.',
  },
} as const;

export const sayPeople = sayFrom(peopleMessages);

export type PeopleMessage = Parameters<ReturnType<typeof sayPeople>>[0];
