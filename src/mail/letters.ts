// The texts of the mails, in the language of who causes them. The only secret in one is its link,
// which works once.

import type { Language } from '../contract/vocabulary.ts';
import type { Letter } from './outbox.ts';

type Texts = Readonly<Record<Language, { readonly subject: string; readonly text: string }>>;

const letters = {
  invitation: {
    en: {
      subject: 'Invitation to “{organization}”',
      text: 'You are invited to the dashboard of “{organization}”. Open this link to join. It works once, for seven days:\n\n{link}\n\nIf you do not expect this, you need not do anything.\n',
    },
    fr: {
      subject: 'Invitation à « {organization} »',
      text: 'Vous êtes invité(e) au tableau de bord de « {organization} ». Ouvrez ce lien pour le rejoindre. Il sert une fois, pendant sept jours :\n\n{link}\n\nSi vous n’attendiez pas ce message, vous n’avez rien à faire.\n',
    },
    ar: {
      subject: 'دعوة إلى «{organization}»',
      text: 'أنت مدعو إلى لوحة تحكم «{organization}». افتح هذا الرابط للانضمام. يعمل مرة واحدة، لمدة سبعة أيام:\n\n{link}\n\nإذا لم تكن تتوقع هذه الرسالة، فليس عليك فعل شيء.\n',
    },
  },
  reset: {
    en: {
      subject: 'Choose a new password',
      text: 'Open this link to choose a new password for the dashboard. It works once, for an hour:\n\n{link}\n\nIf you did not ask for it, you need not do anything.\n',
    },
    fr: {
      subject: 'Choisissez un nouveau mot de passe',
      text: 'Ouvrez ce lien pour choisir un nouveau mot de passe du tableau de bord. Il sert une fois, pendant une heure :\n\n{link}\n\nSi vous n’avez rien demandé, vous n’avez rien à faire.\n',
    },
    ar: {
      subject: 'اختر كلمة مرور جديدة',
      text: 'افتح هذا الرابط لاختيار كلمة مرور جديدة للوحة التحكم. يعمل مرة واحدة، لمدة ساعة:\n\n{link}\n\nإذا لم تطلب ذلك، فليس عليك فعل شيء.\n',
    },
  },
} as const satisfies Record<string, Texts>;

export function letterOf(
  kind: keyof typeof letters,
  to: string,
  language: Language,
  values: { readonly organization: string; readonly link: string },
): Letter {
  const { subject, text } = letters[kind][language];
  const fill = (template: string) =>
    template.replace(/\{(organization|link)\}/g, (_, name: 'organization' | 'link') => values[name]);
  return { to, subject: fill(subject), text: fill(text) };
}
