// The texts of the pages for API keys.

import { sayFrom, texts } from './say.ts';

export const keyMessages = texts({
  intro: `Programs use these keys to call the API. All keys of a mode share its limits.
    Les programmes appellent l’API avec ces clés. Toutes les clés d’un mode partagent ses limites.
    تستعمل البرامج هذه المفاتيح لاستدعاء API. تشترك مفاتيح كل وضع في حدوده.`,
  list: `API keys, newest first
    Clés d’API, de la plus récente à la plus ancienne
    مفاتيح API، الأحدث أولًا`,
  none: 'There is no key yet. | Il n’y a pas encore de clé. | لا يوجد أي مفتاح بعد.',
  create: 'Create a key | Créer une clé | إنشاء مفتاح',
  key: 'Key | Clé | المفتاح',
  name_hint: `Optional, for example the program that uses the key.
    Facultatif, par exemple le programme qui utilise la clé.
    اختياري، مثل البرنامج الذي يستعمل المفتاح.`,
  name_invalid: `Give a name of at most 255 characters, without invisible ones.
    Indiquez un nom de 255 caractères au plus, sans caractère invisible.
    أدخل اسمًا من 255 حرفًا على الأكثر، دون أحرف غير مرئية.`,
  name_title: 'Name the key {hint} | Nommer la clé {hint} | تسمية المفتاح {hint}',
  give_name: 'Name | Nommer | تسمية',
  rename: 'Rename | Renommer | إعادة تسمية',
  done_named: 'The name is saved. | Le nom est enregistré. | حُفظ الاسم.',
  kind: 'Kind | Type | النوع',
  secret: 'Secret | Secrète | سري',
  publishable: 'Publishable | Publiable | قابل للنشر',
  kind_hint: `A secret key may do everything: keep it on your server. A publishable key may be seen by everybody, and may do nothing today.
    Une clé secrète permet tout : gardez-la sur votre serveur. Une clé publiable peut être vue de tous, et ne permet rien aujourd’hui.
    يتيح المفتاح السري كل شيء: احتفظ به على خادمك. أما المفتاح القابل للنشر فيمكن للجميع رؤيته، ولا يتيح شيئًا اليوم.`,
  status: 'Status | État | الحالة',
  active: 'Active | Active | نشط',
  revoked: 'Revoked | Révoquée | ملغى',
  expired: 'Expired | Expirée | منتهٍ',
  created: 'Created | Créée | تاريخ الإنشاء',
  last_used: 'Last used | Dernière utilisation | آخر استعمال',
  never: 'Never | Jamais | لم يُستعمل',
  ends: 'Works until | Fonctionne jusqu’au | يعمل حتى',
  actions: 'Actions | Actions | الإجراءات',
  roll: 'Roll | Renouveler | تجديد',
  revoke: 'Revoke | Révoquer | إلغاء',
  roll_title: 'Roll the key {hint} | Renouveler la clé {hint} | تجديد المفتاح {hint}',
  roll_intro: `You get a new key of the same kind. The old one goes on working for a while, so that you can change your programs.
    Vous recevez une nouvelle clé du même type. L’ancienne fonctionne encore un moment, le temps de modifier vos programmes.
    تحصل على مفتاح جديد من النوع نفسه. يستمر القديم في العمل مدة كي تتمكن من تعديل برامجك.`,
  overlap: 'The old key works | L’ancienne clé fonctionne | يعمل المفتاح القديم',
  overlap_0: 'not at all: it stops working now | plus du tout, dès maintenant | لا، من الآن',
  overlap_3600: 'for an hour | pendant une heure | لمدة ساعة',
  overlap_86400: 'for a day | pendant un jour | لمدة يوم',
  overlap_604800: 'for a week | pendant une semaine | لمدة أسبوع',
  revoke_title: 'Revoke the key {hint} | Révoquer la clé {hint} | إلغاء المفتاح {hint}',
  revoke_intro: `Programs that use this key are refused from this moment on. This cannot be undone.
    Les programmes qui utilisent cette clé sont refusés dès cet instant. C’est irréversible.
    تُرفض البرامج التي تستعمل هذا المفتاح من هذه اللحظة. لا يمكن التراجع عن ذلك.`,
  done_revoked: 'The key is revoked. | La clé est révoquée. | أُلغي المفتاح.',
  done_again: `That form was sent before: the key exists, and its text was shown once. Roll it if you have lost the text.
    Ce formulaire a déjà été envoyé : la clé existe et son texte a été affiché une fois. Renouvelez-la si vous l’avez perdu.
    أُرسل هذا النموذج من قبل: المفتاح موجود وقد عُرض نصه مرة واحدة. جدّده إن فقدت النص.`,
  shown_title: 'Your new key | Votre nouvelle clé | مفتاحك الجديد',
  shown_once: `This is the only time that the key is shown. Copy it and keep it safe.
    La clé n’est affichée que cette fois. Copiez-la et conservez-la en lieu sûr.
    لا يُعرض المفتاح إلا هذه المرة. انسخه واحتفظ به في مكان آمن.`,
  old_works: 'The old key works until | L’ancienne clé fonctionne jusqu’au | يعمل المفتاح القديم حتى',
  back: 'Back to the keys | Retour aux clés | العودة إلى المفاتيح',
  not_live: `Live keys work once your account is activated.
    Les clés de production fonctionnent dès que votre compte est activé.
    تعمل مفاتيح الوضع الحقيقي بعد تفعيل حسابك.`,
  too_many_keys: `This mode has {max} active keys. Revoke some first, or roll one without an overlap.
    Ce mode compte {max} clés actives. Révoquez-en d’abord, ou renouvelez-en une qui cesse aussitôt.
    في هذا الوضع {max} مفتاح نشط. ألغِ بعضها أولًا، أو جدّد مفتاحًا يتوقف فورًا.`,
  too_many_new_keys: `{max} keys were made in 24 hours. More can be made later; keys can be revoked at any time.
    {max} clés ont été créées en 24 heures. D’autres pourront l’être plus tard ; une clé peut être révoquée à tout moment.
    أُنشئ {max} مفتاح خلال 24 ساعة. يمكن إنشاء غيرها لاحقًا، ويمكن إلغاء أي مفتاح في أي وقت.`,
  refused: `This key can’t be changed any more.
    Cette clé ne peut plus être modifiée.
    لم يعد من الممكن تغيير هذا المفتاح.`,
});

export const sayKeys = sayFrom(keyMessages);
