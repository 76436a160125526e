// Texts for requests with invalid parts: parameters, bodies, addresses, versions and unknown ids.
// Only table.ts imports them.

import type { Language } from '../vocabulary.ts';

export const requestMessages = {
  parameter_missing: {
    en: 'The parameter {param} is required.',
    fr: 'Le paramètre {param} est obligatoire.',
    ar: 'المُعامل {param} مطلوب.',
  },
  parameter_unknown: {
    en: 'The parameter {param} is not one that this request takes.',
    fr: 'Cette requête n’accepte pas le paramètre {param}.',
    ar: 'لا يقبل هذا الطلب المُعامل {param}.',
  },
  parameter_invalid: {
    en: 'The value of {param} is not valid.',
    fr: 'La valeur de {param} n’est pas valide.',
    ar: 'قيمة {param} غير صالحة.',
  },
  'parameter_invalid.integer': {
    en: '{param} must be an integer from {min} to {max}.',
    fr: '{param} doit être un nombre entier compris entre {min} et {max}.',
    ar: 'يجب أن تكون قيمة {param} عددًا صحيحًا من {min} إلى {max}.',
  },
  'parameter_invalid.text': {
    en: '{param} must be a text of {min} to {max} characters.',
    fr: '{param} doit être un texte de {min} à {max} caractères.',
    ar: 'يجب أن تكون قيمة {param} نصًا عدد أحرفه من {min} إلى {max}.',
  },
  'parameter_invalid.choice': {
    en: '{param} must be one of: {choices}.',
    fr: '{param} doit prendre l’une des valeurs suivantes : {choices}.',
    ar: 'يجب أن تكون قيمة {param} إحدى القيم التالية: {choices}.',
  },
  'parameter_invalid.boolean': {
    en: '{param} must be true or false.',
    fr: '{param} doit être true ou false.',
    ar: 'يجب أن تكون قيمة {param} إما true أو false.',
  },
  'parameter_invalid.list': {
    en: '{param} must be a list of {min} to {max} different values.',
    fr: '{param} doit être une liste de {min} à {max} valeurs différentes.',
    ar: 'يجب أن تكون قيمة {param} قائمة من القيم المختلفة، عددها من {min} إلى {max}.',
  },
  'parameter_invalid.address': {
    en: '{param} must be a complete http or https address of at most {max} characters, without user name and password, with spaces and letters beyond ASCII percent-encoded (é is %C3%A9).',
    fr: '{param} doit être une adresse http ou https complète d’au plus {max} caractères, sans nom d’utilisateur ni mot de passe, où les espaces et les lettres hors ASCII sont encodés (é devient %C3%A9).',
    ar: 'يجب أن تكون قيمة {param} عنوان http أو https كاملًا لا يتجاوز عدد أحرفه {max}، دون اسم مستخدم أو كلمة مرور، مع ترميز المسافات والأحرف من خارج ASCII بالنسبة المئوية (é تصبح %C3%A9).',
  },
  'parameter_invalid.https': {
    en: '{param} must be an https address in live mode.',
    fr: '{param} doit être une adresse https en mode production.',
    ar: 'يجب أن تكون قيمة {param} عنوان https في الوضع الحقيقي.',
  },
  'parameter_invalid.email': {
    en: '{param} must be an e-mail address of at most {max} characters.',
    fr: '{param} doit être une adresse e-mail d’au plus {max} caractères.',
    ar: 'يجب أن تكون قيمة {param} عنوان بريد إلكتروني لا يتجاوز عدد أحرفه {max}.',
  },
  'parameter_invalid.metadata': {
    en: 'metadata takes at most {keys} keys of 1 to {keyLength} characters; values are texts of at most {valueLength} characters.',
    fr: 'metadata accepte au plus {keys} clés de 1 à {keyLength} caractères ; les valeurs sont des textes d’au plus {valueLength} caractères.',
    ar: 'أقصى عدد للمفاتيح في metadata هو {keys}، وعدد أحرف كل مفتاح من 1 إلى {keyLength}، والقيم نصوص لا يتجاوز عدد أحرفها {valueLength}.',
  },
  'parameter_invalid.object': {
    en: '{param} must be an object.',
    fr: '{param} doit être un objet.',
    ar: 'يجب أن تكون قيمة {param} كائنًا.',
  },
  'parameter_invalid.encoding': {
    en: '{param} contains characters that are not valid Unicode.',
    fr: '{param} contient des caractères Unicode non valides.',
    ar: 'تتضمن قيمة {param} رموز Unicode غير صالحة.',
  },
  'parameter_invalid.percent_encoding': {
    en: '{param} is not percent-encoded UTF-8.',
    fr: '{param} n’est pas de l’UTF-8 encodé en pourcentage.',
    ar: 'قيمة {param} ليست نص UTF-8 مُرمَّزًا بالنسبة المئوية.',
  },
  'parameter_invalid.card_number': {
    en: '{param} looks like a card number. Card numbers never travel through the API: the customer types them on the payment page.',
    fr: '{param} ressemble à un numéro de carte. Les numéros de carte ne transitent jamais par l’API : le client les saisit sur la page de paiement.',
    ar: 'تبدو قيمة {param} رقم بطاقة. لا تمر أرقام البطاقات أبدًا عبر API: يُدخلها العميل في صفحة الدفع.',
  },
  'parameter_invalid.cursors': {
    en: 'Send either starting_after or ending_before, not both.',
    fr: 'Envoyez soit starting_after, soit ending_before, mais pas les deux.',
    ar: 'أرسل إما starting_after أو ending_before، وليس كليهما.',
  },
  'parameter_invalid.repeated': {
    en: 'The parameter {param} is sent more than once.',
    fr: 'Le paramètre {param} est envoyé plusieurs fois.',
    ar: 'أُرسل المُعامل {param} أكثر من مرة.',
  },
  'parameter_invalid.exactly_one': {
    en: 'Send exactly one of: {names}.',
    fr: 'Envoyez un seul et unique paramètre parmi les suivants : {names}.',
    ar: 'أرسل مُعاملًا واحدًا فقط من المُعاملات التالية: {names}.',
  },
  'parameter_invalid.all_events': {
    en: 'Send * alone for all events, or the event types one by one.',
    fr: 'Envoyez * seul pour tous les événements, ou bien les types d’événements un par un.',
    ar: 'أرسل * وحدها لتلقي كل الأحداث، أو أرسل أنواع الأحداث واحدًا واحدًا.',
  },
  'parameter_invalid.expires_at': {
    en: 'expires_at must be a Unix time from 30 minutes to 24 hours from now.',
    fr: 'expires_at doit être un horodatage Unix situé entre 30 minutes et 24 heures à compter de maintenant.',
    ar: 'يجب أن تكون قيمة expires_at توقيت Unix يقع بين 30 دقيقة و24 ساعة من الآن.',
  },
  'parameter_invalid.not_a_method': {
    en: '{param} must be one of the payment methods of this payment intent: {choices}.',
    fr: '{param} doit être l’un des moyens de paiement de cette intention de paiement : {choices}.',
    ar: 'يجب أن تكون قيمة {param} إحدى وسائل الدفع المحددة لعملية الدفع هذه: {choices}.',
  },
  'parameter_invalid.not_a_card': {
    en: '{param} is for card attempts only: leave it out to fail a cash attempt.',
    fr: '{param} ne concerne que les tentatives par carte : omettez ce paramètre pour faire échouer une tentative en espèces.',
    ar: 'المُعامل {param} خاص بمحاولات الدفع بالبطاقة فقط: لا ترسله لإفشال محاولة دفع نقدي.',
  },
  'parameter_invalid.idempotency_key': {
    en: 'The Idempotency-Key header takes 1 to {max} printable ASCII characters.',
    fr: 'L’en-tête Idempotency-Key accepte de 1 à {max} caractères ASCII imprimables.',
    ar: 'تقبل ترويسة Idempotency-Key رموز ASCII القابلة للطباعة فقط، وعددها من 1 إلى {max}.',
  },
  'parameter_missing.method': {
    en: 'This payment intent takes several payment methods: name one in {param}.',
    fr: 'Cette intention de paiement accepte plusieurs moyens de paiement : précisez lequel dans {param}.',
    ar: 'تقبل عملية الدفع هذه عدة وسائل دفع: حدد إحداها في {param}.',
  },
  resource_missing: {
    en: 'No such {kind}: {id}.',
    fr: '{kind} introuvable : {id}.',
    ar: 'لا يوجد {kind}: {id}.',
  },
  'resource_missing.in_test': {
    en: 'No such {kind} in live mode: {id}. It exists in test mode, and this request used a live key.',
    fr: '{kind} introuvable en mode production : {id}. Il existe en mode test, alors que cette requête utilise une clé de production.',
    ar: 'لا يوجد {kind} في الوضع الحقيقي: {id}. إنه موجود في وضع الاختبار، بينما استخدم هذا الطلب مفتاحًا حقيقيًا.',
  },
  'resource_missing.in_live': {
    en: 'No such {kind} in test mode: {id}. It exists in live mode, and this request used a test key.',
    fr: '{kind} introuvable en mode test : {id}. Il existe en mode production, alors que cette requête utilise une clé de test.',
    ar: 'لا يوجد {kind} في وضع الاختبار: {id}. إنه موجود في الوضع الحقيقي، بينما استخدم هذا الطلب مفتاح اختبار.',
  },
  unrecognized_request_url: {
    en: 'There is no route for {method} {path}.',
    fr: 'Aucune route ne correspond à {method} {path}.',
    ar: 'لا يوجد مسار يطابق {method} {path}.',
  },
  api_version_invalid: {
    en: 'This API version does not exist. Valid versions: {versions}.',
    fr: 'Cette version de l’API n’existe pas. Versions valides : {versions}.',
    ar: 'هذا الإصدار من API غير موجود. الإصدارات الصالحة: {versions}.',
  },
  invalid_request: {
    en: 'The request is not valid.',
    fr: 'La requête n’est pas valide.',
    ar: 'الطلب غير صالح.',
  },
  'invalid_request.json': {
    en: 'The body is not valid JSON in UTF-8.',
    fr: 'Le corps de la requête n’est pas un JSON valide en UTF-8.',
    ar: 'محتوى الطلب ليس JSON صالحًا بترميز UTF-8.',
  },
  'invalid_request.not_an_object': {
    en: 'The body must be a JSON object.',
    fr: 'Le corps de la requête doit être un objet JSON.',
    ar: 'يجب أن يكون محتوى الطلب كائن JSON.',
  },
  'invalid_request.form': {
    en: 'The body was sent as a form. Send it with the header Content-Type: application/json as {json}.',
    fr: 'Le corps a été envoyé comme un formulaire. Envoyez-le avec l’en-tête Content-Type (application/json) sous la forme {json}.',
    ar: 'أُرسل المحتوى كنموذج. أرسله بالترويسة Content-Type: application/json على شكل {json}.',
  },
  'invalid_request.content_type': {
    en: 'Send the body as application/json.',
    fr: 'Envoyez le corps de la requête au format application/json.',
    ar: 'أرسل محتوى الطلب بصيغة application/json.',
  },
  'invalid_request.too_deep': {
    en: 'Objects and lists in the body are nested too deeply.',
    fr: 'Les objets et listes du corps de la requête sont imbriqués trop profondément.',
    ar: 'الكائنات والقوائم في محتوى الطلب متداخلة بعمق يتجاوز المسموح.',
  },
  'invalid_request.too_many_names': {
    en: 'The body has more than {max} names and list items.',
    fr: 'Le corps de la requête contient plus de {max} noms et éléments de listes.',
    ar: 'يتضمن محتوى الطلب أكثر من {max} اسم وعنصر قائمة.',
  },
  'invalid_request.duplicate_name': {
    en: 'An object in the body has the same name twice.',
    fr: 'Un objet du corps de la requête contient deux fois le même nom.',
    ar: 'يتضمن أحد الكائنات في محتوى الطلب الاسم نفسه مرتين.',
  },
  'invalid_request.body_too_large': {
    en: 'The body is larger than {max} bytes.',
    fr: 'Le corps de la requête dépasse {max} octets.',
    ar: 'يتجاوز حجم محتوى الطلب {max} بايت.',
  },
  'invalid_request.headers_too_large': {
    en: 'The headers are larger than {max} bytes.',
    fr: 'Les en-têtes dépassent {max} octets.',
    ar: 'يتجاوز حجم الترويسات {max} بايت.',
  },
  'invalid_request.header_repeated': {
    en: 'The header {header} is sent more than once.',
    fr: 'L’en-tête {header} est envoyé plusieurs fois.',
    ar: 'أُرسلت الترويسة {header} أكثر من مرة.',
  },
  'invalid_request.header': {
    en: 'The header {header} has a value that is not supported.',
    fr: 'L’en-tête {header} a une valeur qui n’est pas prise en charge.',
    ar: 'قيمة الترويسة {header} غير مدعومة.',
  },
  'invalid_request.path': {
    en: 'The address is not well formed.',
    fr: 'L’adresse est mal formée.',
    ar: 'صيغة العنوان غير سليمة.',
  },
  'invalid_request.pieces_too_small': {
    en: 'The body comes in too many small pieces. Send it in larger ones.',
    fr: 'Le corps de la requête arrive en trop de petits morceaux. Envoyez-le en morceaux plus grands.',
    ar: 'يصل محتوى الطلب في أجزاء صغيرة كثيرة جدًا. أرسله في أجزاء أكبر.',
  },
  'invalid_request.chunk_extension': {
    en: 'A chunk of the body has an extension, which is not supported.',
    fr: 'Un fragment (chunk) du corps de la requête a une extension, ce qui n’est pas pris en charge.',
    ar: 'يحمل أحد أجزاء (chunk) محتوى الطلب امتدادًا، وهذا غير مدعوم.',
  },
  'invalid_request.too_slow': {
    en: 'The request took too long to arrive.',
    fr: 'La requête a mis trop de temps à arriver.',
    ar: 'استغرق وصول الطلب وقتًا أطول من المسموح به.',
  },
} as const satisfies Record<string, Readonly<Record<Language, string>>>;
