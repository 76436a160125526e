// The mails of the service, as the configuration wants them: the outbox, and its sender where there
// is a way out.

import { readFileSync } from 'node:fs';
import type { Counter, Registry } from 'prom-client';
import { environmentOf } from '../config/config.ts';
import type { Config } from '../config/config-schema.ts';
import type { Clock } from '../core/clock.ts';
import { errorText } from '../core/errors.ts';
import type { SecretBox } from '../crypto/secret-box.ts';
import type { MailRoundsOptions } from '../dashboard/mail-rounds.ts';
import { isNoticeWanted, Notices } from '../dashboard/notices.ts';
import { isReceiptWanted, Receipts } from '../dashboard/receipts.ts';
import type { Directory } from '../directory/directory.ts';
import type { Closers } from '../lifecycle/closers.ts';
import { MailOutbox, type QueuedMail } from '../mail/outbox.ts';
import { MailSender } from '../mail/sender.ts';
import type { MailTransport } from '../mail/transport.ts';
import type { Check } from '../operator/use-cases/services.ts';
import type { Logger } from '../telemetry/logger.ts';
import { metricsIn } from '../telemetry/metrics-in.ts';

/** What fails so often in a row is no shard that starts again. */
const failuresTold = 30;

interface Mail {
  /** Where mails are queued; null: none are sent. */
  readonly queue: MailOutbox | null;
  /** Begins to mail members about what needs somebody, and receipts to customers. */
  tell(services: MailRoundsOptions['services'], isPaused: () => boolean): void;
  /** What else was checked, and the way out. */
  checksAfter(others: readonly Check[]): Promise<readonly Check[]>;
}

export async function openMail(options: {
  readonly config: Config;
  readonly directory: Directory;
  readonly secrets: SecretBox;
  readonly registry: Registry;
  readonly logger: Logger;
  readonly closers: Closers;
}): Promise<Mail> {
  const { directory, registry, logger } = options;
  const outbox = new MailOutbox(directory.store, options.secrets);
  const failed = countMails(registry, outbox, directory.store.now);
  const transport = await openTransport(options);
  if (transport === null) {
    logger.info('no mails are sent, because PAYMENTS_MAIL_URL is not set');
    return { queue: null, tell() {}, checksAfter: async (others) => others };
  }
  const sender = new MailSender({
    outbox,
    transport,
    now: directory.store.now,
    isWanted: (mail) => isWantedBy(directory, mail),
    onFailure({ id, org, attempts }, error, final) {
      if (final) failed.inc();
      // What the server says names the recipient, so that only its code is told.
      const { code = (error as Error).name } = error as { code?: string };
      logger.warn({ mail: id, org, attempt: attempts + 1, code, final }, 'a mail was not sent');
    },
  });
  sender.start();
  options.closers.push(() => sender.stop());
  return {
    queue: outbox,
    tell(services, isPaused) {
      const onFailure = (org: string, error: unknown, inARow: number) => {
        const level = inARow === failuresTold ? 'warn' : 'debug';
        logger[level]({ org, err: error, inARow }, 'it could not be looked up what is to be mailed');
      };
      const onPassedOver = (org: string, event: string, error: unknown) =>
        logger.warn({ org, event, err: error }, 'a receipt was not mailed: its records can not be read');
      const lookers = [
        new Notices({ services, outbox, isPaused, onFailure }),
        new Receipts({ services, outbox, isPaused, onFailure, onPassedOver }),
      ];
      for (const looker of lookers) {
        looker.start();
        options.closers.push(() => looker.stop());
      }
    },
    checksAfter: async (others) => [...others, await mailCheck(transport)],
  };
}

function isWantedBy(directory: Directory, mail: QueuedMail): boolean {
  if (mail.kind === 'notice') return isNoticeWanted(mail, directory);
  if (mail.kind === 'receipt') return isReceiptWanted(mail, directory);
  return mail.link === null ? directory.store.now() < mail.expiresMs : directory.links.isOpen(mail.link);
}

/** Null where no mails are sent: then nothing is loaded that can send them. */
async function openTransport({
  config: { mail },
  logger,
}: Parameters<typeof openMail>[0]): Promise<MailTransport | null> {
  if (mail.url === null || mail.from === null) return null;
  const password = mail.passwordFile === null ? null : readFileSync(mail.passwordFile, 'utf8').trim();
  const { createMailTransport } = await import('../mail/transport.ts');
  return createMailTransport({
    url: mail.url,
    from: mail.from,
    user: mail.user,
    password,
    // A log is read by more people than a link is meant for.
    print:
      environmentOf(process.env) === 'production'
        ? null
        : ({ to, subject, text }) => logger.info({ to, subject }, `a mail was written:\n${text}`),
  });
}

function countMails(registry: Registry, outbox: MailOutbox, now: Clock): Counter {
  const { gauge, counter } = metricsIn(registry);
  gauge('payments_mails_waiting', 'Mails that wait to be sent', [], () => outbox.waiting().length);
  gauge('payments_mails_oldest_seconds', 'Age of the oldest mail that waits to be sent', [], () => {
    const [oldest] = outbox.waiting();
    return oldest === undefined ? 0 : Math.max(0, (now() - oldest.createdMs) / 1000);
  });
  return counter(
    'payments_mails_failed_total',
    'Mails that were given up: refused by the server, or not readable any more',
  );
}

async function mailCheck(transport: MailTransport): Promise<Check> {
  try {
    await transport.check();
    return { name: 'mail', ok: true, detail: 'mails can be sent' };
  } catch (error) {
    const detail = `mails can't be sent (${errorText(error)}): check the settings of PAYMENTS_MAIL_URL, and the server`;
    return { name: 'mail', ok: false, detail };
  }
}
