// The texts of the pages about customers, checkout sessions and reviews.

import { sayFrom, texts } from './say.ts';

export const shopMessages = texts({
  phone: 'Telephone | Téléphone | الهاتف',
  since: 'Since | Depuis | منذ',
  no_customers: 'No customers yet | Aucun client pour le moment | لا يوجد عملاء بعد',
  no_customers_text: `Customers come by the API, or with the e-mail address of a payment that you make here.
    Les clients viennent de l’API, ou de l’adresse e-mail d’un paiement créé ici.
    يأتي العملاء عبر API أو مع البريد الإلكتروني لدفعة تنشئها هنا.`,
  no_payments: `No payments of this customer yet
    Aucun paiement de ce client pour le moment
    لا توجد مدفوعات لهذا العميل بعد`,
  deleted: 'Deleted customer | Client supprimé | عميل محذوف',
  session: 'Session | Session | الجلسة',
  open: 'Open | Ouverte | مفتوحة',
  complete: 'Paid | Payée | مدفوعة',
  expired: 'Expired | Expirée | منتهية',
  no_sessions: 'No checkout sessions yet | Aucune session de paiement | لا توجد جلسات دفع بعد',
  make_link: 'Make a payment link | Créer un lien de paiement | إنشاء رابط دفع',
  links: 'Payment links | Liens de paiement | روابط الدفع',
  sessions: 'Checkout sessions | Sessions de paiement | جلسات الدفع',
  link_use: 'Can be paid | Peut être payé | يمكن دفعه',
  link_single: 'Once | Une fois | مرة واحدة',
  link_many: 'Any number of times | Autant de fois qu’on veut | مرات غير محدودة',
  link_lasts: 'Ends | Prend fin | ينتهي',
  lasts_hour: 'After an hour | Après une heure | بعد ساعة',
  lasts_day: 'After a day | Après un jour | بعد يوم',
  lasts_week: 'After a week | Après une semaine | بعد أسبوع',
  lasts_month: 'After 30 days | Après 30 jours | بعد 30 يومًا',
  lasts_quarter: 'After 90 days | Après 90 jours | بعد 90 يومًا',
  lasts_year: 'After a year | Après un an | بعد سنة',
  lasts_always: 'Never | Jamais | أبدًا',
  ends_at: 'Or ends at | Ou prend fin le | أو ينتهي في',
  ends_at_hint: `Day and time in Morocco. Leave it empty to keep the choice above.
    Jour et heure du Maroc. Laissez vide pour garder le choix ci-dessus.
    اليوم والساعة بتوقيت المغرب. اتركه فارغًا للإبقاء على الاختيار أعلاه.`,
  ends_at_invalid: `Enter a day and a time, such as 2026-12-31T18:00.
    Indiquez un jour et une heure, par exemple 2026-12-31T18:00.
    أدخل يومًا وساعة، مثل 2026-12-31T18:00.`,
  ends_at_soon: `Choose a time that is at least half an hour from now.
    Choisissez une heure dans une demi-heure au moins.
    اختر وقتًا بعد نصف ساعة من الآن على الأقل.`,
  ends_at_late: `Choose a day within a year from now.
    Choisissez un jour dans l’année qui vient.
    اختر يومًا خلال سنة من الآن.`,
  link_active: 'Active | Actif | نشط',
  link_paused: 'Paused | En pause | متوقف مؤقتًا',
  link_ended: 'Ended | Terminé | منتهٍ',
  link_used: 'Paid | Payé | مدفوع',
  link_payments: 'Payments with this link | Paiements par ce lien | المدفوعات عبر هذا الرابط',
  link_change: 'Pause or remove | Mettre en pause ou supprimer | الإيقاف المؤقت أو الحذف',
  link_pause: 'Pause the link | Mettre le lien en pause | أوقف الرابط مؤقتًا',
  link_pause_text: `Nobody can open it until you open it again. Whoever has opened it already can still pay.
    Personne ne pourra l’ouvrir avant sa réactivation. Qui l’a déjà ouvert peut encore payer.
    لن يتمكن أحد من فتحه حتى تعيد تفعيله. من فتحه من قبل يمكنه الدفع.`,
  link_pause_done: 'The link is paused. | Le lien est en pause. | أُوقف الرابط مؤقتًا.',
  link_resume: 'Open the link again | Réactiver le lien | أعد تفعيل الرابط',
  link_resume_text: `Customers can pay with it again.
    Les clients pourront à nouveau payer avec ce lien.
    سيتمكن العملاء من الدفع به من جديد.`,
  link_resume_done: `Customers can pay with the link again.
    Les clients peuvent à nouveau payer avec ce lien.
    يمكن للعملاء الدفع بالرابط من جديد.`,
  link_remove: 'Remove the link | Supprimer le lien | احذف الرابط',
  link_remove_text: `Its address stops working for good. The payments made with it stay.
    Son adresse cesse de fonctionner définitivement. Les paiements effectués restent.
    يتوقف عنوانه عن العمل نهائيًا. وتبقى المدفوعات التي تمت به.`,
  link: 'Payment link | Lien de paiement | رابط الدفع',
  link_done: `The link is ready. Send it to your customer, or let them scan the code.
    Le lien est prêt. Envoyez-le à votre client ou faites-lui scanner le code.
    الرابط جاهز. أرسله إلى عميلك أو دعه يمسح الرمز.`,
  page_to_pay: 'Page to pay | Page de paiement | صفحة الدفع',
  address_qr: 'The address as a QR code | L’adresse en code QR | العنوان كرمز QR',
  open_page: 'Open the page | Ouvrir la page | افتح الصفحة',
  what_for: 'What it is for | Objet | الغرض',
  what_for_hint: `The customer sees it on the page.
    Le client le voit sur la page.
    يراه العميل في الصفحة.`,
  reference: 'Your reference | Votre référence | مرجعك',
  reference_hint: `Optional, for example the number of an order.
    Facultatif, par exemple un numéro de commande.
    اختياري، مثل رقم الطلب.`,
  methods: 'The customer can pay | Le client peut payer | يمكن للعميل الدفع',
  card: 'By card | Par carte | بالبطاقة',
  cash: 'In cash | En espèces | نقدًا',
  method_missing: `Choose at least one way to pay.
    Choisissez au moins un moyen de paiement.
    اختر وسيلة دفع واحدة على الأقل.`,
  no_methods: `Nobody can pay in this mode yet
    Personne ne peut encore payer dans ce mode
    لا يمكن لأحد الدفع في هذا الوضع بعد`,
  no_methods_text: `You can make a link once a payment method has a payment network and is switched on.
    Un moyen de paiement doit avoir un réseau de paiement et être activé avant que vous puissiez créer un lien.
    يجب أن تكون لوسيلة الدفع شبكة دفع وأن تكون مفعّلة قبل أن تتمكن من إنشاء رابط.`,
  what_is_missing: 'See what is missing | Voir ce qui manque | اعرف ما ينقص',
  success_url: `Where the customer goes after paying
    Où va le client après le paiement
    إلى أين يذهب العميل بعد الدفع`,
  success_url_hint: `A page of your shop. Leave it as it is to show the receipt.
    Une page de votre boutique. Laissez-la telle quelle pour afficher le reçu.
    صفحة من متجرك. اتركها كما هي لعرض الإيصال.`,
  expire: 'End the session now | Mettre fin à la session | أنهِ الجلسة الآن',
  expire_text: `Nobody can pay on its page after that. The payment link that it comes from, if any, can still be used.
    Personne ne pourra plus payer sur sa page. S’il existe, le lien de paiement dont elle vient reste valable.
    لن يتمكن أحد من الدفع في صفحتها بعد ذلك. وإن كان لها رابط دفع فيبقى صالحًا.`,
  expire_done: 'The session has ended. | La session a pris fin. | انتهت الجلسة.',
  show: 'Show | Afficher | عرض',
  open_reviews: 'Open | Ouvertes | المفتوحة',
  all_reviews: 'All | Toutes | الكل',
  no_open_reviews: 'Nothing to look at | Rien à vérifier | لا شيء للمراجعة',
  no_open_reviews_text: `A review is opened when money of another amount arrives, or money that comes too late.
    Une vérification s’ouvre quand un autre montant arrive, ou de l’argent arrivé trop tard.
    تُفتح مراجعة عندما يصل مبلغ مختلف أو يصل المال متأخرًا.`,
  review: 'Review | Vérification | المراجعة',
  expected: 'Expected | Attendu | المتوقع',
  difference: 'Difference | Écart | الفرق',
  too_much: '{amount} too much | {amount} en trop | {amount} زيادة',
  too_little: '{amount} too little | {amount} manquants | {amount} نقص',
  no_difference: 'None | Aucun | لا يوجد',
  another_currency: 'Another currency | Autre devise | عملة أخرى',
  amount_mismatch: 'Another amount | Autre montant | مبلغ مختلف',
  late_payment: 'Too late | Trop tard | متأخر',
  amount_mismatch_text: `The money is not what was asked for. It was not credited to the payment, whose page tells whether it was paid.
    L’argent n’est pas celui demandé. Il n’a pas été crédité au paiement, dont la page dit s’il a été payé.
    المال غير المطلوب. لم يُقيَّد في الدفعة، وتبيّن صفحتها هل دُفعت.`,
  late_payment_text: `The money arrived after the attempt to pay had ended, or its network had reported it for another payment before. Nothing was credited to the payment.
    L’argent est arrivé après la fin de la tentative, ou son réseau l’avait déjà signalé pour un autre paiement. Rien n’a été crédité au paiement.
    وصل المال بعد انتهاء المحاولة، أو سبق أن أبلغت الشبكة عنه لدفعة أخرى. لم يُقيَّد شيء في الدفعة.`,
  closed: 'Closed | Close | مغلقة',
  approved: 'You keep the money | Vous gardez l’argent | تحتفظ بالمال',
  refunded: 'The money goes back | L’argent est rendu | يُردّ المال',
  close: 'Close the review | Clore | الإغلاق',
  close_text: `This notes what you decided; it moves no money. Agree with the payment network, or pay the customer back, outside of this service.
    Cela note votre décision sans déplacer d’argent. Voyez avec le réseau de paiement ou remboursez le client en dehors de ce service.
    هذا يسجّل قرارك ولا ينقل أي مال. اتفق مع شبكة الدفع أو ردّ المال للعميل خارج هذه الخدمة.`,
  close_approved: 'We keep the money | Nous gardons l’argent | نحتفظ بالمال',
  close_refunded: 'We give the money back | Nous rendons l’argent | نردّ المال',
  close_done: 'The review is closed. | La vérification est close. | أُغلقت المراجعة.',
  already_closed: `Somebody has closed this review already.
    Cette vérification a déjà été close.
    أُغلقت هذه المراجعة من قبل.`,
});

export const sayShop = sayFrom(shopMessages);
