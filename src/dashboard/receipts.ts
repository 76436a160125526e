// Receipts to customers by e-mail, where a merchant wants them: for a live payment that succeeded,
// and for a refund. The events of an organization are followed from a position.

import { idPrefixes } from '../contract/id-prefixes.ts';
import type { Language } from '../contract/vocabulary.ts';
import { idFloor } from '../core/ids.ts';
import { formatAmount } from '../core/money.ts';
import { moroccoTimeText } from '../core/morocco-day.ts';
import { withoutHidden } from '../core/shown-text.ts';
import { receiptRowPrefix } from '../directory/directory.ts';
import type { Organization } from '../directory/organization.ts';
import { descriptionFor } from '../domain/payment-view.ts';
import type { PaymentIntentRecord } from '../domain/record.ts';
import { letterOf } from '../mail/letters.ts';
import type { Letter, QueuedMail } from '../mail/outbox.ts';
import type { OperatorServices } from '../operator/use-cases/services.ts';
import { ask, findRecord } from '../operator/use-cases/shard-records.ts';
import type { ListedEvent } from '../shard/protocol.ts';
import { MailRounds, type MailRoundsOptions, nothing, wantedMs } from './mail-rounds.ts';

/** How far the events of an organization were read. */
interface Followed {
  readonly org: string;
  /** The id of the newest event that was read, or an id older than the first one's. */
  readonly after: string;
}

const lookMs = 2_000;
const eventsPerStep = 16;
/** How many steps an organization may take in a round, so that the others get their turn. */
const stepsMax = 200;
/** About a minute of rounds. */
const triesMax = 30;

interface ReceiptsOptions extends MailRoundsOptions {
  /** An event gets no receipt, because its records can't be read. */
  readonly onPassedOver: (org: string, event: string, error: unknown) => void;
}

export class Receipts extends MailRounds<Followed> {
  readonly #onPassedOver: ReceiptsOptions['onPassedOver'];
  /** By organization the event whose records can't be read, and how often that was tried. */
  readonly #unread = new Map<string, { readonly event: string; readonly tries: number }>();

  constructor(options: ReceiptsOptions) {
    super(options, receiptRowPrefix, lookMs);
    this.#onPassedOver = options.onPassedOver;
  }

  override async look(): Promise<void> {
    const { services, isPaused } = this.options;
    for (const organization of services.directory.organizations()) {
      if (this.stopped || isPaused()) return;
      const { id } = organization;
      await this.attempt(id, 'follow', async () => {
        const language = languageOf(organization);
        if (language !== null) await this.#follow(organization, language);
        else if (this.rows.has(id)) await this.#write(id, null, []);
      });
    }
  }

  async #follow(organization: Organization, language: Language): Promise<void> {
    const { id } = organization;
    const { services } = this.options;
    const given = { kind: 'events_after', org: id, livemode: true, limit: eventsPerStep } as const;
    // Payments from before receipts were switched on get none; the first one after does.
    let after = this.rows.get(id)?.after ?? idFloor(idPrefixes.event, services.now() - lookMs);
    for (let step = 1; !this.stopped; step++) {
      const events = await ask(services, { ...given, after });
      const { letters, last, failure } = await this.#lettersOf(organization, language, events);
      after = last ?? after;
      const isLast = failure !== null || events.length < eventsPerStep || step === stepsMax;
      if (letters.length > 0 || (isLast && after !== this.rows.get(id)?.after))
        await this.#write(id, { org: id, after }, letters);
      if (failure !== null) throw failure.error;
      if (isLast) return;
    }
  }

  /** The receipts for events up to the `last`: all of them, unless there is a failure. */
  async #lettersOf({ id: org, name }: Organization, language: Language, events: readonly ListedEvent[]) {
    const letters: Letter[] = [];
    let last: string | null = null;
    for (const { id, body } of events) {
      try {
        const letter = await this.#letterOf(JSON.parse(body), name, language);
        if (letter !== null) letters.push(letter);
      } catch (error) {
        if (!this.#isGivenUp(org, id)) return { letters, last, failure: { error } };
        this.#onPassedOver(org, id, error);
      }
      last = id;
    }
    return { letters, last, failure: null };
  }

  /** The shard has just listed the event: records of it that fail again and again are damaged. */
  #isGivenUp(org: string, event: string): boolean {
    const before = this.#unread.get(org);
    const tries = (before?.event === event ? before.tries : 0) + 1;
    if (tries < triesMax) this.#unread.set(org, { event, tries });
    else this.#unread.delete(org);
    return tries >= triesMax;
  }

  /** The receipt for an event; null for an event that causes none. */
  async #letterOf(event: ReceiptEvent, organization: string, language: Language): Promise<Letter | null> {
    const { type, created, data } = event;
    const { object } = data;
    const isPayment = type === 'payment_intent.succeeded';
    const isRefund = type === 'refund.updated' && object.status === 'succeeded';
    if (!isPayment && !isRefund) return null;
    const payment = isPayment ? object.id : object.payment_intent;
    const { services } = this.options;
    const intent = await findRecord(services, payment, 'payment_intent');
    const customer = intent?.customer ? await findRecord(services, intent.customer, 'customer') : null;
    const email = customer?.email ?? null;
    if (email === null) return null;
    return letterOf(isPayment ? 'receipt' : 'refund_receipt', email, language, {
      organization,
      amount: formatAmount(object.amount, object.currency, language),
      description: withoutHidden((intent && (await this.#descriptionOf(intent))) ?? ''),
      payment,
      time: moroccoTimeText(created * 1000),
    });
  }

  /** What the customer was told that the payment is for. */
  async #descriptionOf(intent: PaymentIntentRecord): Promise<string | null> {
    const { checkout_session: id } = intent;
    const { services } = this.options;
    return descriptionFor(intent, id ? await findRecord(services, id, 'checkout_session') : null);
  }

  /** Receipts beyond today's bounds are left out. */
  async #write(org: string, followed: Followed | null, letters: readonly Letter[]): Promise<void> {
    const { services, outbox } = this.options;
    const about = { org, isNewcomer: false, kind: 'receipt', link: null } as const;
    await this.write(
      new Map([[org, followed]]),
      () => outbox.plan(letters, { ...about, expiresMs: services.now() + wantedMs }) ?? nothing,
    );
  }
}

/** What is read of an event: of its object those fields that payments and refunds have. */
interface ReceiptEvent {
  readonly type: string;
  readonly created: number;
  readonly data: {
    readonly object: {
      readonly id: string;
      readonly status: string;
      readonly amount: number;
      readonly currency: string;
      readonly payment_intent: string;
    };
  };
}

/** The language of an organization's receipts; null: it sends none now. */
function languageOf({ status, liveActivated, receipts }: Organization): Language | null {
  return status === 'active' && liveActivated ? receipts : null;
}

/** Whether a queued receipt is still to be sent. */
export function isReceiptWanted(
  { org, expiresMs }: Pick<QueuedMail, 'org' | 'expiresMs'>,
  directory: OperatorServices['directory'],
): boolean {
  if (org === null || directory.store.now() >= expiresMs) return false;
  const organization = directory.findOrganization(org);
  return organization !== undefined && languageOf(organization) !== null;
}
