// The texts that all pages of the dashboard share: the header, the navigation, and what components
// say.

import { sayFrom, texts } from './say.ts';

export const layoutTexts = texts({
  brand: 'Payments | Paiements | المدفوعات',
  dashboard: 'Dashboard | Tableau de bord | لوحة التحكم',
  skip: 'Skip to the content | Aller au contenu | انتقل إلى المحتوى',
  needs_you: 'needs attention | à voir | يحتاجك',
  menu: 'Menu | Menu | القائمة',
  views: 'Sections | Rubriques | الأقسام',
  languages: 'Language | Langue | اللغة',
  error: 'Error | Erreur | خطأ',
  problem: 'There is a problem | Il y a un problème | هناك مشكلة',
  test_mode: 'Test mode | Mode test | وضع الاختبار',
  live_mode: 'Live mode | Mode production | الوضع الحقيقي',
  test_banner: `Test mode: no real money moves here.
    Mode test : aucun argent réel ne circule ici.
    وضع الاختبار: لا تُحوَّل هنا أي أموال حقيقية.`,
  to_test: 'Switch to test mode | Passer en mode test | انتقل إلى وضع الاختبار',
  to_live: 'Switch to live mode | Passer en mode production | انتقل إلى الوضع الحقيقي',
  organizations: 'Organizations | Organisations | المؤسسات',
  account: 'Your account | Votre compte | حسابك',
  sign_out: 'Sign out | Se déconnecter | تسجيل الخروج',
  developers: 'Developers | Développeurs | المطوّرون',
  organization: 'Organization | Organisation | المؤسسة',
  home: 'Home | Accueil | الرئيسية',
  cash: 'Cash | Espèces | النقد',
  customers: 'Customers | Clients | العملاء',
  checkout: 'Checkout | Pages de paiement | صفحات الدفع',
  keys: 'API keys | Clés d’API | مفاتيح API',
  webhooks: 'Webhooks | Webhooks | إشعارات الويب',
  events: 'Events | Événements | الأحداث',
  requests: 'Request logs | Journal des requêtes | سجل الطلبات',
  limits: 'Limits | Limites | الحدود',
  settings: 'Settings | Paramètres | الإعدادات',
  members: 'Members | Membres | الأعضاء',
  audit: 'Audit log | Journal d’audit | سجل التدقيق',
  live: 'Live | En direct | مباشر',
  refresh: 'Refresh | Actualiser | تحديث',
  newer: 'Newer | Plus récents | الأحدث',
  older: 'Older | Plus anciens | الأقدم',
  pages: 'Pages | Pages | الصفحات',
  filter: 'Filter | Filtrer | تصفية',
  more_filters: 'All filters | Tous les filtres | كل عوامل التصفية',
  clear_filters: 'Clear the filters | Effacer les filtres | إزالة التصفية',
  copy: 'Copy | Copier | نسخ',
  copied: 'Copied | Copié | نُسخ',
  are_you_sure: '{action}: are you sure? | {action} : confirmez-vous ? | {action}: هل أنت متأكد؟',
  missing_title: 'Page not found | Page introuvable | الصفحة غير موجودة',
  missing_text: `There is nothing at this address, or you can’t see it.
    Il n’y a rien à cette adresse, ou vous ne pouvez pas le voir.
    لا يوجد شيء في هذا العنوان، أو لا يمكنك رؤيته.`,
  forbidden_title: 'Not allowed | Non autorisé | غير مسموح',
  forbidden_text: `Your role, {role}, does not allow this. An owner of the organization can change your role.
    Votre rôle, {role}, ne le permet pas. Un propriétaire de l’organisation peut changer votre rôle.
    دورك، {role}، لا يسمح بهذا. يمكن لمالك المؤسسة تغيير دورك.`,
  test_only_text: `This exists in test mode only. Switch to test mode.
    Cela n’existe qu’en mode test. Passez en mode test.
    هذا متاح في وضع الاختبار فقط. انتقل إلى وضع الاختبار.`,
  suspended_title: 'The organization is suspended | L’organisation est suspendue | المؤسسة موقوفة',
  suspended_text: `You can read everything, but nothing can be changed or exported until whoever runs this service reinstates the organization.
    Vous pouvez tout lire, mais rien ne peut être modifié ni exporté tant que l’exploitant de ce service ne l’a pas rétablie.
    يمكنك قراءة كل شيء، لكن لا يمكن تغيير أو تصدير أي شيء حتى يعيد مشغّل هذه الخدمة تفعيل المؤسسة.`,
  method_title: `This address takes no forms
    Cette adresse n’accepte pas de formulaire
    هذا العنوان لا يقبل النماذج`,
  stale_title: 'This form is out of date | Ce formulaire est périmé | انتهت صلاحية هذا النموذج',
  stale_text: `Nothing was done. Go back, reload the page and send the form again.
    Rien n’a été fait. Revenez en arrière, rechargez la page et renvoyez le formulaire.
    لم يُنفَّذ شيء. ارجع وأعد تحميل الصفحة ثم أرسل النموذج مرة أخرى.`,
  trouble_title: `This can’t be shown right now
    Impossible d’afficher cette page pour le moment
    يتعذر عرض هذه الصفحة الآن`,
  trouble_text: `Something went wrong on our side. Check what has been saved before you send a form again.
    Un problème est survenu de notre côté. Vérifiez ce qui est en vigueur avant de renvoyer un formulaire.
    حدث خلل من جانبنا. تحقق من الوضع الحالي قبل إعادة إرسال أي نموذج.`,
  too_many_title: 'Too many searches | Trop de recherches | عمليات بحث كثيرة جدًا',
  too_many_text: `Your organization has made too many searches. Try again in {seconds}.
    Votre organisation a fait trop de recherches. Réessayez dans {seconds}.
    أجرت مؤسستك عمليات بحث كثيرة جدًا. حاول مجددًا بعد {seconds}.`,
  go_home: 'Go to the home page | Aller à l’accueil | انتقل إلى الرئيسية',
  owner: 'Owner | Propriétaire | مالك',
  developer: 'Developer | Développeur | مطوّر',
  support: 'Support | Assistance | دعم',
  viewer: 'Viewer | Lecteur | مطّلع',
});

export const sayLayout = sayFrom(layoutTexts);
