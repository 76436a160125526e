// Sends the mails of the outbox one after the other, while the organizations take turns. The
// outcome is written once it is known, and nothing is sent while that can't be written. So only a
// mail whose attempt a crash has cut off is sent again, with the same Message-ID.

import type { Clock } from '../core/clock.ts';
import { FixedQueue } from '../core/fixed-queue.ts';
import { backOffMs, within } from '../core/scheduler.ts';
import { SecretUnreadable } from '../crypto/secret-box.ts';
import { MailRefused } from './mail-refused.ts';
import type { MailOutbox, QueuedMail } from './outbox.ts';
import type { MailTransport } from './transport.ts';

interface SenderOptions {
  readonly outbox: MailOutbox;
  readonly transport: MailTransport;
  readonly now: Clock;
  /** Whether the link of a mail still works. */
  readonly isWanted: (mail: QueuedMail) => boolean;
  /** A mail was not sent; `final`: it will not be tried again. The error may name the recipient. */
  readonly onFailure: (mail: QueuedMail, error: unknown, final: boolean) => void;
}

/** While mails are sent, the outbox is looked through so often for what is due besides. */
const lookMs = 1_000;
const poll = { minMs: lookMs, maxMs: 60_000 };
const stopMsMax = 2_000;

/** The mails of an organization that are due. */
interface Due {
  /** The oldest first. */
  readonly mails: FixedQueue<QueuedMail>;
  /** The number of its last turn. */
  servedAt: number;
}

export class MailSender {
  readonly #options: SenderOptions;
  /** Those who take turns, with what is due since they were looked for. */
  readonly #due = new Map<string, Due>();
  /** The ids of the mails in there. */
  readonly #dueIds = new Set<string>();
  #lookedMs = 0;
  #turns = 0;
  /** Writes what became of the last mail, if that is not on the disk. */
  #unwritten: (() => Promise<void>) | null = null;
  #failedInARow = 0;
  #stopped = false;
  #abandoned = false;
  #running: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  start(): void {
    const next = async () => {
      try {
        await this.sendDue();
        this.#failedInARow = 0;
      } catch {
        // The disk did not take what became of a mail: the directory has reported it.
        this.#failedInARow++;
      }
      if (!this.#stopped) this.#timer = setTimeout(again, backOffMs(poll, this.#failedInARow)).unref();
    };
    const again = () => {
      this.#running = next();
    };
    again();
  }

  /** Waits a while for the attempt under way; if given up, it is repeated after a start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer ?? undefined);
    await within(stopMsMax, this.#running);
    this.#abandoned = true;
  }

  /** Sends every mail that is due. Rejects when it can't be written what became of one. */
  async sendDue(): Promise<void> {
    await this.#writeOutcome();
    for (let mail = this.#next(); mail !== undefined && !this.#stopped; mail = this.#next())
      await this.#send(mail);
    this.#due.clear();
  }

  /** Looks for mails that are due. All mails are read, so it is not done for each. */
  #look(): void {
    const nowMs = this.#options.now();
    this.#lookedMs = nowMs;
    for (const mail of this.#options.outbox.waiting()) {
      if (mail.nextMs > nowMs || this.#dueIds.has(mail.id)) continue;
      this.#dueIds.add(mail.id);
      const turn = turnOf(mail);
      const due = this.#due.get(turn) ?? { mails: new FixedQueue(), servedAt: 0 };
      due.mails.push(mail);
      this.#due.set(turn, due);
    }
  }

  /** The oldest mail of who was served least lately. */
  #next(): QueuedMail | undefined {
    // The clock may have been set back.
    if (this.#dueIds.size === 0 || Math.abs(this.#options.now() - this.#lookedMs) >= lookMs) this.#look();
    let first: Due | undefined;
    for (const due of this.#due.values())
      if (due.mails.length > 0 && due.servedAt < (first?.servedAt ?? Number.POSITIVE_INFINITY)) first = due;
    const mail = first?.mails.shift();
    if (first === undefined || mail === undefined) return undefined;
    first.servedAt = ++this.#turns;
    this.#dueIds.delete(mail.id);
    return mail;
  }

  async #send(mail: QueuedMail): Promise<void> {
    const outcome = await this.#outcomeOf(mail);
    if (this.#abandoned) return;
    this.#unwritten = outcome;
    await this.#writeOutcome();
  }

  async #writeOutcome(): Promise<void> {
    await this.#unwritten?.();
    this.#unwritten = null;
  }

  /** Tries a mail once, and returns what writes what became of it. */
  async #outcomeOf(mail: QueuedMail): Promise<() => Promise<void>> {
    const { outbox, transport, isWanted, onFailure } = this.#options;
    if (!isWanted(mail)) return () => outbox.end(mail, 'dropped');
    try {
      await transport.send(mail.id, outbox.open(mail));
      return () => outbox.end(mail, 'sent');
    } catch (error) {
      const final = error instanceof MailRefused || error instanceof SecretUnreadable;
      if (!this.#abandoned) onFailure(mail, error, final);
      return () => (final ? outbox.end(mail, 'failed') : outbox.postpone(mail));
    }
  }
}

/** Organizations take turns, and so do operators and those who sign up. */
function turnOf({ org, kind }: QueuedMail): string {
  return org ?? kind;
}
