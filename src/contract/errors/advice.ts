// What a developer should do about each error, for the errors page, in three languages. The object
// has every code as a key, so a new code without advice does not compile. Backquotes mark code.

import type { Language } from '../vocabulary.ts';
import type { ErrorCode, ErrorType } from './table.ts';

type Texts = Readonly<Record<Language, string>>;

/** What the codes of a type have in common. */
export const typeMeanings: Record<ErrorType, Texts> = {
  invalid_request_error: {
    en: 'The request is wrong, or the state of the object does not allow it.',
    fr: 'La requête est incorrecte, ou l’état de l’objet ne la permet pas.',
    ar: 'الطلب غير صحيح، أو أن حالة الكائن لا تسمح به.',
  },
  authentication_error: {
    en: 'No API key was sent, or one that does not work.',
    fr: 'Aucune clé d’API n’a été envoyée, ou une clé qui ne fonctionne pas.',
    ar: 'لم يُرسل أي مفتاح لواجهة البرمجة، أو أُرسل مفتاح لا يعمل.',
  },
  permission_error: {
    en: 'The API key works, but may not do this.',
    fr: 'La clé d’API fonctionne, mais n’autorise pas cette opération.',
    ar: 'مفتاح واجهة البرمجة يعمل، لكنه لا يسمح بهذه العملية.',
  },
  card_error: {
    en: 'A card was declined.',
    fr: 'Une carte a été refusée.',
    ar: 'رُفضت بطاقة.',
  },
  idempotency_error: {
    en: 'The idempotency key cannot be used for this request, or not yet.',
    fr: 'La clé d’idempotence ne peut pas servir à cette requête, ou pas encore.',
    ar: 'لا يمكن استخدام مفتاح عدم التكرار لهذا الطلب، أو ليس بعد.',
  },
  rate_limit_error: {
    en: 'Too many requests were sent. Nothing was done.',
    fr: 'Trop de requêtes ont été envoyées. Rien n’a été fait.',
    ar: 'أُرسلت طلبات كثيرة جدًا. لم يُنفَّذ شيء.',
  },
  api_error: {
    en: 'The service failed or is not available. Try again with the same idempotency key.',
    fr: 'Le service a échoué ou n’est pas disponible. Réessayez avec la même clé d’idempotence.',
    ar: 'تعطلت الخدمة أو أنها غير متاحة. أعد المحاولة بمفتاح عدم التكرار نفسه.',
  },
};

export const errorAdvice: Record<ErrorCode, Texts> = {
  parameter_missing: {
    en: 'Add the parameter that `param` names and send the request again, with the same key.',
    fr: 'Ajoutez le paramètre que `param` nomme et renvoyez la requête, avec la même clé.',
    ar: 'أضف المعامل الذي يسميه `param` ثم أعد إرسال الطلب بالمفتاح نفسه.',
  },
  parameter_unknown: {
    en: 'Remove or rename the parameter that `param` names. Parameters that a route does not take are refused, so that a misspelt one is never ignored.',
    fr: 'Retirez ou renommez le paramètre que `param` nomme. Un paramètre que la route n’accepte pas est refusé, pour qu’une faute de frappe ne soit jamais ignorée.',
    ar: 'احذف المعامل الذي يسميه `param` أو صحّح اسمه. تُرفض المعاملات التي لا يقبلها المسار، حتى لا يُتجاهل خطأ إملائي أبدًا.',
  },
  parameter_invalid: {
    en: 'Correct the value that `param` names. A text that looks like a card number is refused too: let the customer type the card on the payment page.',
    fr: 'Corrigez la valeur que `param` nomme. Un texte qui ressemble à un numéro de carte est refusé aussi : laissez le client saisir sa carte sur la page de paiement.',
    ar: 'صحّح القيمة التي يسميها `param`. يُرفض أيضًا كل نص يشبه رقم بطاقة: دع الزبون يكتب بطاقته في صفحة الدفع.',
  },
  resource_missing: {
    en: 'Check the identifier, and that the key is of the mode and the organization that the object belongs to: test keys see test objects only.',
    fr: 'Vérifiez l’identifiant, et que la clé est du mode et de l’organisation de l’objet : les clés de test ne voient que les objets de test.',
    ar: 'تحقق من المعرّف، ومن أن المفتاح ينتمي إلى وضع الكائن ومنظمته: مفاتيح الاختبار لا ترى إلا كائنات الاختبار.',
  },
  unrecognized_request_url: {
    en: 'Check the method and the address: every route starts with `/v1`, and an address with a final slash is another address.',
    fr: 'Vérifiez la méthode et l’adresse : chaque route commence par `/v1`, et une adresse avec une barre finale est une autre adresse.',
    ar: 'تحقق من الطريقة والعنوان: كل مسار يبدأ بـ `/v1`، والعنوان المنتهي بشرطة مائلة عنوان آخر.',
  },
  api_version_invalid: {
    en: 'Name one of the versions that the message lists in `X-Service-Version` or `api_version`, or leave it out to use the version of your account.',
    fr: 'Nommez une des versions que le message énumère dans `X-Service-Version` ou `api_version`, ou n’en envoyez pas pour utiliser celle de votre compte.',
    ar: 'سمِّ إحدى النسخ المذكورة في الرسالة في `X-Service-Version` أو `api_version`، أو لا ترسلها لتُستخدم نسخة حسابك.',
  },
  amount_too_small: {
    en: 'Ask for at least the minimum of every payment method that you offer, or offer fewer methods. Amounts are in centimes.',
    fr: 'Demandez au moins le minimum de chaque moyen de paiement proposé, ou proposez moins de moyens. Les montants sont en centimes.',
    ar: 'اطلب ما لا يقل عن الحد الأدنى لكل وسيلة دفع تعرضها، أو اعرض وسائل أقل. المبالغ بالسنتيم.',
  },
  amount_too_large: {
    en: 'Retrieve the charge, and refund at most what was received less the refunds that are pending or succeeded.',
    fr: 'Lisez la tentative de paiement (`charge`), et remboursez au plus ce qui a été reçu moins les remboursements en attente ou réussis.',
    ar: 'اقرأ محاولة الدفع (`charge`)، ولا تُرجع أكثر مما استُلم ناقصًا المبالغ المستردة أو التي قيد الاسترداد.',
  },
  payment_method_unavailable: {
    en: 'Offer only methods that `payment_methods` of `GET /v1/account` shows as available in this mode.',
    fr: 'Ne proposez que les moyens que `payment_methods` de `GET /v1/account` indique disponibles dans ce mode.',
    ar: 'لا تعرض إلا الوسائل التي يبيّن `payment_methods` في `GET /v1/account` أنها متاحة في هذا الوضع.',
  },
  payment_intent_unexpected_state: {
    en: 'Retrieve the payment intent and act on its `status`. When it has succeeded, there is nothing left to do; when it is canceled, or was tried too often, create a new one.',
    fr: 'Lisez l’intention de paiement et agissez selon son `status`. Si elle a réussi, il ne reste rien à faire ; si elle est annulée ou a fait l’objet de trop de tentatives, créez-en une nouvelle.',
    ar: 'اقرأ عملية الدفع وتصرف حسب `status`. إذا نجحت فلم يبقَ شيء لفعله؛ وإذا أُلغيت أو كثرت محاولات دفعها فأنشئ عملية جديدة.',
  },
  payment_intent_busy: {
    en: 'Wait a moment and send the same request again, with the same `Idempotency-Key`.',
    fr: 'Attendez un instant et renvoyez la même requête, avec la même `Idempotency-Key`.',
    ar: 'انتظر لحظة ثم أعد إرسال الطلب نفسه بقيمة `Idempotency-Key` نفسها.',
  },
  charge_unexpected_state: {
    en: 'Retrieve the charge and act on its `status`. Only a pending charge can be decided.',
    fr: 'Lisez la tentative de paiement (`charge`) et agissez selon son `status`. Seule une tentative en attente peut être décidée.',
    ar: 'اقرأ محاولة الدفع (`charge`) وتصرف حسب `status`. لا يمكن البتّ إلا في محاولة معلّقة.',
  },
  refund_unsupported_payment_method: {
    en: 'Return the money to the customer another way, such as a bank transfer.',
    fr: 'Rendez l’argent au client d’une autre manière, par exemple par virement.',
    ar: 'أعد المال إلى الزبون بطريقة أخرى، كتحويل بنكي.',
  },
  url_not_allowed: {
    en: 'Use an `https` address without user name and password, whose host resolves to public addresses only. To receive test events on your own machine, use `payments listen`, which needs no address. With a `Retry-After`, the host did not resolve just now: check its DNS records and send the same request again.',
    fr: 'Utilisez une adresse `https` sans nom d’utilisateur ni mot de passe, dont l’hôte ne mène qu’à des adresses publiques. Pour recevoir les événements de test sur votre machine, utilisez `payments listen`, qui n’a pas besoin d’adresse. Avec un `Retry-After`, l’hôte n’a pas été résolu à l’instant : vérifiez ses enregistrements DNS et renvoyez la même requête.',
    ar: 'استخدم عنوان `https` دون اسم مستخدم أو كلمة مرور، ولا يؤدي مضيفه إلا إلى عناوين عامة. لاستقبال أحداث الاختبار على جهازك استخدم `payments listen` الذي لا يحتاج إلى عنوان. إذا جاء `Retry-After` فهذا يعني أن اسم المضيف لم يُحلّ الآن: تحقق من سجلات DNS ثم أعد إرسال الطلب نفسه.',
  },
  webhook_endpoint_limit_reached: {
    en: 'Delete an endpoint that is no longer used, or let one endpoint receive more events.',
    fr: 'Supprimez un point de terminaison qui ne sert plus, ou faites recevoir plus d’événements à un seul.',
    ar: 'احذف نقطة استقبال لم تعد مستخدمة، أو اجعل نقطة واحدة تستقبل أحداثًا أكثر.',
  },
  webhook_endpoints_busy: {
    en: 'Wait a moment and send the same request again. Change endpoints one at a time.',
    fr: 'Attendez un instant et renvoyez la même requête. Changez les points de terminaison un à la fois.',
    ar: 'انتظر لحظة ثم أعد إرسال الطلب نفسه. غيّر نقاط الاستقبال واحدة تلو الأخرى.',
  },
  idempotency_key_missing: {
    en: 'Send an `Idempotency-Key` header of your own making, such as a UUID: a new one for each payment or refund, the same one for each retry.',
    fr: 'Envoyez un en-tête `Idempotency-Key` de votre choix, par exemple un UUID : un nouveau pour chaque paiement ou remboursement, le même pour chaque nouvel essai.',
    ar: 'أرسل ترويسة `Idempotency-Key` من عندك، مثل UUID: قيمة جديدة لكل دفع أو استرداد، والقيمة نفسها عند كل إعادة محاولة.',
  },
  invalid_request: {
    en: 'Read the message: it says what is wrong. Correct the request, or first change the state that the message names, and then send it with a new idempotency key. Only a request that took too long to arrive can be sent again as it is.',
    fr: 'Lisez le message : il dit ce qui ne va pas. Corrigez la requête, ou changez d’abord l’état que nomme le message, puis envoyez-la avec une nouvelle clé d’idempotence. Seule une requête arrivée trop lentement peut être renvoyée telle quelle.',
    ar: 'اقرأ الرسالة: فهي تبيّن الخطأ. صحّح الطلب، أو غيّر أولًا الحالة التي تذكرها الرسالة، ثم أرسله بمفتاح جديد لعدم التكرار. ولا يُعاد إرسال الطلب كما هو إلا إذا استغرق وصوله وقتًا طويلًا.',
  },
  api_key_missing: {
    en: 'Send your secret key, as `Authorization: Bearer` or as the user name of HTTP Basic.',
    fr: 'Envoyez votre clé secrète, avec `Authorization: Bearer` ou comme nom d’utilisateur de HTTP Basic.',
    ar: 'أرسل مفتاحك السري، بواسطة `Authorization: Bearer` أو كاسم مستخدم في HTTP Basic.',
  },
  api_key_invalid: {
    en: 'Check that the whole key was copied, without spaces, and that the password of HTTP Basic is empty.',
    fr: 'Vérifiez que la clé a été copiée en entier, sans espaces, et que le mot de passe de HTTP Basic est vide.',
    ar: 'تحقق من أن المفتاح نُسخ كاملًا دون مسافات، ومن أن كلمة مرور HTTP Basic فارغة.',
  },
  api_key_revoked: {
    en: 'Use another key of your account, and find out why this one was revoked.',
    fr: 'Utilisez une autre clé de votre compte, et cherchez pourquoi celle-ci a été révoquée.',
    ar: 'استخدم مفتاحًا آخر من حسابك، وابحث عن سبب إبطال هذا المفتاح.',
  },
  api_key_expired: {
    en: 'Use the key that replaced this one when it was rolled.',
    fr: 'Utilisez la clé qui a remplacé celle-ci lors de son renouvellement.',
    ar: 'استخدم المفتاح الذي حلّ محل هذا المفتاح عند تجديده.',
  },
  authentication_required: {
    en: 'Send the key in one of the two forms: `Bearer`, or `Basic` with an empty password.',
    fr: 'Envoyez la clé sous l’une des deux formes : `Bearer`, ou `Basic` avec un mot de passe vide.',
    ar: 'أرسل المفتاح بإحدى الصيغتين: `Bearer`، أو `Basic` بكلمة مرور فارغة.',
  },
  secret_key_required: {
    en: 'Send the request from your server, with a secret key. Never put a secret key in a page or an app.',
    fr: 'Envoyez la requête depuis votre serveur, avec une clé secrète. Ne mettez jamais de clé secrète dans une page ou une application.',
    ar: 'أرسل الطلب من خادمك بمفتاح سري. لا تضع مفتاحًا سريًا في صفحة أو تطبيق أبدًا.',
  },
  live_mode_not_activated: {
    en: 'Use a test key until your account is activated.',
    fr: 'Utilisez une clé de test jusqu’à l’activation de votre compte.',
    ar: 'استخدم مفتاح اختبار إلى أن يُفعَّل حسابك.',
  },
  account_inactive: {
    en: 'Ask the operator of the service why the account is suspended or closed.',
    fr: 'Demandez à l’exploitant du service pourquoi le compte est suspendu ou fermé.',
    ar: 'اسأل مشغّل الخدمة عن سبب تعليق الحساب أو إغلاقه.',
  },
  test_mode_only: {
    en: 'Call test helpers with a test key. Nothing simulates an outcome in live mode.',
    fr: 'Appelez les routes de test avec une clé de test. Rien ne simule un résultat en mode production.',
    ar: 'استدعِ أدوات الاختبار بمفتاح اختبار. لا شيء يحاكي نتيجة في الوضع الحقيقي.',
  },
  permission_denied: {
    en: 'Use a key that is allowed to do this.',
    fr: 'Utilisez une clé qui y est autorisée.',
    ar: 'استخدم مفتاحًا مسموحًا له بذلك.',
  },
  card_declined: {
    en: 'Ask the customer to try another card or to contact their bank. `decline_code` gives the reason; do not tell a stolen card from a generic decline on the page.',
    fr: 'Demandez au client d’essayer une autre carte ou de contacter sa banque. `decline_code` donne la raison ; ne distinguez pas sur la page une carte volée d’un refus ordinaire.',
    ar: 'اطلب من الزبون تجربة بطاقة أخرى أو الاتصال ببنكه. يبيّن `decline_code` السبب؛ لا تميّز في الصفحة بين بطاقة مسروقة ورفض عادي.',
  },
  idempotency_key_reused: {
    en: 'Use a new key for a new request, or send exactly the first request again.',
    fr: 'Utilisez une nouvelle clé pour une nouvelle requête, ou renvoyez exactement la première requête.',
    ar: 'استخدم مفتاحًا جديدًا لطلب جديد، أو أعد إرسال الطلب الأول كما هو تمامًا.',
  },
  idempotency_in_progress: {
    en: 'Wait a moment and send the same request again, with the same key: it then gets the answer of the first one.',
    fr: 'Attendez un instant et renvoyez la même requête, avec la même clé : elle recevra la réponse de la première.',
    ar: 'انتظر لحظة ثم أعد إرسال الطلب نفسه بالمفتاح نفسه: سيحصل عندئذ على جواب الطلب الأول.',
  },
  idempotency_error: {
    en: 'Use a new key for the request, once you know that the first one did nothing.',
    fr: 'Utilisez une nouvelle clé pour la requête, une fois certain que la première n’a rien fait.',
    ar: 'استخدم مفتاحًا جديدًا للطلب بعد التأكد من أن الأول لم يفعل شيئًا.',
  },
  rate_limit_exceeded: {
    en: 'Wait for as many seconds as `Retry-After` says, then send the same request again, with the same key. Spread bursts, and watch `RateLimit-Remaining`.',
    fr: 'Attendez le nombre de secondes que donne `Retry-After`, puis renvoyez la même requête, avec la même clé. Étalez les envois, et surveillez `RateLimit-Remaining`.',
    ar: 'انتظر عدد الثواني المذكور في `Retry-After`، ثم أعد إرسال الطلب نفسه بالمفتاح نفسه. وزّع الطلبات وراقب `RateLimit-Remaining`.',
  },
  test_daily_cap_reached: {
    en: 'Stop for today: `Retry-After` is then minutes or hours. Live mode has no daily cap.',
    fr: 'Arrêtez pour aujourd’hui : `Retry-After` se compte alors en minutes ou en heures. Le mode production n’a pas de plafond journalier.',
    ar: 'توقف لهذا اليوم: يكون `Retry-After` عندئذ دقائق أو ساعات. لا سقف يوميًا في الوضع الحقيقي.',
  },
  api_error: {
    en: 'Send the same request again, with the same `Idempotency-Key`, waiting longer each time. If it goes on, report the `Request-Id`.',
    fr: 'Renvoyez la même requête, avec la même `Idempotency-Key`, en attendant plus longtemps à chaque fois. Si cela continue, signalez le `Request-Id`.',
    ar: 'أعد إرسال الطلب نفسه بقيمة `Idempotency-Key` نفسها، مع انتظار أطول في كل مرة. إذا استمر ذلك فأبلغ عن `Request-Id`.',
  },
};
