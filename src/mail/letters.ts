// The texts of the mails: links in the language of who causes them, notices in that of who gets
// them, receipts in the merchant's choice. The only secret in one is a link that works once.

import type { Language } from '../contract/vocabulary.ts';
import { defined } from '../core/assert.ts';
import type { Letter } from './outbox.ts';

/** The first line of each is the subject. */
const letters = {
  invitation: {
    en: 'Invitation to “{organization}”\nYou are invited to the dashboard of “{organization}”. Open this link to join. It works once, for seven days:\n\n{link}\n\nIf you do not expect this, you need not do anything.\n',
    fr: 'Invitation à « {organization} »\nVous êtes invité(e) au tableau de bord de « {organization} ». Ouvrez ce lien pour le rejoindre. Il sert une fois, pendant sept jours :\n\n{link}\n\nSi vous n’attendiez pas ce message, vous n’avez rien à faire.\n',
    ar: 'دعوة إلى «{organization}»\nأنت مدعو إلى لوحة تحكم «{organization}». افتح هذا الرابط للانضمام. يعمل مرة واحدة، لمدة سبعة أيام:\n\n{link}\n\nإذا لم تكن تتوقع هذه الرسالة، فليس عليك فعل شيء.\n',
  },
  reset: {
    en: 'Choose a new password\nOpen this link to choose a new password for the dashboard. It works once, for an hour:\n\n{link}\n\nIf you did not ask for it, you need not do anything.\n',
    fr: 'Choisissez un nouveau mot de passe\nOuvrez ce lien pour choisir un nouveau mot de passe du tableau de bord. Il sert une fois, pendant une heure :\n\n{link}\n\nSi vous n’avez rien demandé, vous n’avez rien à faire.\n',
    ar: 'اختر كلمة مرور جديدة\nافتح هذا الرابط لاختيار كلمة مرور جديدة للوحة التحكم. يعمل مرة واحدة، لمدة ساعة:\n\n{link}\n\nإذا لم تطلب ذلك، فليس عليك فعل شيء.\n',
  },
  // The name of the shop is not in it, because anybody may have written it.
  sign_up: {
    en: 'Confirm your e-mail address\nOpen this link to confirm your address and create your account. It works once, for a day:\n\n{link}\n\nIf you did not ask for an account, you need not do anything.\n',
    fr: 'Confirmez votre adresse e-mail\nOuvrez ce lien pour confirmer votre adresse et créer votre compte. Il sert une fois, pendant un jour :\n\n{link}\n\nSi vous n’avez pas demandé de compte, vous n’avez rien à faire.\n',
    ar: 'أكّد بريدك الإلكتروني\nافتح هذا الرابط لتأكيد بريدك وإنشاء حسابك. يعمل مرة واحدة، لمدة يوم:\n\n{link}\n\nإذا لم تطلب حسابًا، فليس عليك فعل شيء.\n',
  },
  has_account: {
    en: 'You have an account already\nSomebody asked for an account with this address, which has one already. Sign in here:\n\n{link}\n\nIf it was not you, you need not do anything.\n',
    fr: 'Vous avez déjà un compte\nQuelqu’un a demandé un compte avec cette adresse, qui en a déjà un. Connectez-vous ici :\n\n{link}\n\nSi ce n’était pas vous, vous n’avez rien à faire.\n',
    ar: 'لديك حساب بالفعل\nطلب أحدهم حسابًا بهذا البريد، وله حساب بالفعل. سجّل الدخول هنا:\n\n{link}\n\nإذا لم تكن أنت، فليس عليك فعل شيء.\n',
  },
  review: {
    en: '{organization}: a payment needs a review\nMoney that “{organization}” received does not add up with what was expected, so somebody has to decide. The open reviews are here:\n\n{link}\n',
    fr: '{organization} : un paiement est à vérifier\nDe l’argent reçu par « {organization} » ne correspond pas à ce qui était attendu ; quelqu’un doit décider. Les vérifications ouvertes sont ici :\n\n{link}\n',
    ar: '{organization}: دفعة تحتاج إلى مراجعة\nمال تلقّته «{organization}» لا يطابق ما كان منتظرًا، وعلى أحد أن يقرر. المراجعات المفتوحة هنا:\n\n{link}\n',
  },
  failing: {
    en: '{organization}: webhooks have failed for an hour\nEvery attempt to deliver events of “{organization}” to an endpoint has failed for an hour. They are tried again for some days. What failed and why is here:\n\n{link}\n',
    fr: '{organization} : des webhooks échouent depuis une heure\nDepuis une heure, toutes les tentatives de livrer des événements de « {organization} » à un point de terminaison échouent. Elles continuent pendant quelques jours. Ce qui a échoué, et pourquoi, est ici :\n\n{link}\n',
    ar: '{organization}: إشعارات الويب تفشل منذ ساعة\nفشلت منذ ساعة كل محاولات تسليم أحداث «{organization}» إلى إحدى نقاط الاستقبال. ستتواصل المحاولات لبضعة أيام. ما الذي فشل ولماذا تجده هنا:\n\n{link}\n',
  },
  activated: {
    en: '{organization}: live mode is activated\nLive mode of “{organization}” is activated. What is left to do before the first live payment is here:\n\n{link}\n',
    fr: '{organization} : le mode production est activé\nLe mode production de « {organization} » est activé. Ce qui reste à faire avant le premier paiement réel est ici :\n\n{link}\n',
    ar: '{organization}: تم تفعيل الوضع الحقيقي\nتم تفعيل الوضع الحقيقي لـ«{organization}». ما بقي قبل أول دفعة حقيقية تجده هنا:\n\n{link}\n',
  },
  limit: {
    en: '{organization}: a request for a higher limit was answered\nA request of “{organization}” for a higher rate limit was answered. The answer is here:\n\n{link}\n',
    fr: '{organization} : réponse à une demande de limite\nUne demande de limite plus élevée de « {organization} » a reçu une réponse. Elle est ici :\n\n{link}\n',
    ar: '{organization}: رد على طلب رفع الحد\nورد رد على طلب «{organization}» رفع أحد الحدود. الرد هنا:\n\n{link}\n',
  },
  receipt: {
    en: '{organization}: receipt for {amount}\nYour payment to “{organization}” has succeeded.\n\n{amount}\n{description}\n{time}\nReference: {payment}\n\nThis is a receipt, not an invoice. Questions about the order are answered by “{organization}”.\n',
    fr: '{organization} : reçu de {amount}\nVotre paiement à « {organization} » a réussi.\n\n{amount}\n{description}\n{time}\nRéférence : {payment}\n\nCeci est un reçu, pas une facture. « {organization} » répond aux questions sur la commande.\n',
    ar: '{organization}: إيصال بمبلغ {amount}\nنجح دفعك إلى «{organization}».\n\n{amount}\n{description}\n{time}\nالمرجع: {payment}\n\nهذا إيصال وليس فاتورة. تجيب «{organization}» عن الأسئلة حول الطلب.\n',
  },
  refund_receipt: {
    en: '{organization}: {amount} refunded\n“{organization}” has refunded a payment of yours.\n\n{amount}\n{description}\n{time}\nReference: {payment}\n\nIt may take some days until the money is in your account.\n',
    fr: '{organization} : {amount} remboursés\n« {organization} » vous a remboursé un paiement.\n\n{amount}\n{description}\n{time}\nRéférence : {payment}\n\nIl peut falloir quelques jours avant que l’argent soit sur votre compte.\n',
    ar: '{organization}: استرداد {amount}\nردّت «{organization}» إليك دفعة.\n\n{amount}\n{description}\n{time}\nالمرجع: {payment}\n\nقد يستغرق وصول المال إلى حسابك بضعة أيام.\n',
  },
} as const satisfies Record<string, Readonly<Record<Language, string>>>;

/** A line whose only value is empty is left out. */
export function letterOf(
  kind: keyof typeof letters,
  to: string,
  language: Language,
  values: Readonly<Record<string, string>>,
): Letter {
  const [subject = '', ...lines] = letters[kind][language].split('\n');
  const fill = (template: string) =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => defined(values[name], name));
  const shown = lines.filter((line) => line === '' || fill(line) !== '');
  return { to, subject: fill(subject), text: fill(shown.join('\n')) };
}
