// The ways out for mails: an SMTP server, or for development files in a folder and lines in the
// log. Addresses are handed over as values and never parsed, so a name can't add a recipient or a
// header.

import { mkdir, writeFile } from 'node:fs/promises';
import { isIP, Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTransport, type SendMailOptions } from 'nodemailer';

import { MailRefused } from './mail-refused.ts';
import { logUrl } from './mail-url.ts';
import type { Letter } from './outbox.ts';

export interface MailTransport {
  /** `id` is the same in each attempt. Rejects with `MailRefused` if another is useless. */
  send(id: string, letter: Letter): Promise<void>;
  /** Rejects with an error that says why mails can't be sent now. */
  check(): Promise<void>;
}

interface TransportOptions {
  /** `smtp://host:port`, `smtps://host:port`, `file:///folder` or `log:`. */
  readonly url: string;
  readonly from: string;
  readonly user: string | null;
  readonly password: string | null;
  /** Prints a letter; null where its links must not be printed. */
  readonly print: ((letter: Letter) => void) | null;
}

const timeoutMs = 10_000;

export function createMailTransport(options: TransportOptions): MailTransport {
  if (options.url === logUrl)
    return { send: async (_, letter) => options.print?.(letter), check: async () => {} };
  const url = new URL(options.url);
  return url.protocol === 'file:' ? toFolder(fileURLToPath(url), options.from) : overSmtp(url, options);
}

function toFolder(folder: string, from: string): MailTransport {
  const writer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  const check = async () => void (await mkdir(folder, { recursive: true, mode: 0o700 }));
  return {
    check,
    async send(id, letter) {
      await check();
      const { message } = await writer.sendMail(mailOf(id, letter, from));
      await writeFile(join(folder, `${id}.eml`), message as Buffer, { mode: 0o600 });
    },
  };
}

function overSmtp(url: URL, { from, user, password }: TransportOptions): MailTransport {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'smtps:';
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  const settings = {
    host,
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // Links that open an account leave the machine encrypted.
    requireTLS: !secure && !isLoopback,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(user !== null && password !== null && { auth: { user, pass: password } }),
  };
  const open = () => createTransport({ ...settings, ...(!secure && { socket: new UnverifiedSocket() }) });
  return {
    async check() {
      try {
        await open().verify();
      } catch (error) {
        throw withoutAnswer(error);
      }
    },
    async send(id, letter) {
      try {
        await open().sendMail(mailOf(id, letter, from));
      } catch (error) {
        throw isFinal(error) ? new MailRefused('the server refuses the address') : error;
      }
    },
  };
}

/** Far more than a server says before a connection is encrypted. */
const unverifiedBytesMax = 16 * 1024;

/**
 * Before the connection is encrypted anybody on the way can answer for the server. The mailer takes
 * a time that grows with the square of an answer, in the thread that runs the service.
 */
class UnverifiedSocket extends Socket {
  #bytes = 0;

  override push(bytes: Buffer | null): boolean {
    this.#bytes += bytes?.length ?? 0;
    if (this.#bytes <= unverifiedBytesMax) return super.push(bytes);
    this.destroy(new Error('the server says too much'));
    return false;
  }
}

/** The error without what the server says, which may repeat the password that it was told. */
function withoutAnswer(error: unknown): unknown {
  const { responseCode, command } = error as { responseCode?: number; command?: string };
  return responseCode === undefined ? error : new Error(`the server answers ${responseCode} to ${command}`);
}

/** A 5xx to the recipient or the mail. A refused password may be mended, so it is tried again. */
function isFinal(error: unknown): boolean {
  const { responseCode = 0, command = '' } = error as { responseCode?: number; command?: string };
  return responseCode >= 500 && ['RCPT TO', 'DATA'].includes(command);
}

function mailOf(id: string, { to, subject, text }: Letter, from: string): SendMailOptions {
  const sender = { name: '', address: from };
  return {
    from: sender,
    to: { name: '', address: to },
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    subject: subject.replace(/\p{C}+/gu, ' '),
    text,
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}
