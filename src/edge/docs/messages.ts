// The texts of the documentation's layout and of the pages that the code writes. The guides are in
// English and French; where they are the same for a reader of Arabic, so are these.

import type { Language } from '../../contract/vocabulary.ts';

type Texts = Readonly<Record<Language, string>>;

const messages = {
  brand: { en: 'Payments', fr: 'Paiements', ar: 'المدفوعات' },
  skip: { en: 'Skip to the content', fr: 'Aller au contenu', ar: 'انتقل إلى المحتوى' },
  main: { en: 'Main pages', fr: 'Pages principales', ar: 'الصفحات الرئيسية' },
  docs: { en: 'Documentation', fr: 'Documentation', ar: 'التوثيق' },
  reference: { en: 'API reference', fr: 'Référence de l’API', ar: 'مرجع واجهة البرمجة' },
  dashboard: { en: 'Dashboard', fr: 'Tableau de bord', ar: 'لوحة التحكم' },
  pages: { en: 'All pages', fr: 'Toutes les pages', ar: 'كل الصفحات' },
  search: { en: 'Search', fr: 'Rechercher', ar: 'بحث' },
  search_label: {
    en: 'Search the documentation',
    fr: 'Rechercher dans la documentation',
    ar: 'ابحث في التوثيق',
  },
  languages: { en: 'Language', fr: 'Langue', ar: 'اللغة' },

  contents: { en: 'On this page', fr: 'Sur cette page', ar: 'في هذه الصفحة' },
  colon: { en: ':', fr: ' :', ar: ':' },
  english_only: {
    en: 'This page is in English.',
    fr: 'Le texte de cette page n’existe qu’en anglais.',
    ar: 'نص هذه الصفحة بالإنجليزية فقط.',
  },
  no_page: { en: 'There is no such page', fr: 'Cette page n’existe pas', ar: 'لا توجد هذه الصفحة' },
  no_page_text: {
    en: 'Look for it in the list of all pages, or search.',
    fr: 'Cherchez-la dans la liste de toutes les pages, ou lancez une recherche.',
    ar: 'ابحث عنها في قائمة كل الصفحات، أو استخدم البحث.',
  },
  too_many_searches: { en: 'Too many searches', fr: 'Trop de recherches', ar: 'عمليات بحث كثيرة' },
  too_many_searches_text: {
    en: 'Search again in {wait} seconds. All pages are in the list.',
    fr: 'Relancez la recherche dans {wait} secondes. Toutes les pages sont dans la liste.',
    ar: 'أعد البحث بعد {wait} ثانية. كل الصفحات في القائمة.',
  },
  search_title: { en: 'Search', fr: 'Recherche', ar: 'البحث' },
  search_hint: {
    en: 'Type what you are looking for: a word, a parameter, an error code.',
    fr: 'Saisissez ce que vous cherchez : un mot, un paramètre, un code d’erreur.',
    ar: 'اكتب ما تبحث عنه: كلمة أو معامل أو رمز خطأ.',
  },
  found: { en: 'Found for “{query}”:', fr: 'Résultats pour « {query} » :', ar: 'نتائج «{query}»:' },
  found_nothing: {
    en: 'Nothing was found for “{query}”.',
    fr: 'Aucun résultat pour « {query} ».',
    ar: 'لا نتائج عن «{query}».',
  },
  index_lead: {
    en: 'Begin with the quick start, then read how to take payments. Every route is in the API reference, and the whole API is described in',
    fr: 'Commencez par le démarrage rapide, puis voyez comment encaisser. Chaque route figure dans la référence de l’API, et l’API entière est décrite en',
    ar: 'ابدأ بالبدء السريع، ثم اقرأ كيف تستقبل المدفوعات. كل المسارات في مرجع واجهة البرمجة، وهي موصوفة كاملة في',
  },
  reference_lead: {
    en: 'Every route with its parameters, examples in four languages, and its answer. The same as a file for tools:',
    fr: 'Chaque route avec ses paramètres, des exemples en quatre langages et sa réponse. La même chose en un fichier pour vos outils :',
    ar: 'كل مسار مع معاملاته وأمثلة بأربع لغات برمجة وجوابه. والمحتوى نفسه في ملف للأدوات:',
  },
  errors_summary: {
    en: 'What each code means, and what to do.',
    fr: 'Ce que signifie chaque code, et que faire.',
    ar: 'معنى كل رمز، وما العمل.',
  },

  home_title: {
    en: 'Card and cash payments in Morocco',
    fr: 'Paiements par carte et en espèces au Maroc',
    ar: 'الدفع بالبطاقة والنقد في المغرب',
  },
  home_lead: {
    en: 'A payments API: your customers pay by card, or in cash with a code at a payment agent, on pages in three languages. You learn the outcome from signed webhooks, and any request can be sent again without paying twice.',
    fr: 'Une API de paiement : vos clients paient par carte, ou en espèces avec un code chez un agent de paiement, sur des pages en trois langues. Des webhooks signés vous donnent le résultat, et toute requête peut être renvoyée sans payer deux fois.',
    ar: 'واجهة برمجة للمدفوعات: يدفع زبائنك بالبطاقة، أو نقدًا برمز لدى وكيل دفع، في صفحات بثلاث لغات. تعرف النتيجة من إشعارات ويب موقّعة، ويمكن إعادة إرسال أي طلب دون أن يُدفع مرتين.',
  },
  home_start: { en: 'Quick start', fr: 'Démarrage rapide', ar: 'البدء السريع' },
  home_request: { en: 'A first request', fr: 'Une première requête', ar: 'أول طلب' },
  home_answer: { en: 'Its answer', fr: 'Sa réponse', ar: 'جوابه' },
  home_checkout: {
    en: 'What your customer sees at the answer’s url',
    fr: 'Ce que voit votre client à l’adresse url de la réponse',
    ar: 'ما يراه زبونك على العنوان url في الجواب',
  },
  picture_shop: { en: 'Atlas Books', fr: 'Librairie Atlas', ar: 'مكتبة الأطلس' },
  picture_order: { en: 'Order 1042', fr: 'Commande 1042', ar: 'الطلب 1042' },
  picture_amount: { en: 'MAD 250.00', fr: '250,00 MAD', ar: '250,00 درهم' },
  picture_card: { en: 'Card', fr: 'Carte', ar: 'بطاقة' },
  picture_cash: { en: 'Cash at an agent', fr: 'Espèces chez un agent', ar: 'نقدًا لدى وكيل' },
  picture_number: { en: 'Card number', fr: 'Numéro de carte', ar: 'رقم البطاقة' },
  picture_expiry: { en: 'Expiry', fr: 'Expiration', ar: 'تاريخ الانتهاء' },
  picture_code: { en: 'Security code', fr: 'Code de sécurité', ar: 'رمز الأمان' },
  picture_pay: { en: 'Pay MAD 250.00', fr: 'Payer 250,00 MAD', ar: 'ادفع 250,00 درهم' },
  copy: { en: 'Copy', fr: 'Copier', ar: 'نسخ' },
  copied: { en: 'Copied', fr: 'Copié', ar: 'نُسخ' },
  home_merchants: {
    en: 'You were sent here to pay? Use the link that the shop gave you: this page takes no payments.',
    fr: 'Vous veniez pour payer ? Utilisez le lien que la boutique vous a donné : cette page n’encaisse aucun paiement.',
    ar: 'هل جئت لتدفع؟ استخدم الرابط الذي أعطاك إياه المتجر: لا تُستقبل المدفوعات في هذه الصفحة.',
  },

  errors_title: { en: 'Error codes', fr: 'Codes d’erreur', ar: 'رموز الأخطاء' },
  errors_status: { en: 'Status', fr: 'Statut', ar: 'حالة HTTP' },
  errors_meaning: { en: 'Meaning', fr: 'Signification', ar: 'المعنى' },
  errors_advice: { en: 'What to do', fr: 'Que faire', ar: 'ما العمل' },
  errors_variants: { en: 'More precisely', fr: 'Plus précisément', ar: 'بدقة أكبر' },
} as const satisfies Record<string, Texts>;

export type DocsMessage = keyof typeof messages;

/** The texts of a language. */
export const sayDocs =
  (language: Language) =>
  (key: DocsMessage): string =>
    messages[key][language];
