// The mails that wait to be sent, as rows of the directory's store, written in the same commit as
// the change that causes them. Their texts are sealed, because they hold links that open an
// account. A mail that is done stays for a day without its text, to be counted.

import { randomBytes } from 'node:crypto';
import { pack } from 'msgpackr';
import type { SecretBox } from '../crypto/secret-box.ts';
import { mailRowPrefix } from '../directory/directory.ts';
import type { DirectoryStore } from '../directory/directory-store.ts';
import type { Alongside } from '../directory/token-rows.ts';

/** What is sent, as plain text. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface QueuedMail {
  readonly id: string;
  /** Whose mail it is; null: the operators'. */
  readonly org: string | null;
  /** Live mode of the organization was never activated: anybody may have made it. */
  readonly isNewcomer: boolean;
  readonly to: string;
  /** The digest of the link that it carries: a link that was taken back is not sent any more. */
  readonly link: string;
  readonly state: 'waiting' | 'sent' | 'failed' | 'dropped';
  /** The sealed letter; null once the mail is done. */
  readonly sealed: string | null;
  readonly createdMs: number;
  /** When its link ends. */
  readonly expiresMs: number;
  readonly attempts: number;
  readonly nextMs: number;
}

/**
 * In a day: to one address whoever asks, for one organization, for one newcomer, for all of these,
 * and in all. What was sent is counted too; what operators have mailed is bound by address alone.
 */
export const mailsPerDay = { address: 5, organization: 50, newcomer: 5, newcomers: 1_000, all: 5_000 };
const dayMs = 86_400_000;
const waitsMs = [60_000, 300_000, 1_800_000, 7_200_000, 21_600_000];

export class MailOutbox {
  readonly #store: DirectoryStore;
  readonly #secrets: Pick<SecretBox, 'open' | 'seal'>;
  readonly #mails = new Map<string, QueuedMail>();

  constructor(store: DirectoryStore, secrets: Pick<SecretBox, 'open' | 'seal'>) {
    this.#store = store;
    this.#secrets = secrets;
    for (const mail of store.values<QueuedMail>(mailRowPrefix)) this.#mails.set(mail.id, mail);
  }

  /** The mails that are not done, the oldest first. */
  waiting(): QueuedMail[] {
    return [...this.#mails.values()]
      .filter(({ state }) => state === 'waiting')
      .sort((a, b) => a.createdMs - b.createdMs);
  }

  /** The mails of the last day that could not be sent. */
  failed(): number {
    return [...this.#mails.values()].filter(({ state }) => state === 'failed').length;
  }

  /** What queues a letter when it is written; null when there were too many mails in a day. */
  plan(
    letter: Letter,
    mail: Pick<QueuedMail, 'org' | 'isNewcomer' | 'link' | 'expiresMs'>,
  ): Alongside | null {
    const nowMs = this.#store.now();
    const old: QueuedMail[] = [];
    const counted = { address: 0, organization: 0, newcomers: 0, all: 0 };
    for (const each of this.#mails.values()) {
      if (this.#isOld(each, nowMs)) {
        old.push(each);
        continue;
      }
      if (each.to === letter.to) counted.address++;
      if (each.org === null) continue;
      counted.all++;
      if (each.org === mail.org) counted.organization++;
      if (each.isNewcomer) counted.newcomers++;
    }
    if (isBeyond(counted, mail)) return null;
    const id = `mail_${randomBytes(12).toString('hex')}`;
    const sealed = this.#secrets.seal(JSON.stringify(letter), ownerOf(id, mail.org));
    const queued: QueuedMail = {
      ...mail,
      id,
      to: letter.to,
      state: 'waiting',
      sealed,
      createdMs: nowMs,
      attempts: 0,
      nextMs: nowMs,
    };
    return this.#change([queued], old);
  }

  /** Throws `SecretUnreadable` when no key opens it. */
  open({ id, org, sealed }: QueuedMail): Letter {
    return JSON.parse(this.#secrets.open(sealed ?? '', ownerOf(id, org)));
  }

  /** Ends a mail; its text is forgotten. */
  end(mail: QueuedMail, state: 'sent' | 'failed' | 'dropped'): Promise<void> {
    return this.#write({ ...mail, state, sealed: null, attempts: mail.attempts + 1 });
  }

  /** Has a mail tried again later. */
  postpone(mail: QueuedMail): Promise<void> {
    const wait = waitsMs[Math.min(mail.attempts, waitsMs.length - 1)]!;
    return this.#write({ ...mail, attempts: mail.attempts + 1, nextMs: this.#store.now() + wait });
  }

  async #write(mail: QueuedMail): Promise<void> {
    const { rows, onWritten } = this.#change([mail], []);
    await this.#store.write(() => rows, onWritten);
  }

  #change(put: readonly QueuedMail[], removed: readonly QueuedMail[]): Alongside {
    const rows = new Map<string, Uint8Array | null>([
      ...removed.map(({ id }) => [mailRowPrefix + id, null] as const),
      ...put.map((mail) => [mailRowPrefix + mail.id, pack(mail)] as const),
    ]);
    const onWritten = () => {
      for (const { id } of removed) this.#mails.delete(id);
      for (const mail of put) this.#mails.set(mail.id, mail);
    };
    return { rows, onWritten };
  }

  #isOld({ state, createdMs }: QueuedMail, nowMs: number): boolean {
    return state !== 'waiting' && createdMs + dayMs <= nowMs;
  }
}

function isBeyond(
  counted: Readonly<Record<'address' | 'organization' | 'newcomers' | 'all', number>>,
  { org, isNewcomer }: Pick<QueuedMail, 'org' | 'isNewcomer'>,
): boolean {
  if (counted.address >= mailsPerDay.address) return true;
  if (org === null) return false;
  const own = isNewcomer ? mailsPerDay.newcomer : mailsPerDay.organization;
  if (isNewcomer && counted.newcomers >= mailsPerDay.newcomers) return true;
  return counted.organization >= own || counted.all >= mailsPerDay.all;
}

function ownerOf(id: string, org: string | null) {
  return { id, org: org ?? 'operator' };
}
