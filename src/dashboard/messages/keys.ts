// The texts of the pages for API keys.

import { sayFrom } from './say.ts';

export const keyMessages = {
  intro: {
    en: 'Programs use these keys to call the API. All keys of a mode share its limits.',
    fr: 'Les programmes appellent l’API avec ces clés. Toutes les clés d’un mode partagent ses limites.',
    ar: 'تستعمل البرامج هذه المفاتيح لاستدعاء API. تشترك مفاتيح كل وضع في حدوده.',
  },
  list: {
    en: 'API keys, newest first',
    fr: 'Clés d’API, de la plus récente à la plus ancienne',
    ar: 'مفاتيح API، الأحدث أولًا',
  },
  none: { en: 'There is no key yet.', fr: 'Il n’y a pas encore de clé.', ar: 'لا يوجد أي مفتاح بعد.' },
  create: { en: 'Create a key', fr: 'Créer une clé', ar: 'إنشاء مفتاح' },
  key: { en: 'Key', fr: 'Clé', ar: 'المفتاح' },
  name: { en: 'Name', fr: 'Nom', ar: 'الاسم' },
  name_hint: {
    en: 'Optional, for example the program that uses the key.',
    fr: 'Facultatif, par exemple le programme qui utilise la clé.',
    ar: 'اختياري، مثل البرنامج الذي يستعمل المفتاح.',
  },
  name_invalid: {
    en: 'Give a name of at most 255 characters, without invisible ones.',
    fr: 'Indiquez un nom de 255 caractères au plus, sans caractère invisible.',
    ar: 'أدخل اسمًا من 255 حرفًا على الأكثر، دون أحرف غير مرئية.',
  },
  name_title: { en: 'Name the key …{hint}', fr: 'Nommer la clé …{hint}', ar: 'تسمية المفتاح …{hint}' },
  give_name: { en: 'Name', fr: 'Nommer', ar: 'تسمية' },
  rename: { en: 'Rename', fr: 'Renommer', ar: 'إعادة تسمية' },
  done_named: { en: 'The name is saved.', fr: 'Le nom est enregistré.', ar: 'حُفظ الاسم.' },
  kind: { en: 'Kind', fr: 'Type', ar: 'النوع' },
  secret: { en: 'Secret', fr: 'Secrète', ar: 'سري' },
  publishable: { en: 'Publishable', fr: 'Publiable', ar: 'قابل للنشر' },
  kind_hint: {
    en: 'A secret key may do everything: keep it on your server. A publishable key may be seen by everybody, and may do nothing today.',
    fr: 'Une clé secrète permet tout : gardez-la sur votre serveur. Une clé publiable peut être vue de tous, et ne permet rien aujourd’hui.',
    ar: 'يتيح المفتاح السري كل شيء: احتفظ به على خادمك. أما المفتاح القابل للنشر فيمكن للجميع رؤيته، ولا يتيح شيئًا اليوم.',
  },
  status: { en: 'Status', fr: 'État', ar: 'الحالة' },
  active: { en: 'Active', fr: 'Active', ar: 'نشط' },
  revoked: { en: 'Revoked', fr: 'Révoquée', ar: 'ملغى' },
  expired: { en: 'Expired', fr: 'Expirée', ar: 'منتهٍ' },
  created: { en: 'Created', fr: 'Créée', ar: 'تاريخ الإنشاء' },
  last_used: { en: 'Last used', fr: 'Dernière utilisation', ar: 'آخر استعمال' },
  never: { en: 'Never', fr: 'Jamais', ar: 'لم يُستعمل' },
  ends: { en: 'Works until', fr: 'Fonctionne jusqu’au', ar: 'يعمل حتى' },
  actions: { en: 'Actions', fr: 'Actions', ar: 'الإجراءات' },
  roll: { en: 'Roll', fr: 'Renouveler', ar: 'تجديد' },
  revoke: { en: 'Revoke', fr: 'Révoquer', ar: 'إلغاء' },
  roll_title: { en: 'Roll the key …{hint}', fr: 'Renouveler la clé …{hint}', ar: 'تجديد المفتاح …{hint}' },
  roll_intro: {
    en: 'You get a new key of the same kind. The old one goes on working for a while, so that you can change your programs.',
    fr: 'Vous recevez une nouvelle clé du même type. L’ancienne fonctionne encore un moment, le temps de modifier vos programmes.',
    ar: 'تحصل على مفتاح جديد من النوع نفسه. يستمر القديم في العمل مدة كي تتمكن من تعديل برامجك.',
  },
  overlap: { en: 'The old key works', fr: 'L’ancienne clé fonctionne', ar: 'يعمل المفتاح القديم' },
  overlap_0: {
    en: 'not at all: it stops working now',
    fr: 'plus du tout, dès maintenant',
    ar: 'لا، من الآن',
  },
  overlap_3600: { en: 'for an hour', fr: 'pendant une heure', ar: 'لمدة ساعة' },
  overlap_86400: { en: 'for a day', fr: 'pendant un jour', ar: 'لمدة يوم' },
  overlap_604800: { en: 'for a week', fr: 'pendant une semaine', ar: 'لمدة أسبوع' },
  revoke_title: { en: 'Revoke the key …{hint}', fr: 'Révoquer la clé …{hint}', ar: 'إلغاء المفتاح …{hint}' },
  revoke_intro: {
    en: 'Programs that use this key are refused from this moment on. This cannot be undone.',
    fr: 'Les programmes qui utilisent cette clé sont refusés dès cet instant. C’est irréversible.',
    ar: 'تُرفض البرامج التي تستعمل هذا المفتاح من هذه اللحظة. لا يمكن التراجع عن ذلك.',
  },
  done_revoked: { en: 'The key is revoked.', fr: 'La clé est révoquée.', ar: 'أُلغي المفتاح.' },
  done_again: {
    en: 'That form was sent before: the key exists, and its text was shown once. Roll it if you have lost the text.',
    fr: 'Ce formulaire a déjà été envoyé : la clé existe et son texte a été affiché une fois. Renouvelez-la si vous l’avez perdu.',
    ar: 'أُرسل هذا النموذج من قبل: المفتاح موجود وقد عُرض نصه مرة واحدة. جدّده إن فقدت النص.',
  },
  shown_title: { en: 'Your new key', fr: 'Votre nouvelle clé', ar: 'مفتاحك الجديد' },
  shown_once: {
    en: 'This is the only time that the key is shown. Copy it and keep it safe.',
    fr: 'La clé n’est affichée que cette fois. Copiez-la et conservez-la en lieu sûr.',
    ar: 'لا يُعرض المفتاح إلا هذه المرة. انسخه واحتفظ به في مكان آمن.',
  },
  old_works: {
    en: 'The old key works until',
    fr: 'L’ancienne clé fonctionne jusqu’au',
    ar: 'يعمل المفتاح القديم حتى',
  },
  back: { en: 'Back to the keys', fr: 'Retour aux clés', ar: 'العودة إلى المفاتيح' },
  not_live: {
    en: 'Live keys work once your account is activated.',
    fr: 'Les clés réelles fonctionnent dès que votre compte est activé.',
    ar: 'تعمل مفاتيح الوضع الحقيقي بعد تفعيل حسابك.',
  },
  too_many_keys: {
    en: 'There are {max} keys that work in this mode. Revoke some first, or roll one that stops at once.',
    fr: 'Ce mode compte {max} clés actives. Révoquez-en d’abord, ou renouvelez-en une qui cesse aussitôt.',
    ar: 'في هذا الوضع {max} مفتاح نشط. ألغِ بعضها أولًا، أو جدّد مفتاحًا يتوقف فورًا.',
  },
  refused: {
    en: 'This key can’t be changed any more.',
    fr: 'Cette clé ne peut plus être modifiée.',
    ar: 'لم يعد من الممكن تغيير هذا المفتاح.',
  },
} as const;

export const sayKeys = sayFrom(keyMessages);
