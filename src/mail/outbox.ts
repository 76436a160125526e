// The mails that wait to be sent, as rows of the directory's store, written in the same commit as
// the change that causes them. Their texts are sealed, because they hold links that open an
// account. A mail that is done stays for a day without its text, to be counted.

import { randomBytes } from 'node:crypto';
import { pack } from 'msgpackr';
import { type SecretBox, SecretUnreadable } from '../crypto/secret-box.ts';
import { mailRowPrefix } from '../directory/directory.ts';
import type { DirectoryStore } from '../directory/directory-store.ts';
import type { Alongside } from '../directory/token-rows.ts';

/** What is sent, as plain text. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** A link, the answer to a sign-up, a notice to members, or a receipt for a customer. */
type MailKind = 'link' | 'sign_up' | 'notice' | 'receipt';

/** What is known of a mail besides its letter. */
type MailAbout = Pick<QueuedMail, 'org' | 'isNewcomer' | 'kind' | 'link' | 'expiresMs'>;

export interface QueuedMail {
  readonly id: string;
  /** Whose mail it is; null: the operators', or a sign-up's. */
  readonly org: string | null;
  /** Live mode of the organization was never activated: anybody may have made it. */
  readonly isNewcomer: boolean;
  readonly to: string;
  readonly kind: MailKind;
  /** The digest of its link, which is not sent once taken back; null without a link. */
  readonly link: string | null;
  readonly state: 'waiting' | 'sent' | 'failed' | 'dropped';
  /** The sealed letter; null once the mail is done. */
  readonly sealed: string | null;
  readonly createdMs: number;
  /** When its link ends, or it is of no use any more. */
  readonly expiresMs: number;
  readonly attempts: number;
  readonly nextMs: number;
}

/**
 * In a day, of each kind, so that no kind takes the place of another: to one address whoever asks,
 * for one organization, for one newcomer, for all of these, and in all. What was sent is counted
 * too; what operators have mailed is bound by address alone.
 */
export const mailsPerDay: Readonly<Record<MailKind, Bounds>> = {
  link: { address: 5, organization: 50, newcomer: 5, newcomers: 1_000, all: 5_000 },
  sign_up: { address: 2, organization: 0, newcomer: 0, newcomers: 1_000, all: 1_000 },
  notice: { address: 20, organization: 100, newcomer: 2, newcomers: 200, all: 5_000 },
  receipt: { address: 20, organization: 2_000, newcomer: 0, newcomers: 0, all: 20_000 },
};
interface Bounds {
  readonly address: number;
  readonly organization: number;
  readonly newcomer: number;
  readonly newcomers: number;
  readonly all: number;
}
const dayMs = 86_400_000;
const waitsMs = [60_000, 300_000, 1_800_000, 7_200_000, 21_600_000];

export class MailOutbox {
  readonly #store: DirectoryStore;
  readonly #secrets: Pick<SecretBox, 'open' | 'seal'>;
  readonly #mails = new Map<string, QueuedMail>();

  constructor(store: DirectoryStore, secrets: Pick<SecretBox, 'open' | 'seal'>) {
    this.#store = store;
    this.#secrets = secrets;
    // Version 0.1.0 mailed links alone.
    for (const mail of store.values<QueuedMail>(mailRowPrefix))
      this.#mails.set(mail.id, { ...mail, kind: mail.kind ?? 'link' });
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

  /** What queues the letters for which there is room today; null when there is none for any. */
  plan(letters: readonly Letter[], about: MailAbout): Alongside | null {
    const nowMs = this.#store.now();
    const counted = nothingCounted(letters);
    const old: QueuedMail[] = [];
    for (const mail of this.#mails.values())
      if (this.#isOld(mail, nowMs)) old.push(mail);
      else if (mail.kind === about.kind) count(counted, mail, about.org);
    const queued: QueuedMail[] = [];
    for (const letter of letters) {
      if (isBeyond(counted, letter.to, about)) continue;
      const mail = this.#queued(letter, about, nowMs);
      queued.push(mail);
      count(counted, mail, about.org);
    }
    return queued.length === 0 ? null : this.#change(queued, old);
  }

  #queued(letter: Letter, about: MailAbout, nowMs: number): QueuedMail {
    const id = `mail_${randomBytes(12).toString('hex')}`;
    const sealed = this.#sealed(letter, { id, org: about.org });
    const times = { createdMs: nowMs, attempts: 0, nextMs: nowMs };
    return { ...about, ...times, id, to: letter.to, state: 'waiting', sealed };
  }

  #sealed(letter: Letter, { id, org }: Pick<QueuedMail, 'id' | 'org'>): string {
    return this.#secrets.seal(JSON.stringify(letter), ownerOf(id, org));
  }

  /** Seals what waits with the newest key. Returns how many letters these are. */
  async reseal(): Promise<number> {
    const resealed = this.waiting().flatMap((mail) => {
      try {
        return [{ ...mail, sealed: this.#sealed(this.open(mail), mail) }];
      } catch (error) {
        // The sender gives it up.
        if (error instanceof SecretUnreadable) return [];
        throw error;
      }
    });
    await this.#write(resealed);
    return resealed.length;
  }

  /** Throws `SecretUnreadable` when no key opens it. */
  open({ id, org, sealed }: QueuedMail): Letter {
    return JSON.parse(this.#secrets.open(sealed ?? '', ownerOf(id, org)));
  }

  /** Ends a mail; its text is forgotten. */
  end(mail: QueuedMail, state: 'sent' | 'failed' | 'dropped'): Promise<void> {
    return this.#write([{ ...mail, state, sealed: null, attempts: mail.attempts + 1 }]);
  }

  /** Has a mail tried again later. */
  postpone(mail: QueuedMail): Promise<void> {
    const wait = waitsMs[Math.min(mail.attempts, waitsMs.length - 1)]!;
    return this.#write([{ ...mail, attempts: mail.attempts + 1, nextMs: this.#store.now() + wait }]);
  }

  async #write(mails: readonly QueuedMail[]): Promise<void> {
    const { rows, onWritten } = this.#change(mails, []);
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

interface Counted {
  /** The addresses that are asked about, each with its mails. */
  readonly addresses: Map<string, number>;
  organization: number;
  newcomers: number;
  all: number;
}

function nothingCounted(letters: readonly Letter[]): Counted {
  const addresses = new Map(letters.map(({ to }) => [addressOf(to), 0]));
  return { addresses, organization: 0, newcomers: 0, all: 0 };
}

function count(counted: Counted, mail: QueuedMail, org: string | null): void {
  const address = addressOf(mail.to);
  const known = counted.addresses.get(address);
  if (known !== undefined) counted.addresses.set(address, known + 1);
  if (isOperators(mail)) return;
  counted.all++;
  if (mail.org === org) counted.organization++;
  if (mail.isNewcomer) counted.newcomers++;
}

/**
 * However it is written: most servers take letters of either case for one address, and deliver to
 * it what has a tag. The mailer writes the other dots as dots.
 */
function addressOf(to: string): string {
  return to
    .normalize('NFKC')
    .replaceAll('。', '.')
    .toLowerCase()
    .replace(/\+.*(?=@)/, '');
}

function isOperators({ org, kind }: Pick<QueuedMail, 'org' | 'kind'>): boolean {
  return org === null && kind !== 'sign_up';
}

function isBeyond(counted: Counted, to: string, about: MailAbout): boolean {
  const { org, isNewcomer, kind } = about;
  const most = mailsPerDay[kind];
  if ((counted.addresses.get(addressOf(to)) ?? 0) >= most.address) return true;
  if (isOperators(about)) return false;
  const own = isNewcomer ? most.newcomer : most.organization;
  if (isNewcomer && counted.newcomers >= most.newcomers) return true;
  return (org !== null && counted.organization >= own) || counted.all >= most.all;
}

function ownerOf(id: string, org: string | null) {
  return { id, org: org ?? 'operator' };
}
