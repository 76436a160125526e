// The texts of the pages for settings and the audit log.

import { sayFrom, texts } from './say.ts';

export const settingsMessages = texts({
  intro: `Your customers see this on the pages where they pay.
    Vos clients voient ceci sur les pages où ils paient.
    يرى عملاؤك هذا في صفحات الدفع.`,
  shop: 'Name and colour | Nom et couleur | الاسم واللون',
  own_colour: 'Use this colour | Utiliser cette couleur | استعمال هذا اللون',
  colour: 'Colour | Couleur | اللون',
  colour_hint: `For buttons. Their text becomes black or white, whichever is easier to read.
    Pour les boutons. Leur texte devient noir ou blanc, selon ce qui se lit le mieux.
    للأزرار. يصير نصها أسود أو أبيض، أيهما أسهل قراءة.`,
  standard: 'The pages’ own | Celle des pages | لون الصفحات',
  logo: 'Logo | Logo | الشعار',
  logo_of: 'Logo of {name} | Logo de {name} | شعار {name}',
  logo_hint: `A PNG, JPEG or WebP file of at most 64 KiB.
    Un fichier PNG, JPEG ou WebP de 64 Kio au plus.
    ملف PNG أو JPEG أو WebP لا يتجاوز 64 كيلوبايت.`,
  no_logo: 'There is no logo yet. | Il n’y a pas encore de logo. | لا يوجد شعار بعد.',
  upload: 'Upload the logo | Téléverser le logo | رفع الشعار',
  remove: 'Remove the logo | Retirer le logo | إزالة الشعار',
  receipts: 'Receipts by e-mail | Reçus par e-mail | الإيصالات بالبريد الإلكتروني',
  receipts_text: `A customer whose e-mail address is known gets a receipt for each payment of live mode, and for each refund.
    Un client dont l’adresse e-mail est connue reçoit un reçu pour chaque paiement du mode production et pour chaque remboursement.
    العميل الذي يُعرف بريده الإلكتروني يصله إيصال بكل دفعة في الوضع الحقيقي وبكل استرداد.`,
  receipts_language: 'Language of receipts | Langue des reçus | لغة الإيصالات',
  receipts_off: 'No receipts | Pas de reçus | بلا إيصالات',
  done: 'The change is saved. | La modification est enregistrée. | حُفظ التعديل.',
  organization: 'Organization | Organisation | المؤسسة',
  live: 'Live mode | Mode production | الوضع الحقيقي',
  activated: 'Activated | Activé | مفعّل',
  not_activated: 'Not activated yet | Pas encore activé | غير مفعّل بعد',
  created: 'Created | Créée | تاريخ الإنشاء',
  name_invalid: `Give a name of 1 to 255 characters, without invisible ones.
    Indiquez un nom de 1 à 255 caractères, sans caractère invisible.
    أدخل اسمًا من 1 إلى 255 حرفًا، دون أحرف غير مرئية.`,
  colour_invalid: `Give a colour such as #0a6e4f.
    Indiquez une couleur, par exemple #0a6e4f.
    أدخل لونًا مثل #0a6e4f.`,
  logo_invalid: `Choose a PNG, JPEG or WebP file.
    Choisissez un fichier PNG, JPEG ou WebP.
    اختر ملف PNG أو JPEG أو WebP.`,
  logo_too_large: `The file has more than 64 KiB: make it smaller.
    Le fichier dépasse 64 Kio : réduisez-le.
    يتجاوز الملف 64 كيلوبايت: صغّره.`,
  too_many_changes: `The settings were changed too often. Change them later.
    Les paramètres ont été modifiés trop souvent. Modifiez-les plus tard.
    عُدّلت الإعدادات مرات كثيرة جدًا. عدّلها لاحقًا.`,
  audit_intro: `What members did here and what operators of the service did for this organization, newest first.
    Ce que les membres ont fait ici et ce que les opérateurs du service ont fait pour cette organisation, du plus récent au plus ancien.
    ما فعله الأعضاء هنا وما فعله مشغلو الخدمة لهذه المؤسسة، الأحدث أولًا.`,
  audit_none: 'There is nothing here. | Il n’y a rien ici. | لا يوجد شيء هنا.',
  audit_none_yet: `No action that was searched matches. Older ones may: go on to them.
    Rien ne correspond parmi les actions parcourues. Les plus anciennes peuvent correspondre : poursuivez.
    لا شيء مطابق بين الإجراءات التي بُحث فيها. قد تطابق الأقدم: تابع إليها.`,
  who: 'Who | Qui | من',
  anybody: 'Everybody | Tout le monde | الجميع',
  operator: 'Operator of the service | Opérateur du service | مشغل الخدمة',
  former: 'Former member | Ancien membre | عضو سابق',
  action: 'Action | Action | الإجراء',
  any_action: 'All actions | Toutes les actions | كل الإجراءات',
  asked: 'Interrupted | Interrompue | انقطع',
  done_outcome: 'Done | Faite | تم',
  refused: 'Refused | Refusée | مرفوض',
  failed: 'Failed | Échouée | فشل',
});

export const saySettings = sayFrom(settingsMessages);
