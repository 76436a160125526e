// The end of a mail that is tried no more. It lies apart from what sends mails, which a service
// without a way out does not load.

/** The server will never take this mail. */
export class MailRefused extends Error {
  override name = 'MailRefused';
}
