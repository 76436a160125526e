// The texts of the pages about payments and cash.

import { sayFrom, texts } from './say.ts';

export const paymentMessages = texts({
  search: 'Search | Rechercher | بحث',
  search_hint: `An id, a cash code, an e-mail address, an amount, a card’s last four digits, a reference, a metadata value, or words of the description
    Identifiant, code espèces, adresse e-mail, montant, quatre derniers chiffres de la carte, référence, valeur de métadonnée ou mots de la description
    مُعرّف أو رمز نقدي أو بريد إلكتروني أو مبلغ أو آخر أربعة أرقام من البطاقة أو مرجع أو قيمة من البيانات الوصفية أو كلمات من الوصف`,
  search_long: `Search for at most {max} characters.
    Cherchez au plus {max} caractères.
    ابحث عن نص لا يتجاوز {max} حرفًا.`,
  customers_many: `More than {max} customers have this address: only the newest are searched, and an export would not be whole. Open a customer instead.
    Plus de {max} clients ont cette adresse\u00a0: seuls les plus récents sont cherchés, et un export ne serait pas complet. Ouvrez plutôt un client.
    لهذا العنوان أكثر من {max} من العملاء: يُبحث في أحدثهم فقط، ولن يكون التصدير كاملًا. افتح صفحة عميل بدلًا من ذلك.`,
  any: 'Any | Tous | الكل',
  method: 'Method | Moyen | الوسيلة',
  card: 'Card | Carte | بطاقة',
  cash: 'Cash | Espèces | نقدًا',
  reference: 'Reference | Référence | المرجع',
  requires_payment_method: 'Not paid yet | Pas encore payé | لم تُدفع بعد',
  requires_action: 'Waiting for the customer | En attente du client | بانتظار العميل',
  processing: 'Being confirmed | En cours de confirmation | قيد التأكيد',
  succeeded: 'Paid | Payé | مدفوعة',
  canceled: 'Canceled | Annulé | ملغاة',
  refunded: 'Refunded | Remboursé | مستردة',
  partly_refunded: 'Partly refunded | Remboursé en partie | مستردة جزئيًا',
  pending: 'Pending | En attente | قيد الانتظار',
  failed: 'Failed | Échoué | فشلت',
  why_failed: 'Why it failed | Motif de l’échec | سبب الفشل',
  generic_decline: 'Card declined | Carte refusée | رُفضت البطاقة',
  insufficient_funds: 'Insufficient funds | Provision insuffisante | الرصيد غير كافٍ',
  lost_card: 'Lost card | Carte perdue | بطاقة مفقودة',
  stolen_card: 'Stolen card | Carte volée | بطاقة مسروقة',
  expired_card: 'Expired card | Carte expirée | بطاقة منتهية الصلاحية',
  incorrect_cvc: 'Wrong security code | Code de sécurité erroné | رمز أمان خاطئ',
  processing_error: `The bank could not process it
    La banque n’a pas pu traiter le paiement
    تعذّر على البنك معالجة الدفع`,
  do_not_honor: 'Refused by the bank | Refusée par la banque | رفضها البنك',
  transaction_not_allowed: `The card does not allow this payment
    La carte n’autorise pas ce paiement
    البطاقة لا تسمح بهذا الدفع`,
  cash_payment_refused: 'The cash payment was refused | Le paiement en espèces a été refusé | رُفض الدفع نقدًا',
  payment_attempt_expired: `The customer did not pay in time
    Le client n’a pas payé à temps
    لم يدفع العميل في الوقت المحدد`,
  payment_attempt_canceled: 'Ended before it was paid | Interrompue avant le paiement | أُنهيت قبل الدفع',
  made: 'Made | Effectué | تمّ',
  no_payments: 'No payments yet | Aucun paiement pour le moment | لا توجد مدفوعات بعد',
  searched_to: `The payments back to {date} were searched.
    La recherche a porté sur les paiements jusqu’au {date}.
    شمل البحث المدفوعات حتى {date}.`,
  search_on: 'Search older payments | Chercher plus loin | ابحث في الأقدم',
  export: 'Export | Exporter | تصدير',
  export_what: 'What | Quoi | ماذا',
  export_payment_intents: 'Payments | Paiements | المدفوعات',
  export_charges: 'Attempts to pay | Tentatives de paiement | محاولات الدفع',
  export_refunds: 'Refunds | Remboursements | المبالغ المستردة',
  format: 'Format | Format | الصيغة',
  format_hint: `For accountants: dirhams, times in Morocco, words. The others are exact, as the API answers.
    Comptabilité\u00a0: dirhams, heure du Maroc, libellés. Les autres sont exacts, comme les réponses de l’API.
    للمحاسبة: الدرهم وتوقيت المغرب وكلمات. أما الصيغ الأخرى فمطابقة لأجوبة API.`,
  format_accounts: 'For accountants (CSV) | Pour la comptabilité (CSV) | للمحاسبة (CSV)',
  format_csv: 'Exact (CSV) | Exact (CSV) | مطابق (CSV)',
  format_ndjson: 'Exact (NDJSON) | Exact (NDJSON) | مطابق (NDJSON)',
  export_all: `All payments. Filter the list above to export only some.
    Tous les paiements. Filtrez la liste ci-dessus pour n’en exporter qu’une partie.
    كل المدفوعات. صفِّ القائمة أعلاه لتصدير بعضها فقط.`,
  export_filtered: `What the filters above select.
    Ce que sélectionnent les filtres ci-dessus.
    ما تحدده عوامل التصفية أعلاه.`,
  paid_with: 'Card or code | Carte ou code | البطاقة أو الرمز',
  currency: 'Currency | Devise | العملة',
  refund_heading: 'Refund | Remboursement | الاسترداد',
  settled: 'Settled | Réglé le | تاريخ التسوية',
  download: 'Download | Télécharger | تنزيل',
  refunds: 'Refunds | Remboursements | المبالغ المستردة',
  session: 'Checkout session | Session de paiement | جلسة الدفع',
  attempts: 'Attempts to pay | Tentatives de paiement | محاولات الدفع',
  no_reason: 'No reason | Sans motif | دون سبب',
  duplicate: 'Paid twice | Payé en double | دُفع مرتين',
  fraudulent: 'Fraud | Fraude | احتيال',
  requested_by_customer: 'The customer asked for it | À la demande du client | بطلب من العميل',
  abandoned: 'The customer gave up | Le client a renoncé | تراجع العميل',
  refund: 'Refund | Rembourser | استرداد',
  refund_hint: `At most {amount}. Leave it empty to refund all of it.
    Au plus {amount}. Laissez vide pour tout rembourser.
    {amount} على الأكثر. اتركه فارغًا لردّ المبلغ كله.`,
  refund_go_on: 'Refund… | Rembourser… | استرداد…',
  refund_question: `Refund {amount} to {to}?
    Rembourser {amount} sur {to}\u00a0?
    هل تريد ردّ {amount} إلى {to}؟`,
  refund_to_card: 'the card that paid | la carte qui a payé | البطاقة التي دُفع بها',
  refund_final: `A refund can’t be taken back.
    Un remboursement ne peut pas être annulé.
    لا يمكن التراجع عن الاسترداد.`,
  refund_open: `The refund may not have been made yet. Send it again from here: it is made once, however often you do.
    Le remboursement n’a peut-être pas encore été fait. Renvoyez-le d’ici\u00a0: il n’est fait qu’une fois, même renvoyé.
    ربما لم يتمّ الاسترداد بعد. أعد إرساله من هنا: لن يتمّ إلا مرة واحدة مهما أعدت إرساله.`,
  refund_now: 'Refund {amount} | Rembourser {amount} | ردّ {amount}',
  refund_not: 'Back to the payment | Retour au paiement | العودة إلى الدفعة',
  left_after: 'Refundable afterwards | Remboursable ensuite | القابل للاسترداد بعد ذلك',
  nothing_to_refund: `Nothing of this payment can be refunded.
    Rien ne peut être remboursé sur ce paiement.
    لا يمكن استرداد أي مبلغ من هذه الدفعة.`,
  refund_done: `The refund is on its way to the customer.
    Le remboursement est en route vers le client.
    المبلغ المسترد في طريقه إلى العميل.`,
  cancel: 'Cancel the payment | Annuler le paiement | إلغاء الدفعة',
  cancel_explained: `The customer can’t pay any more after that.
    Le client ne pourra plus payer ensuite.
    لن يتمكن العميل من الدفع بعد ذلك.`,
  cancel_done: 'The payment is canceled. | Le paiement est annulé. | أُلغيت الدفعة.',
  amount_too_small: `The smallest amount is {amount}.
    Le plus petit montant est {amount}.
    أصغر مبلغ هو {amount}.`,
  amount_above_max: `The largest amount is {amount}.
    Le plus grand montant est {amount}.
    أكبر مبلغ هو {amount}.`,
  refund_too_large: `At most {amount} can be refunded.
    On peut rembourser {amount} au plus.
    يمكن استرداد {amount} على الأكثر.`,
  timeline: 'What happened | Historique | ما الذي حدث',
  when: 'When | Quand | متى',
  what: 'What | Quoi | ماذا',
  by_request: 'API request | Requête API | طلب API',
  by_customer: 'The customer | Le client | العميل',
  by_network: 'The payment network | Le réseau de paiement | شبكة الدفع',
  by_time: 'Time ran out | Délai écoulé | انتهت المهلة',
  by_operator: 'A person | Une personne | شخص',
  'payment_intent.created': 'Payment created | Paiement créé | أُنشئت الدفعة',
  'payment_intent.requires_action': 'The customer can pay | Le client peut payer | يمكن للعميل الدفع',
  'payment_intent.processing': `The customer sent the payment
    Le client a envoyé le paiement
    أرسل العميل الدفع`,
  'payment_intent.canceled': 'Payment canceled | Paiement annulé | أُلغيت الدفعة',
  'charge.succeeded': '{amount} received | {amount} reçus | استُلم {amount}',
  'charge.failed': 'The attempt failed | La tentative a échoué | فشلت المحاولة',
  'refund.created': 'Refund of {amount} asked for | Remboursement de {amount} demandé | طُلب استرداد {amount}',
  'refund.updated': '{amount} refunded | {amount} remboursés | رُدّ {amount}',
  'refund.failed': `The refund of {amount} failed
    Le remboursement de {amount} a échoué
    فشل استرداد {amount}`,
  'review.opened': `Review opened: {amount} arrived
    Vérification ouverte : {amount} arrivés
    فُتحت مراجعة: وصل {amount}`,
  'review.closed': 'Review closed | Vérification close | أُغلقت المراجعة',
  make_cash: 'Make a cash payment | Créer un paiement en espèces | إنشاء دفعة نقدية',
  customer_email: 'Customer’s e-mail address | Adresse e-mail du client | البريد الإلكتروني للعميل',
  email_hint: `Optional. The payment is listed with this customer.
    Facultatif. Le paiement est rattaché à ce client.
    اختياري. تُدرج الدفعة مع هذا العميل.`,
  email_invalid: `This is not an e-mail address.
    Ce n’est pas une adresse e-mail.
    هذا ليس بريدًا إلكترونيًا.`,
  description_hint: `Optional. The customer sees it.
    Facultatif. Le client le voit.
    اختياري. يراه العميل.`,
  make_code: 'Make the code | Créer le code | أنشئ الرمز',
  code: 'Code | Code | الرمز',
  cash_done: `The code is issued. The customer pays it at an agent.
    Le code est émis. Le client le règle chez un agent.
    صدر الرمز. يدفعه العميل عند وكيل.`,
  print_voucher: 'Voucher to print | Bon à imprimer | قسيمة للطباعة',
  card_page: 'Page to pay | Page de paiement | صفحة الدفع',
  waiting_codes: 'Codes waiting to be paid | Codes en attente | رموز بانتظار الدفع',
  no_waiting_codes: `No code is waiting to be paid
    Aucun code en attente de paiement
    لا يوجد رمز بانتظار الدفع`,
  find_code: 'Find a code | Trouver un code | البحث عن رمز',
  code_hint: '12 digits | 12 chiffres | 12 رقمًا',
  find: 'Find | Trouver | ابحث',
  code_unknown: 'No payment has this code. | Aucun paiement ne porte ce code. | لا توجد دفعة بهذا الرمز.',
  cash_unavailable: `Cash is not available in this mode.
    Les espèces ne sont pas disponibles dans ce mode.
    الدفع نقدًا غير متاح في هذا الوضع.`,
});

export const sayPayment = sayFrom(paymentMessages);
