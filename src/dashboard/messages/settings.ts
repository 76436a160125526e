// The texts of the pages for settings and the audit log.

import { sayFrom } from './say.ts';

export const settingsMessages = {
  intro: {
    en: 'Your customers see this on the pages where they pay.',
    fr: 'Vos clients voient ceci sur les pages où ils paient.',
    ar: 'يرى عملاؤك هذا في صفحات الدفع.',
  },
  shop: { en: 'Name and colour', fr: 'Nom et couleur', ar: 'الاسم واللون' },
  name: { en: 'Name', fr: 'Nom', ar: 'الاسم' },
  own_colour: { en: 'Use this colour', fr: 'Utiliser cette couleur', ar: 'استعمال هذا اللون' },
  colour: { en: 'Colour', fr: 'Couleur', ar: 'اللون' },
  colour_hint: {
    en: 'For buttons. Their text becomes black or white, whichever is easier to read.',
    fr: 'Pour les boutons. Leur texte devient noir ou blanc, selon ce qui se lit le mieux.',
    ar: 'للأزرار. يصير نصها أسود أو أبيض، أيهما أسهل قراءة.',
  },
  standard: { en: 'The pages’ own', fr: 'Celle des pages', ar: 'لون الصفحات' },
  logo: { en: 'Logo', fr: 'Logo', ar: 'الشعار' },
  logo_of: { en: 'Logo of {name}', fr: 'Logo de {name}', ar: 'شعار {name}' },
  logo_hint: {
    en: 'A PNG, JPEG or WebP file of at most 64 KiB.',
    fr: 'Un fichier PNG, JPEG ou WebP de 64 Kio au plus.',
    ar: 'ملف PNG أو JPEG أو WebP لا يتجاوز 64 كيلوبايت.',
  },
  no_logo: { en: 'There is no logo yet.', fr: 'Il n’y a pas encore de logo.', ar: 'لا يوجد شعار بعد.' },
  upload: { en: 'Upload the logo', fr: 'Téléverser le logo', ar: 'رفع الشعار' },
  remove: { en: 'Remove the logo', fr: 'Retirer le logo', ar: 'إزالة الشعار' },
  receipts: { en: 'Receipts by e-mail', fr: 'Reçus par e-mail', ar: 'الإيصالات بالبريد الإلكتروني' },
  receipts_text: {
    en: 'A customer whose e-mail address is known gets a receipt for each payment of live mode, and for each refund.',
    fr: 'Un client dont l’adresse e-mail est connue reçoit un reçu pour chaque paiement du mode réel et pour chaque remboursement.',
    ar: 'العميل الذي يُعرف بريده الإلكتروني يصله إيصال بكل دفعة في الوضع الحقيقي وبكل استرداد.',
  },
  receipts_language: { en: 'Language of receipts', fr: 'Langue des reçus', ar: 'لغة الإيصالات' },
  receipts_off: { en: 'No receipts', fr: 'Pas de reçus', ar: 'بلا إيصالات' },
  done: { en: 'The change is saved.', fr: 'La modification est enregistrée.', ar: 'حُفظ التعديل.' },
  organization: { en: 'Organization', fr: 'Organisation', ar: 'المؤسسة' },
  live: { en: 'Live mode', fr: 'Mode réel', ar: 'الوضع الحقيقي' },
  activated: { en: 'Activated', fr: 'Activé', ar: 'مفعّل' },
  not_activated: { en: 'Not activated yet', fr: 'Pas encore activé', ar: 'غير مفعّل بعد' },
  created: { en: 'Created', fr: 'Créée', ar: 'تاريخ الإنشاء' },
  name_invalid: {
    en: 'Give a name of 1 to 255 characters, without invisible ones.',
    fr: 'Indiquez un nom de 1 à 255 caractères, sans caractère invisible.',
    ar: 'أدخل اسمًا من 1 إلى 255 حرفًا، دون أحرف غير مرئية.',
  },
  colour_invalid: {
    en: 'Give a colour such as #0a6e4f.',
    fr: 'Indiquez une couleur, par exemple #0a6e4f.',
    ar: 'أدخل لونًا مثل #0a6e4f.',
  },
  logo_invalid: {
    en: 'Choose a PNG, JPEG or WebP file.',
    fr: 'Choisissez un fichier PNG, JPEG ou WebP.',
    ar: 'اختر ملف PNG أو JPEG أو WebP.',
  },
  logo_too_large: {
    en: 'The file has more than 64 KiB: make it smaller.',
    fr: 'Le fichier dépasse 64 Kio : réduisez-le.',
    ar: 'يتجاوز الملف 64 كيلوبايت: صغّره.',
  },
  audit_intro: {
    en: 'What members did here and what operators of the service did for this organization, newest first.',
    fr: 'Ce que les membres ont fait ici et ce que les opérateurs du service ont fait pour cette organisation, du plus récent au plus ancien.',
    ar: 'ما فعله الأعضاء هنا وما فعله مشغلو الخدمة لهذه المؤسسة، الأحدث أولًا.',
  },
  audit_none: { en: 'There is nothing here.', fr: 'Il n’y a rien ici.', ar: 'لا يوجد شيء هنا.' },
  audit_none_yet: {
    en: 'Nothing fits among the actions that were searched. Older ones may: go on to them.',
    fr: 'Rien ne correspond parmi les actions parcourues. Les plus anciennes peuvent correspondre : poursuivez.',
    ar: 'لا شيء مطابق بين الإجراءات التي بُحث فيها. قد تطابق الأقدم: تابع إليها.',
  },
  who: { en: 'Who', fr: 'Qui', ar: 'من' },
  anybody: { en: 'Everybody', fr: 'Tout le monde', ar: 'الجميع' },
  operator: { en: 'Operator of the service', fr: 'Opérateur du service', ar: 'مشغل الخدمة' },
  former: { en: 'Former member', fr: 'Ancien membre', ar: 'عضو سابق' },
  action: { en: 'Action', fr: 'Action', ar: 'الإجراء' },
  any_action: { en: 'All actions', fr: 'Toutes les actions', ar: 'كل الإجراءات' },
  about: { en: 'About', fr: 'Concerne', ar: 'بشأن' },
  asked: { en: 'Interrupted', fr: 'Interrompue', ar: 'انقطع' },
  done_outcome: { en: 'Done', fr: 'Faite', ar: 'تم' },
  refused: { en: 'Refused', fr: 'Refusée', ar: 'مرفوض' },
  failed: { en: 'Failed', fr: 'Échouée', ar: 'فشل' },
} as const;

export const saySettings = sayFrom(settingsMessages);
