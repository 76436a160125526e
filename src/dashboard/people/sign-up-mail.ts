// The mail that answers a sign-up: a link that confirms the address, or that it has an account. Who
// signs up is told the same either way, after as much work.

import { signInLinkPath } from '../../contract/page-paths.ts';
import type { Language } from '../../contract/vocabulary.ts';
import type { Directory } from '../../directory/directory.ts';
import type { SignInLink } from '../../directory/sign-in-links.ts';
import { refuseMany } from '../../directory/sign-up.ts';
import type { Alongside } from '../../directory/token-rows.ts';
import { letterOf } from '../../mail/letters.ts';
import type { MailOutbox } from '../../mail/outbox.ts';

interface SignUpMails {
  readonly directory: Directory;
  readonly baseUrl: string;
  readonly mail: Pick<MailOutbox, 'plan'>;
  readonly language: Language;
}

/** How long the mail about an account is worth sending. */
const wantedMs = 86_400_000;

/** The address has had its mails of the day, or all together have. */
class NoRoom extends Error {}

/**
 * Without room for a mail nothing is written: the link of the mail before goes on working. Throws
 * `DirectoryRefusal` when nobody can sign up now.
 */
export async function mailSignUp(
  { directory, baseUrl, mail, language }: SignUpMails,
  { organization, email }: { readonly organization: string; readonly email: string },
): Promise<void> {
  const { store, links, members } = directory;
  refuseMany(directory);
  const planned = (kind: 'sign_up' | 'has_account', path: string, link: string | null, expiresMs: number) => {
    // No name of a shop, which anybody may have written.
    const letter = letterOf(kind, email, language, { organization: '', link: baseUrl + path });
    const about = { org: null, isNewcomer: true, kind: 'sign_up', link, expiresMs } as const;
    const alongside = mail.plan([letter], about);
    if (alongside === null) throw new NoRoom();
    return alongside;
  };
  try {
    if (members.findByEmail(email) === undefined) {
      const queue = ({ digest, expiresMs }: SignInLink, token: string) =>
        planned('sign_up', signInLinkPath(token), digest, expiresMs);
      await links.create(email, { kind: 'sign_up', organization }, 'operator', undefined, queue);
      return;
    }
    let written: Alongside | null = null;
    await store.write(
      () => {
        written = planned('has_account', '/dashboard/sign-in', null, store.now() + wantedMs);
        return written.rows;
      },
      () => written?.onWritten(),
    );
  } catch (error) {
    if (!(error instanceof NoRoom)) throw error;
  }
}
