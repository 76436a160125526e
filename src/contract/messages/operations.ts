// Texts for operations that are refused on the merits or that fail: payments, refunds, webhook
// endpoints, declined cards. Only table.ts imports them.

import type { Language } from '../vocabulary.ts';

export const operationMessages = {
  amount_too_small: {
    en: 'The amount is below the minimum of {minimum} centimes for payments by {method}.',
    fr: 'Le montant est inférieur au minimum de {minimum} centimes applicable au moyen de paiement « {method} ».',
    ar: 'المبلغ أقل من الحد الأدنى المطبق على وسيلة الدفع «{method}»، وهو {minimum} سنتيم.',
  },
  amount_too_large: {
    en: 'The amount exceeds what remains refundable: {remaining} centimes.',
    fr: 'Le montant dépasse ce qui reste remboursable : {remaining} centimes.',
    ar: 'يتجاوز المبلغ ما تبقى قابلًا للاسترداد (بالسنتيم): {remaining}.',
  },
  payment_method_unavailable: {
    en: 'Payments by {method} are not available to this account in this mode.',
    fr: 'Le moyen de paiement « {method} » n’est pas disponible pour ce compte dans ce mode.',
    ar: 'وسيلة الدفع «{method}» غير متاحة لهذا الحساب في هذا الوضع.',
  },
  payment_intent_unexpected_state: {
    en: 'The status of this payment intent is {status}, which does not allow this action.',
    fr: 'Le statut de cette intention de paiement est « {status} », ce qui ne permet pas cette action.',
    ar: 'حالة عملية الدفع هذه هي «{status}»، وهي لا تسمح بهذا الإجراء.',
  },
  'payment_intent_unexpected_state.charges': {
    en: 'There have been too many attempts to pay this payment intent: it takes no other by {method}. Create a new one.',
    fr: 'Cette intention de paiement a fait l’objet de trop de tentatives : elle n’en accepte plus d’autre avec le moyen de paiement « {method} ». Créez-en une nouvelle.',
    ar: 'جرت محاولات كثيرة جدًا لدفع عملية الدفع هذه: لن تُقبل محاولة أخرى بوسيلة الدفع «{method}». أنشئ عملية دفع جديدة.',
  },
  payment_intent_busy: {
    en: 'Another request is confirming or changing this payment. Nothing was changed; send the request again.',
    fr: 'Une autre requête est en train de confirmer ou de modifier ce paiement. Rien n’a été modifié ; renvoyez la requête.',
    ar: 'يجري طلب آخر تأكيدًا لهذا الدفع أو تعديلًا عليه. لم يتغير أي شيء؛ أعد إرسال الطلب.',
  },
  charge_unexpected_state: {
    en: 'The status of this charge is {status}, which does not allow this action.',
    fr: 'Le statut de cette tentative de paiement est « {status} », ce qui ne permet pas cette action.',
    ar: 'حالة محاولة الدفع هذه هي «{status}»، وهي لا تسمح بهذا الإجراء.',
  },
  refund_unsupported_payment_method: {
    en: 'Cash payments cannot be refunded.',
    fr: 'Les paiements en espèces ne peuvent pas être remboursés.',
    ar: 'لا يمكن رد المدفوعات النقدية.',
  },
  url_not_allowed: {
    en: 'This webhook address is not allowed: it must use https, carry no user name or password, and name a host that resolves to public addresses only. For a receiver on your own machine use “payments listen”, which needs no address.',
    fr: 'Cette adresse de webhook n’est pas autorisée : elle doit utiliser https, ne contenir ni nom d’utilisateur ni mot de passe et désigner un hôte dont toutes les adresses sont publiques. Pour un récepteur sur votre propre machine, utilisez « payments listen », qui n’a besoin d’aucune adresse.',
    ar: 'عنوان webhook هذا غير مسموح به: يجب أن يستخدم https، وألا يتضمن اسم مستخدم أو كلمة مرور، وأن يشير إلى مضيف جميع عناوينه عامة. لاستقبال الأحداث على جهازك استخدم «payments listen» الذي لا يحتاج إلى أي عنوان.',
  },
  'url_not_allowed.unresolved': {
    en: 'The host of this webhook address did not resolve just now. Check its name and its DNS records, then send the request again.',
    fr: 'L’hôte de cette adresse de webhook n’a pas pu être résolu à l’instant. Vérifiez son nom et ses enregistrements DNS, puis renvoyez la requête.',
    ar: 'تعذّر الآن العثور على عنوان مضيف webhook هذا. تحقق من اسمه ومن سجلات DNS الخاصة به، ثم أعد إرسال الطلب.',
  },
  webhook_endpoint_limit_reached: {
    en: 'There are already {max} webhook endpoints in this mode. Delete one before creating another.',
    fr: 'Ce mode compte déjà {max} points de terminaison webhook. Supprimez-en un avant d’en créer un autre.',
    ar: 'بلغ عدد نقاط نهاية webhook في هذا الوضع الحد الأقصى: {max}. احذف إحداها قبل إنشاء أخرى.',
  },
  webhook_endpoints_busy: {
    en: 'Another change to the webhook endpoints is under way. Nothing was changed; send the request again.',
    fr: 'Une autre modification des points de terminaison webhook est en cours. Rien n’a été modifié ; renvoyez la requête.',
    ar: 'يجري حاليًا تعديل آخر على نقاط نهاية webhook. لم يتغير أي شيء؛ أعد إرسال الطلب.',
  },
  'invalid_request.refund_state': {
    en: 'The status of this refund is {status}, which does not allow this action.',
    fr: 'Le statut de ce remboursement est « {status} », ce qui ne permet pas cette action.',
    ar: 'حالة عملية الاسترداد هذه هي «{status}»، وهي لا تسمح بهذا الإجراء.',
  },
  'invalid_request.link_state': {
    en: 'This payment link can’t be opened: it is {state}.',
    fr: 'Ce lien de paiement ne peut pas être ouvert : son état est « {state} ».',
    ar: 'لا يمكن فتح رابط الدفع هذا: حالته «{state}».',
  },
  'invalid_request.payment_links': {
    en: 'There are {max} payment links, and no more are possible. Remove one that is not needed any more.',
    fr: 'Il y a déjà {max} liens de paiement, le maximum. Supprimez-en un dont vous n’avez plus besoin.',
    ar: 'يوجد {max} من روابط الدفع، وهو الحد الأقصى. احذف رابطًا لم تعد بحاجة إليه.',
  },
  'invalid_request.session_state': {
    en: 'The status of this checkout session is {status}, which does not allow this action.',
    fr: 'Le statut de cette session de paiement est « {status} », ce qui ne permet pas cette action.',
    ar: 'حالة جلسة الدفع هذه هي «{status}»، وهي لا تسمح بهذا الإجراء.',
  },
  'invalid_request.review_state': {
    en: 'This review is already closed.',
    fr: 'Cette vérification est déjà close.',
    ar: 'هذه المراجعة مغلقة بالفعل.',
  },
  'invalid_request.delivery_state': {
    en: 'Nothing can be sent to this endpoint while it is {status}.',
    fr: 'Rien ne peut être envoyé à ce point de terminaison : son statut est « {status} ».',
    ar: 'لا يمكن إرسال أي شيء إلى نقطة الاستقبال هذه: حالتها «{status}».',
  },
  card_declined: {
    en: 'The card was declined.',
    fr: 'La carte a été refusée.',
    ar: 'رُفضت البطاقة.',
  },
  'card_declined.generic_decline': {
    en: 'The card was declined by its bank.',
    fr: 'La carte a été refusée par la banque émettrice.',
    ar: 'رُفضت البطاقة من البنك المُصدر لها.',
  },
  'card_declined.insufficient_funds': {
    en: 'The card was declined: insufficient funds.',
    fr: 'La carte a été refusée : provision insuffisante.',
    ar: 'رُفضت البطاقة: الرصيد غير كافٍ.',
  },
  'card_declined.lost_card': {
    en: 'The card was declined: it was reported lost.',
    fr: 'La carte a été refusée : elle a été déclarée perdue.',
    ar: 'رُفضت البطاقة: أُبلغ عن فقدانها.',
  },
  'card_declined.stolen_card': {
    en: 'The card was declined: it was reported stolen.',
    fr: 'La carte a été refusée : elle a été déclarée volée.',
    ar: 'رُفضت البطاقة: أُبلغ عن سرقتها.',
  },
  'card_declined.expired_card': {
    en: 'The card was declined: it has expired.',
    fr: 'La carte a été refusée : elle a expiré.',
    ar: 'رُفضت البطاقة: انتهت صلاحيتها.',
  },
  'card_declined.incorrect_cvc': {
    en: 'The card was declined: the security code is wrong.',
    fr: 'La carte a été refusée : le code de sécurité est incorrect.',
    ar: 'رُفضت البطاقة: رمز الأمان غير صحيح.',
  },
  'card_declined.processing_error': {
    en: 'The card could not be processed. Try again, or use another card.',
    fr: 'La carte n’a pas pu être traitée. Réessayez ou utilisez une autre carte.',
    ar: 'تعذرت معالجة البطاقة. أعد المحاولة أو استخدم بطاقة أخرى.',
  },
  'card_declined.do_not_honor': {
    en: 'The card was declined by its bank, which gave no reason.',
    fr: 'La carte a été refusée par la banque émettrice, sans motif.',
    ar: 'رُفضت البطاقة من البنك المُصدر لها دون ذكر السبب.',
  },
  'card_declined.transaction_not_allowed': {
    en: 'The card was declined: its bank does not allow this payment.',
    fr: 'La carte a été refusée : la banque émettrice n’autorise pas ce paiement.',
    ar: 'رُفضت البطاقة: لا يسمح البنك المُصدر لها بهذا الدفع.',
  },
  'failure.cash_refused': {
    en: 'The payment agent refused the cash payment.',
    fr: 'L’agent de paiement a refusé le paiement en espèces.',
    ar: 'رفض وكيل الدفع استلام المبلغ نقدًا.',
  },
  'failure.charge_expired': {
    en: 'The customer did not pay in time.',
    fr: 'Le client n’a pas payé dans le délai imparti.',
    ar: 'لم يدفع العميل في الوقت المحدد.',
  },
  'failure.charge_canceled': {
    en: 'This attempt was canceled before the customer paid.',
    fr: 'Cette tentative a été annulée avant que le client ne paie.',
    ar: 'أُلغيت هذه المحاولة قبل أن يدفع العميل.',
  },
} as const satisfies Record<string, Readonly<Record<Language, string>>>;
