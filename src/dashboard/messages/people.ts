// The texts about people: signing in, invitations, the account, members.

import { sayFrom, texts } from './say.ts';

export const peopleMessages = texts({
  sign_in: 'Sign in | Se connecter | تسجيل الدخول',
  check_address: `Before you type your password, check that the address of this page begins with
    Avant de saisir votre mot de passe, vérifiez que l’adresse de cette page commence par
    قبل كتابة كلمة المرور، تحقق من أن عنوان هذه الصفحة يبدأ بـ`,
  password: 'Password | Mot de passe | كلمة المرور',
  no_account: `You get an account by an invitation from an owner of your organization.
    Vous obtenez un compte par une invitation d’un propriétaire de votre organisation.
    تحصل على حساب بدعوة من مالك مؤسستك.`,
  no_account_yet: 'No account yet? | Pas encore de compte ? | ليس لديك حساب بعد؟',
  sign_up: 'Create an account | Créer un compte | إنشاء حساب',
  sign_up_text: `You get keys for test mode at once. Live payments start once your account is activated.
    Vous recevez aussitôt des clés pour le mode test. Les paiements réels commencent une fois votre compte activé.
    تحصل فورًا على مفاتيح وضع الاختبار. تبدأ المدفوعات الحقيقية بعد تفعيل حسابك.`,
  sign_up_name: 'Name of your shop | Nom de votre boutique | اسم متجرك',
  sign_up_name_invalid: `Enter the name of your shop: up to 100 visible characters.
    Saisissez le nom de votre boutique : 100 caractères visibles au plus.
    أدخل اسم متجرك: 100 حرف ظاهر على الأكثر.`,
  sign_up_email_invalid: `Enter an e-mail address, such as name@example.ma.
    Saisissez une adresse e-mail, par exemple nom@example.ma.
    أدخل بريدًا إلكترونيًا مثل name@example.ma.`,
  sign_up_email_taken: `There is an account with this address already: sign in instead.
    Il existe déjà un compte avec cette adresse : connectez-vous.
    يوجد حساب بهذا البريد: سجّل الدخول بدلًا من ذلك.`,
  sign_up_later: `Too many accounts were created lately. Try again tomorrow.
    Trop de comptes ont été créés récemment. Réessayez demain.
    أُنشئت حسابات كثيرة مؤخرًا. حاول مجددًا غدًا.`,
  sign_up_has_account: 'Do you have an account already? | Vous avez déjà un compte ? | لديك حساب؟',
  sign_up_done_title: `{organization}: all is ready
    {organization} : tout est prêt
    {organization}: كل شيء جاهز`,
  sign_up_keys_text: `Copy your keys now: they are shown this once. They work in test mode, where no money moves. You can make others at any time.
    Copiez vos clés maintenant : elles ne sont montrées qu’une fois. Elles fonctionnent en mode test, où aucun argent ne circule. Vous pouvez en créer d’autres à tout moment.
    انسخ مفاتيحك الآن: تُعرض هذه المرة فقط. تعمل في وضع الاختبار حيث لا تتحرك أي أموال. يمكنك إنشاء غيرها في أي وقت.`,
  sign_up_secret_key: `Secret key, for your server alone
    Clé secrète, pour votre serveur uniquement
    المفتاح السري، لخادمك وحده`,
  sign_up_publishable_key: 'Publishable key | Clé publiable | المفتاح القابل للنشر',
  sign_up_first_payment: 'Your first payment | Votre premier paiement | دفعتك الأولى',
  sign_up_first_payment_text: `Paste this into a terminal: it creates a payment of {amount}.
    Collez ceci dans un terminal : un paiement de {amount} est créé.
    الصق هذا في الطرفية: ينشئ دفعة بمبلغ {amount}.`,
  sign_up_to_dashboard: 'Open the dashboard | Ouvrir le tableau de bord | فتح لوحة التحكم',
  sign_up_to_docs: 'Read the documentation | Lire la documentation | قراءة التوثيق',
  lost_password: `Lost your password or your authenticator app? Whoever runs this service makes a new link for you with “payments member reset”.
    Mot de passe ou application d’authentification perdus ? Qui exploite ce service vous crée un nouveau lien avec « payments member reset ».
    هل فقدت كلمة المرور أو تطبيق المصادقة؟ ينشئ لك مشغّل هذه الخدمة رابطًا جديدًا بالأمر ‎“payments member reset”‎.`,
  wrong_sign_in: `The e-mail address or the password is wrong.
    L’adresse e-mail ou le mot de passe est incorrect.
    البريد الإلكتروني أو كلمة المرور غير صحيحة.`,
  too_many_attempts: `Too many attempts. Try again in {minutes}.
    Trop de tentatives. Réessayez dans {minutes}.
    محاولات كثيرة جدًا. حاول مجددًا بعد {minutes}.`,
  too_many_attempts_now: `Too many attempts. Try again in {seconds}.
    Trop de tentatives. Réessayez dans {seconds}.
    محاولات كثيرة جدًا. حاول مجددًا بعد {seconds}.`,
  code_title: 'Enter the code | Saisissez le code | أدخل الرمز',
  code: 'Code | Code | الرمز',
  code_hint: `The six digits that your authenticator app shows now, or one of your recovery codes.
    Les six chiffres qu’affiche votre application d’authentification, ou un de vos codes de secours.
    الأرقام الستة التي يعرضها تطبيق المصادقة الآن، أو أحد رموز الاسترداد.`,
  wrong_code: `The code is wrong, or it was used already.
    Le code est incorrect, ou il a déjà été utilisé.
    الرمز غير صحيح أو سبق استخدامه.`,
  continue: 'Continue | Continuer | متابعة',
  confirm_title: 'Confirm that it is you | Confirmez que c’est vous | أكّد هويتك',
  confirm_text: `What follows shows or changes secrets. Enter your password again.
    La suite montre ou change des secrets. Saisissez à nouveau votre mot de passe.
    ما يلي يعرض أسرارًا أو يغيّرها. أدخل كلمة المرور مرة أخرى.`,
  confirm_without_password: `What follows shows or changes secrets. Choose a password for your account first.
    La suite montre ou change des secrets. Choisissez d’abord un mot de passe pour votre compte.
    ما يلي يعرض أسرارًا أو يغيّرها. اختر أولًا كلمة مرور لحسابك.`,
  wrong_password: 'The password is wrong. | Le mot de passe est incorrect. | كلمة المرور غير صحيحة.',
  link_missing_title: `This link has expired or was used
    Ce lien n’est plus valable
    هذا الرابط لم يعد صالحًا`,
  link_missing: `A link works once: an invitation for {days}, a link to a new password for an hour. Ask for a new one.
    Un lien sert une seule fois : une invitation pendant {days}, un lien de nouveau mot de passe pendant une heure. Demandez-en un autre.
    يعمل الرابط مرة واحدة: الدعوة لمدة {days}، ورابط كلمة المرور الجديدة لمدة ساعة. اطلب رابطًا جديدًا.`,
  invitation_title: 'Join {organization} | Rejoindre {organization} | الانضمام إلى {organization}',
  invitation_text: `You were invited as {email}. Your role will be: {role}.
    Vous êtes invité en tant que {email}. Votre rôle sera : {role}.
    تمت دعوتك بصفة {email}. سيكون دورك: {role}.`,
  invitation_sign_in: `No new account can be made for {email}. Sign in first if it is yours.
    Aucun nouveau compte ne peut être créé pour {email}. Connectez-vous d’abord si cette adresse est la vôtre.
    لا يمكن إنشاء حساب جديد للبريد {email}. سجّل الدخول أولًا إن كان بريدك.`,
  invitation_has_account: `If you have an account with this address, sign in first:
    Si vous avez déjà un compte avec cette adresse, connectez-vous d’abord :
    إن كان لديك حساب بهذا البريد فسجّل الدخول أولًا:`,
  mode: 'Mode | Mode | الوضع',
  known_keys: `Keys that this person may know
    Clés que cette personne peut connaître
    مفاتيح قد يعرفها هذا الشخص`,
  known_keys_text: `These keys work, and this person has made or may have seen them. Roll or revoke each of them, so that the old text stops working.
    Ces clés fonctionnent, et cette personne les a créées ou a pu les voir. Renouvelez ou révoquez-les toutes, pour que l’ancien texte ne fonctionne plus.
    هذه المفاتيح تعمل، وقد أنشأها هذا الشخص أو ربما رآها. جدّد كلًّا منها أو ألغِه حتى يتوقف النص القديم عن العمل.`,
  known_keys_none: `This person knows no key that still works.
    Cette personne ne connaît aucune clé encore valable.
    لا يعرف هذا الشخص أي مفتاح يعمل.`,
  join: 'Join | Rejoindre | انضم',
  name: 'Your name | Votre nom | اسمك',
  new_password: 'New password | Nouveau mot de passe | كلمة مرور جديدة',
  password_hint: `At least {min} characters. Several words that don’t belong together are easy to remember and hard to guess.
    Au moins {min} caractères. Plusieurs mots sans rapport entre eux sont faciles à retenir et difficiles à deviner.
    {min} حرفًا على الأقل. عدة كلمات لا علاقة بينها يسهل تذكرها ويصعب تخمينها.`,
  password_short: `The password is too short: it needs at least {min} characters.
    Le mot de passe est trop court : il faut au moins {min} caractères.
    كلمة المرور قصيرة: يلزم {min} حرفًا على الأقل.`,
  password_long: `The password is too long: at most {max} characters.
    Le mot de passe est trop long : {max} caractères au plus.
    كلمة المرور طويلة: {max} حرف على الأكثر.`,
  password_personal: `The password is mostly your name or e-mail address, which others know. Choose another.
    Le mot de passe reprend surtout votre nom ou votre adresse, que d’autres connaissent. Choisissez-en un autre.
    كلمة المرور مأخوذة من اسمك أو بريدك، وهما معروفان لغيرك. اختر غيرها.`,
  password_common: `The password is easy to guess, because many people use one like it. Choose another.
    Le mot de passe est facile à deviner, car beaucoup en utilisent un semblable. Choisissez-en un autre.
    كلمة المرور سهلة التخمين لأن كثيرين يستخدمون مثلها. اختر غيرها.`,
  name_invalid: `Enter a name of 1 to 100 characters, without invisible ones.
    Saisissez un nom de 1 à 100 caractères, sans caractère invisible.
    أدخل اسمًا من 1 إلى 100 حرف، دون أحرف غير مرئية.`,
  reset_title: 'Choose a new password | Choisir un nouveau mot de passe | اختر كلمة مرور جديدة',
  reset_text: `For the account of {email}. An authenticator app of this account is forgotten, and its sessions end.
    Pour le compte de {email}. L’application d’authentification de ce compte est oubliée, et ses sessions se terminent.
    لحساب {email}. سيُنسى تطبيق المصادقة لهذا الحساب وتنتهي جلساته.`,
  link_sign_in_text: `Sign in as {email} with this link. It works once.
    Connectez-vous en tant que {email} avec ce lien. Il sert une seule fois.
    سجّل الدخول بصفة {email} بهذا الرابط. يعمل مرة واحدة.`,
  no_organization_title: 'No organization | Aucune organisation | لا مؤسسة',
  no_organization: `Your account belongs to no organization. An owner can invite you.
    Votre compte n’appartient à aucune organisation. Un propriétaire peut vous inviter.
    حسابك لا ينتمي إلى أي مؤسسة. يمكن لمالك دعوتك.`,
  account_title: 'Your account | Votre compte | حسابك',
  you: 'You | Vous | أنت',
  current_password: 'Current password | Mot de passe actuel | كلمة المرور الحالية',
  name_saved: 'The name was saved. | Le nom est enregistré. | حُفظ الاسم.',
  password_saved: `The password was saved. You were signed out everywhere else.
    Le mot de passe est enregistré. Vous êtes déconnecté partout ailleurs.
    حُفظت كلمة المرور. سُجّل خروجك من كل مكان آخر.`,
  two_step: 'Two-step sign-in | Connexion en deux étapes | الدخول بخطوتين',
  notices_saved: 'Your choice was saved. | Votre choix est enregistré. | حُفظ اختيارك.',
  two_step_text: `With an authenticator app, a stolen password alone opens nothing.
    Avec une application d’authentification, un mot de passe volé ne suffit plus.
    مع تطبيق مصادقة، لا تكفي كلمة مرور مسروقة وحدها.`,
  two_step_is_on: 'On | Activée | مفعّل',
  two_step_is_off: 'Off | Désactivée | غير مفعّل',
  two_step_turn_on: 'Turn on two-step sign-in | Activer la connexion en deux étapes | فعّل الدخول بخطوتين',
  two_step_turn_off: `Turn off two-step sign-in
    Désactiver la connexion en deux étapes
    عطّل الدخول بخطوتين`,
  two_step_off: `Two-step sign-in is off.
    La connexion en deux étapes est désactivée.
    عُطّل الدخول بخطوتين.`,
  two_step_scan: `Scan this with your authenticator app, or type the secret into it. Then enter the code that the app shows.
    Scannez ceci avec votre application d’authentification, ou saisissez-y le secret. Saisissez ensuite le code qu’elle affiche.
    امسح هذا بتطبيق المصادقة أو اكتب السر فيه، ثم أدخل الرمز الذي يعرضه التطبيق.`,
  two_step_qr: 'QR code of the secret below | QR code du secret ci-dessous | رمز QR للسر أدناه',
  recovery_codes: 'Recovery codes | Codes de secours | رموز الاسترداد',
  recovery_codes_text: `Keep these codes where you find them without your phone. Each signs you in once when the app is lost. They are shown this once.
    Gardez ces codes là où vous les trouverez sans votre téléphone. Chacun sert une fois si l’application est perdue. Ils ne sont affichés qu’une fois.
    احفظ هذه الرموز حيث تجدها دون هاتفك. يعمل كل رمز مرة واحدة إذا فُقد التطبيق. لن تُعرض مرة أخرى.`,
  recovery_codes_left: `Recovery codes left: {count}.
    Codes de secours restants : {count}.
    رموز الاسترداد المتبقية: {count}.`,
  recovery_codes_new: `Make new recovery codes
    Créer de nouveaux codes de secours
    أنشئ رموز استرداد جديدة`,
  sessions: 'Sessions | Sessions | الجلسات',
  sessions_open: 'Open sessions: {count}. | Sessions ouvertes : {count}. | الجلسات المفتوحة: {count}.',
  session_opened: 'Opened | Ouverte | فُتحت',
  session_used: 'Last used | Dernière utilisation | آخر استخدام',
  session_from: 'From | Depuis | من',
  session_this: 'This one | Celle-ci | هذه',
  session_end: 'Sign out | Déconnecter | تسجيل الخروج',
  sessions_end_others: `Sign out everywhere else
    Se déconnecter partout ailleurs
    سجّل الخروج من كل مكان آخر`,
  sessions_ended: 'The sessions have ended. | Les sessions sont terminées. | انتهت الجلسات.',
  person: 'Name | Nom | الاسم',
  role: 'Role | Rôle | الدور',
  role_owner: `Everything, with members, settings and the audit log.
    Tout, y compris les membres, les paramètres et le journal d’audit.
    كل شيء، بما في ذلك الأعضاء والإعدادات وسجل التدقيق.`,
  role_developer: `Sees and makes payments; keys, webhooks, events, request logs and limits.
    Voit et crée des paiements ; clés, webhooks, événements, journal des requêtes et limites.
    يرى المدفوعات وينشئها؛ المفاتيح وإشعارات الويب والأحداث وسجل الطلبات والحدود.`,
  role_support: `Sees and makes payments, pays back, closes reviews.
    Voit et crée des paiements, rembourse, clôt les vérifications.
    يرى المدفوعات وينشئها، ويردّ الأموال، ويغلق المراجعات.`,
  role_viewer: `Sees payments and changes nothing.
    Voit les paiements et ne change rien.
    يرى المدفوعات ولا يغيّر شيئًا.`,
  role_saved: 'The role was saved. | Le rôle est enregistré. | حُفظ الدور.',
  invite: 'Invite somebody | Inviter quelqu’un | دعوة شخص',
  invitations: 'Open invitations | Invitations en attente | الدعوات المفتوحة',
  invitation_made: 'The invitation is ready | L’invitation est prête | الدعوة جاهزة',
  invitation_give: `Give this link to {email} alone. It works once and is shown this once.
    Donnez ce lien à {email} uniquement. Il sert une fois et n’est affiché qu’une fois.
    أعطِ هذا الرابط إلى {email} فقط. يعمل مرة واحدة ولن يُعرض مرة أخرى.`,
  invitation_mailed: `We are sending it by e-mail, too.
    Nous l’envoyons aussi par e-mail.
    نرسله أيضًا عبر البريد الإلكتروني.`,
  invitation_until: 'Works until | Valable jusqu’au | صالح حتى',
  invitation_revoke: 'Take back | Retirer | سحب',
  invitation_revoked: 'The invitation was taken back. | L’invitation est retirée. | سُحبت الدعوة.',
  member_remove: 'Remove from the organization | Retirer de l’organisation | إزالة من المؤسسة',
  member_remove_text: `This person can no longer see anything of the organization.
    Cette personne ne verra plus rien de l’organisation.
    لن يرى هذا الشخص شيئًا من المؤسسة بعد الآن.`,
  member_removed: 'The member was removed. | Le membre est retiré. | أُزيل العضو.',
  member_exists: `This address belongs to a member already.
    Cette adresse appartient déjà à un membre.
    هذا البريد لعضو موجود بالفعل.`,
  member_missing: 'There is no such member. | Ce membre n’existe pas. | لا يوجد هذا العضو.',
  last_owner: `This is the last owner: make somebody else an owner first.
    C’est le dernier propriétaire : nommez d’abord un autre propriétaire.
    هذا آخر مالك: عيّن مالكًا آخر أولًا.`,
  email_invalid: `Enter an e-mail address such as name@example.ma.
    Saisissez une adresse e-mail, par exemple nom@exemple.ma.
    أدخل بريدًا إلكترونيًا مثل name@example.ma.`,
  too_many_links: `There are too many open invitations. Take some back first.
    Il y a trop d’invitations en attente. Retirez-en d’abord.
    الدعوات المفتوحة كثيرة جدًا. اسحب بعضها أولًا.`,
});

export const sayPeople = sayFrom(peopleMessages);
