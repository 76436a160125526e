// The texts of the customers' pages in English, French and Arabic. `{name}` is the placeholder of a
// value. The reasons of declined cards are in contract/messages/.

import type { Language } from '../../contract/vocabulary.ts';
import { counted, spaced } from '../../core/shown-number.ts';
import { contained } from '../../core/shown-text.ts';

type Texts = Readonly<Record<Language, string>>;

export const pageMessages = {
  languages: { en: 'Language', fr: 'Langue', ar: 'اللغة' },
  test_mode: {
    en: 'Test mode: this page is a simulation. No real money moves.',
    fr: 'Mode test : cette page est une simulation. Aucun argent réel ne circule.',
    ar: 'وضع الاختبار: هذه الصفحة محاكاة، ولا تُحوَّل أي أموال حقيقية.',
  },
  pay_to: { en: 'Payment to {merchant}', fr: 'Paiement à {merchant}', ar: 'دفع إلى {merchant}' },
  error: { en: 'Error: {title}', fr: 'Erreur : {title}', ar: 'خطأ: {title}' },
  problem: { en: 'You have not paid yet', fr: 'Vous n’avez pas encore payé', ar: 'لم تدفع بعد' },
  return_to: { en: 'Return to {merchant}', fr: 'Retourner chez {merchant}', ar: 'العودة إلى {merchant}' },
  give_up: {
    en: 'Cancel and return to {merchant}',
    fr: 'Annuler et retourner chez {merchant}',
    ar: 'إلغاء والعودة إلى {merchant}',
  },

  link_title: { en: 'Ready to pay?', fr: 'Prêt à payer\u00a0?', ar: 'هل أنت جاهز للدفع؟' },
  link_pay: { en: 'Pay {amount}', fr: 'Payer {amount}', ar: 'ادفع {amount}' },
  link_paused_title: {
    en: 'This link is paused',
    fr: 'Ce lien est en pause',
    ar: 'هذا الرابط متوقف مؤقتًا',
  },
  link_paused_text: {
    en: 'Nobody can pay with it at the moment. Ask {merchant}.',
    fr: 'Personne ne peut payer avec ce lien pour le moment. Contactez {merchant}.',
    ar: 'لا يمكن الدفع به حاليًا. تواصل مع {merchant}.',
  },
  link_ended_title: { en: 'This link has ended', fr: 'Ce lien a expiré', ar: 'انتهت صلاحية هذا الرابط' },
  link_ended_text: {
    en: 'Nobody can pay with it any more. Ask {merchant} for a new one.',
    fr: 'On ne peut plus payer avec ce lien. Demandez-en un nouveau à {merchant}.',
    ar: 'لم يعد الدفع به ممكنًا. اطلب رابطًا جديدًا من {merchant}.',
  },
  link_used_title: { en: 'Already paid', fr: 'Déjà payé', ar: 'تم الدفع من قبل' },
  link_used_text: {
    en: 'This link is for one payment, and {merchant} has received it.',
    fr: 'Ce lien sert à un seul paiement, que {merchant} a bien reçu.',
    ar: 'هذا الرابط لدفعة واحدة، وقد استلمها {merchant}.',
  },
  link_busy_title: { en: 'Not possible just now', fr: 'Impossible pour l’instant', ar: 'غير ممكن الآن' },
  link_busy_text: {
    en: 'Too many people have opened this link. Try again later.',
    fr: 'Ce lien a été ouvert un très grand nombre de fois. Réessayez plus tard.',
    ar: 'فُتح هذا الرابط مرات كثيرة جدًا. أعد المحاولة لاحقًا.',
  },
  link_unavailable_text: {
    en: '{merchant} can’t take this payment at the moment. Nothing was charged.',
    fr: '{merchant} ne peut pas recevoir ce paiement pour le moment. Rien n’a été débité.',
    ar: 'لا يستطيع {merchant} استلام هذه الدفعة حاليًا. لم يُخصم أي مبلغ.',
  },

  choose_title: {
    en: 'How would you like to pay?',
    fr: 'Choisissez comment payer',
    ar: 'كيف تودّ أن تدفع؟',
  },
  pay_by_card: { en: 'Pay by card', fr: 'Payer par carte', ar: 'الدفع بالبطاقة' },
  pay_cash: { en: 'Pay in cash', fr: 'Payer en espèces', ar: 'الدفع نقدًا' },
  by_card: { en: 'Card', fr: 'Carte bancaire', ar: 'بطاقة بنكية' },
  by_cash: { en: 'Cash at a payment agent', fr: 'Espèces chez un agent', ar: 'نقدًا لدى وكيل دفع' },
  cash_text: {
    en: 'You get a code. Give it to a payment agent and pay {amount} in cash.',
    fr: 'Vous recevez un code. Donnez-le à un agent de paiement et réglez {amount} en espèces.',
    ar: 'تحصل على رمز. أعطه لوكيل دفع وادفع {amount} نقدًا.',
  },
  get_code: { en: 'Get the code', fr: 'Obtenir le code', ar: 'احصل على الرمز' },
  method_unavailable: {
    en: 'This way of paying is not available at the moment. Choose another one.',
    fr: 'Ce moyen de paiement n’est pas disponible pour le moment. Choisissez-en un autre.',
    ar: 'وسيلة الدفع هذه غير متاحة حاليًا. اختر وسيلة أخرى.',
  },
  method_missing: {
    en: 'Choose one of the ways to pay below.',
    fr: 'Choisissez l’un des moyens de paiement ci-dessous.',
    ar: 'اختر إحدى وسائل الدفع أدناه.',
  },
  change_method: {
    en: 'Choose another way to pay',
    fr: 'Choisir un autre moyen de paiement',
    ar: 'اختر وسيلة دفع أخرى',
  },
  change_ends_code: {
    en: 'If you choose another way to pay, the code above stops working: do not use it any more.',
    fr: 'Si vous choisissez un autre moyen de paiement, le code ci-dessus ne sera plus valable : ne l’utilisez plus.',
    ar: 'إذا اخترت وسيلة دفع أخرى فلن يبقى الرمز أعلاه صالحًا: لا تستخدمه بعد ذلك.',
  },
  cards_used_up: {
    en: 'Too many cards were tried for this payment. It can still be paid the other way below.',
    fr: 'Trop de cartes ont été essayées pour ce paiement. Il peut encore être réglé par l’autre moyen ci-dessous.',
    ar: 'جُرّبت بطاقات كثيرة جدًا لهذا الدفع. ما زال بإمكانك الدفع بالوسيلة الأخرى أدناه.',
  },
  charges_used_up: {
    en: 'There have been too many attempts to pay. Nothing more can be tried on this page.',
    fr: 'Il y a eu trop de tentatives de paiement. Il n’est plus possible d’en faire d’autres sur cette page.',
    ar: 'جرت محاولات دفع كثيرة جدًا. لا يمكن إجراء محاولة أخرى في هذه الصفحة.',
  },
  charge_expired: {
    en: 'The time to pay ran out. Choose again how you would like to pay.',
    fr: 'Le délai de paiement est écoulé. Choisissez à nouveau comment payer.',
    ar: 'انتهت مهلة الدفع. اختر مجددًا كيف تودّ أن تدفع.',
  },

  check_fields: {
    en: 'Check the fields marked below.',
    fr: 'Vérifiez les champs signalés ci-dessous.',
    ar: 'تحقق من الحقول المحددة أدناه.',
  },
  card_private: {
    en: 'The card number is not stored. {merchant} sees its last four digits only.',
    fr: 'Le numéro de carte n’est pas conservé. {merchant} n’en voit que les quatre derniers chiffres.',
    ar: 'لا يُحفظ رقم البطاقة. لا يرى {merchant} منه سوى الأرقام الأربعة الأخيرة.',
  },
  network_text: {
    en: 'You enter your card on the secure page of the card network. Afterwards you come back here.',
    fr: 'Vous saisissez votre carte sur la page sécurisée du réseau de paiement. Vous revenez ensuite ici.',
    ar: 'تُدخل بطاقتك في الصفحة الآمنة لشبكة الدفع، ثم تعود إلى هنا.',
  },
  go_to_network: {
    en: 'Continue to pay {amount}',
    fr: 'Continuer pour payer {amount}',
    ar: 'تابع لدفع {amount}',
  },
  not_paid_yet: {
    en: 'I have not paid: go back',
    fr: 'Je n’ai pas payé : revenir',
    ar: 'لم أدفع: عودة',
  },
  paying: { en: 'Paying…', fr: 'Paiement en cours…', ar: 'جارٍ الدفع…' },
  card_number: { en: 'Card number', fr: 'Numéro de carte', ar: 'رقم البطاقة' },
  card_expiry: { en: 'Expiry date', fr: 'Date d’expiration', ar: 'تاريخ الانتهاء' },
  card_expiry_hint: {
    en: 'MM/YY',
    fr: 'MM/AA',
    ar: 'مثال: 09/32',
  },
  card_cvc: { en: 'Security code', fr: 'Code de sécurité', ar: 'رمز الأمان' },
  card_cvc_hint: { en: '3 or 4 digits', fr: '3 ou 4 chiffres', ar: '3 أو 4 أرقام' },
  pay_amount: { en: 'Pay {amount}', fr: 'Payer {amount}', ar: 'ادفع {amount}' },
  wrong_number: {
    en: 'Enter the card number as it stands on the card.',
    fr: 'Saisissez le numéro tel qu’il figure sur la carte.',
    ar: 'أدخل رقم البطاقة كما هو مكتوب عليها.',
  },
  wrong_number_missing: {
    en: 'Enter the card number.',
    fr: 'Saisissez le numéro de la carte.',
    ar: 'أدخل رقم البطاقة.',
  },
  wrong_number_short: {
    en: 'This number is too short: digits are missing. Most card numbers have 16 digits.',
    fr: 'Ce numéro est trop court : il manque des chiffres. La plupart en ont 16.',
    ar: 'هذا الرقم قصير: تنقصه أرقام. معظم أرقام البطاقات من 16 رقمًا.',
  },
  wrong_number_digit: {
    en: 'A digit of this number is wrong or missing. Compare it with the number on the card.',
    fr: 'Un chiffre de ce numéro est faux ou manque. Comparez-le avec celui de la carte.',
    ar: 'أحد الأرقام خاطئ أو ناقص. قارنه بالرقم المكتوب على البطاقة.',
  },
  wrong_expiry_missing: {
    en: 'Enter the expiry date, such as 09/32.',
    fr: 'Saisissez la date d’expiration, par exemple 09/32.',
    ar: 'أدخل تاريخ الانتهاء، مثل 09/32.',
  },
  wrong_cvc_missing: {
    en: 'Enter the security code. On most cards it stands on the back.',
    fr: 'Saisissez le code de sécurité. Il est le plus souvent au dos de la carte.',
    ar: 'أدخل رمز الأمان. يوجد على ظهر معظم البطاقات.',
  },
  wrong_test_number: {
    en: 'Enter the number of one of the test cards below. Real cards do not work in test mode.',
    fr: 'Saisissez le numéro de l’une des cartes de test ci-dessous. Les vraies cartes ne fonctionnent pas en mode test.',
    ar: 'أدخل رقم إحدى بطاقات الاختبار أدناه. لا تعمل البطاقات الحقيقية في وضع الاختبار.',
  },
  wrong_expiry: {
    en: 'Enter the expiry date of a card that is still valid, such as 09/32.',
    fr: 'Saisissez la date d’expiration d’une carte encore valable, par exemple 09/32.',
    ar: 'أدخل تاريخ انتهاء بطاقة ما زالت صالحة، مثل 09/32.',
  },
  wrong_cvc: {
    en: 'Enter the security code: 3 digits, or 4 for American Express.',
    fr: 'Saisissez le code de sécurité : 3 chiffres, ou 4 pour American Express.',
    ar: 'أدخل رمز الأمان: 3 أرقام، أو 4 لبطاقات أمريكان إكسبريس.',
  },
  test_cards: { en: 'Test cards', fr: 'Cartes de test', ar: 'بطاقات الاختبار' },
  test_cards_hint: {
    en: 'With any expiry date in the future and any security code.',
    fr: 'Avec n’importe quelle date d’expiration future et n’importe quel code de sécurité.',
    ar: 'مع أي تاريخ انتهاء في المستقبل وأي رمز أمان.',
  },
  test_card_outcome: { en: 'What happens', fr: 'Ce qui se passe', ar: 'ما يحدث' },

  challenge_title: {
    en: 'Confirm with your bank',
    fr: 'Confirmez auprès de votre banque',
    ar: 'أكّد الدفع لدى البنك',
  },
  challenge_text: {
    en: 'Your bank asks you to confirm this payment with the card ending in {last4}.',
    fr: 'Votre banque vous demande de confirmer ce paiement avec la carte se terminant par {last4}.',
    ar: 'يطلب منك البنك تأكيد هذا الدفع بالبطاقة المنتهية بالأرقام {last4}.',
  },
  challenge_test: {
    en: 'This step stands for the page of the bank (3-D Secure).',
    fr: 'Cette étape tient lieu de page de la banque (3-D Secure).',
    ar: 'تمثل هذه الخطوة صفحة البنك (\u20683-D Secure\u2069).',
  },
  challenge_pass: { en: 'Confirm the payment', fr: 'Confirmer le paiement', ar: 'تأكيد الدفع' },
  challenge_fail: { en: 'Refuse the payment', fr: 'Refuser le paiement', ar: 'رفض الدفع' },

  voucher_text: {
    en: 'Give this code to a payment agent and pay {amount} in cash. Print this page, or keep the code.',
    fr: 'Donnez ce code à un agent de paiement et réglez {amount} en espèces. Imprimez cette page ou notez le code.',
    ar: 'أعطِ هذا الرمز لوكيل دفع وادفع {amount} نقدًا. اطبع هذه الصفحة أو احتفظ بالرمز.',
  },
  voucher_agents: { en: 'Where to pay', fr: 'Où payer', ar: 'أين تدفع' },
  amount: { en: 'Amount', fr: 'Montant', ar: 'المبلغ' },
  voucher_code: { en: 'Code', fr: 'Code', ar: 'الرمز' },
  voucher_until: {
    en: 'Pay before (Morocco time)',
    fr: 'À régler avant le (heure du Maroc)',
    ar: 'يُدفع قبل (بتوقيت المغرب)',
  },
  voucher_qr: {
    en: 'QR code of the number above',
    fr: 'Code QR du numéro ci-dessus',
    ar: 'رمز QR للرقم أعلاه',
  },
  copy: { en: 'Copy the code', fr: 'Copier le code', ar: 'نسخ الرمز' },
  copied: { en: 'Copied', fr: 'Copié', ar: 'تم النسخ' },
  print: { en: 'Print', fr: 'Imprimer', ar: 'طباعة' },
  print_receipt: { en: 'Print the receipt', fr: 'Imprimer le reçu', ar: 'طباعة الإيصال' },
  voucher_after: {
    en: '{merchant} hears of your payment as soon as the agent has taken it, and this page shows the receipt.',
    fr: '{merchant} sera informé de votre paiement dès que l’agent l’aura encaissé, et cette page affichera le reçu.',
    ar: 'يُبلَّغ {merchant} بدفعك فور أن يستلمه الوكيل، وتعرض هذه الصفحة الإيصال.',
  },
  voucher_test: {
    en: 'In test mode no agent takes this code: pay it with the cash_payments test helper of the API.',
    fr: 'En mode test, aucun agent n’accepte ce code : réglez-le avec la route de test cash_payments de l’API.',
    ar: 'في وضع الاختبار لا يقبل أي وكيل هذا الرمز: ادفعه عبر أداة الاختبار cash_payments في واجهة API.',
  },

  opening_title: { en: 'One moment, please', fr: 'Un instant, s’il vous plaît', ar: 'لحظة من فضلك' },
  processing_title: {
    en: 'Your payment is being processed',
    fr: 'Votre paiement est en cours de traitement',
    ar: 'دفعك قيد المعالجة',
  },
  processing_text: {
    en: 'Do not pay again. This page looks for news by itself; you can also close it.',
    fr: 'Ne payez pas une seconde fois. Cette page s’actualise d’elle-même ; vous pouvez aussi la fermer.',
    ar: 'لا تدفع مرة أخرى. تُحدَّث هذه الصفحة تلقائيًا، ويمكنك أيضًا إغلاقها.',
  },
  check_again: { en: 'Check again', fr: 'Vérifier à nouveau', ar: 'تحقق مجددًا' },
  paid_title: { en: 'Payment complete', fr: 'Paiement effectué', ar: 'تم الدفع' },
  paid_text: {
    en: 'Your payment of {amount} to {merchant} succeeded.',
    fr: 'Votre paiement de {amount} à {merchant} a réussi.',
    ar: 'نجح دفعك بمبلغ {amount} إلى {merchant}.',
  },
  receipt_merchant: { en: 'Paid to', fr: 'Payé à', ar: 'دُفع إلى' },
  receipt_date: { en: 'Date (Morocco time)', fr: 'Date (heure du Maroc)', ar: 'التاريخ (بتوقيت المغرب)' },
  receipt_method: { en: 'Paid by', fr: 'Moyen de paiement', ar: 'وسيلة الدفع' },
  receipt_reference: { en: 'Reference', fr: 'Référence', ar: 'المرجع' },
  card_ending: {
    en: '{brand} card ending in {last4}',
    fr: 'Carte {brand} se terminant par {last4}',
    ar: 'بطاقة {brand} تنتهي بالأرقام {last4}',
  },
  going_back: {
    en: 'You are being taken back to {merchant}.',
    fr: 'Vous êtes redirigé vers {merchant}.',
    ar: 'تجري إعادتك إلى {merchant}.',
  },
  failed_title: {
    en: 'The payment did not go through',
    fr: 'Le paiement n’a pas abouti',
    ar: 'لم يكتمل الدفع',
  },
  failed_text: {
    en: 'To try again, return to {merchant}.',
    fr: 'Pour réessayer, retournez chez {merchant}.',
    ar: 'للمحاولة مجددًا، عُد إلى {merchant}.',
  },

  canceled_title: {
    en: 'This payment was canceled',
    fr: 'Ce paiement a été annulé',
    ar: 'أُلغي هذا الدفع',
  },
  canceled_text: {
    en: 'You were not charged, and a cash code that this page gave is no longer valid. To order again, return to {merchant}.',
    fr: 'Vous n’avez pas été débité, et un code de paiement en espèces fourni par cette page n’est plus valable. Pour commander à nouveau, retournez chez {merchant}.',
    ar: 'لم يُخصم منك أي مبلغ، ولم يعد أي رمز دفع نقدي صدر عن هذه الصفحة صالحًا. للطلب مجددًا، عُد إلى {merchant}.',
  },
  expired_title: {
    en: 'This payment page has expired',
    fr: 'Cette page de paiement a expiré',
    ar: 'انتهت صلاحية صفحة الدفع هذه',
  },
  expired_text: {
    en: 'It can no longer be used to pay, and a cash code that it gave is no longer valid. To pay, return to {merchant} and start again.',
    fr: 'Elle ne permet plus de payer, et un code de paiement en espèces qu’elle a fourni n’est plus valable. Pour payer, retournez chez {merchant} et recommencez.',
    ar: 'لم يعد الدفع عبرها ممكنًا، ولم يعد أي رمز دفع نقدي صدر عنها صالحًا. للدفع، عُد إلى {merchant} وابدأ من جديد.',
  },

  missing_title: { en: 'Page not found', fr: 'Page introuvable', ar: 'الصفحة غير موجودة' },
  missing_text: {
    en: 'No payment has this address. Check the link that brought you here.',
    fr: 'Aucun paiement n’a cette adresse. Vérifiez le lien qui vous a mené ici.',
    ar: 'لا توجد عملية دفع بهذا العنوان. تحقق من الرابط الذي أوصلك إلى هنا.',
  },
  stale_title: {
    en: 'This form is out of date',
    fr: 'Ce formulaire n’est plus à jour',
    ar: 'هذا النموذج قديم',
  },
  stale_text: {
    en: 'For your safety nothing was done. Open the page again and send the form once more; your browser must accept cookies.',
    fr: 'Par sécurité, rien n’a été fait. Rouvrez la page et renvoyez le formulaire ; votre navigateur doit accepter les cookies.',
    ar: 'حرصًا على سلامتك لم يُنفَّذ أي شيء. افتح الصفحة مجددًا وأرسل النموذج مرة أخرى؛ يجب أن يقبل متصفحك ملفات تعريف الارتباط.',
  },
  open_again: { en: 'Open the page again', fr: 'Rouvrir la page', ar: 'افتح الصفحة مجددًا' },
  busy_title: { en: 'Too many visits', fr: 'Trop de visites', ar: 'زيارات كثيرة جدًا' },
  busy_text: {
    en: 'Your network has opened too many pages. Wait {seconds}, then open this page again.',
    fr: 'Votre réseau a ouvert trop de pages. Patientez {seconds}, puis rouvrez cette page.',
    ar: 'فتحت شبكتك صفحات كثيرة جدًا. انتظر {seconds} ثم افتح هذه الصفحة مجددًا.',
  },
  method_not_allowed: {
    en: 'This address cannot be used in this way.',
    fr: 'Cette adresse ne peut pas être utilisée ainsi.',
    ar: 'لا يمكن استخدام هذا العنوان بهذه الطريقة.',
  },
  trouble_title: {
    en: 'Something went wrong on our side',
    fr: 'Un problème est survenu de notre côté',
    ar: 'حدث خلل من جهتنا',
  },
  trouble_text: {
    en: 'Before you pay again, check how this payment stands.',
    fr: 'Avant de payer à nouveau, vérifiez où en est ce paiement.',
    ar: 'قبل أن تدفع مجددًا، تحقق من حالة هذا الدفع.',
  },
  check_payment: { en: 'Check the payment', fr: 'Vérifier le paiement', ar: 'تحقق من الدفع' },
} as const satisfies Record<string, Texts>;

export type PageMessage = keyof typeof pageMessages;

// A Latin name in an Arabic sentence, or an Arabic name in a French one, keeps its own writing
// direction.
const isolate = '\u2068';
const popIsolate = '\u2069';

/** The text of `key` with its values, as plain text. Throws when one is missing. */
export function say(
  key: PageMessage,
  language: Language,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return fillIn(pageMessages[key][language], language, values);
}

/** A text with its values, set as the language wants it. Throws when one is missing. */
export function fillIn(
  text: string,
  language: Language,
  values: Readonly<Record<string, string | number>>,
): string {
  return spaced(text, language).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the text "${text}" lacks a value for ${name}`);
    const shown = typeof value === 'number' ? counted(value, name, language) : contained(value);
    return language === 'ar' ? `${isolate}${shown}${popIsolate}` : shown;
  });
}
