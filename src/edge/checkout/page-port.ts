// The interfaces of the pages, as plain data: a visit and its answer, and the port to the shards.

import type { Language } from '../../contract/vocabulary.ts';
import type { InternalParams } from '../../domain/command.ts';
import type { LinkView } from '../../domain/payment-links.ts';
import type { PaymentView } from '../../domain/payment-view.ts';
import type { PageStart } from '../../networks/network.ts';
import type { AccountBranding, AvailableNetworks } from '../../shard/account.ts';
import type { StartPageRequest } from '../../shard/protocol.ts';

export interface PageVisit {
  /** Upper case. */
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: PageRequestHeaders;
  /** The address of the other end of the connection. */
  readonly remoteAddress: string;
  /** For the log. */
  readonly requestId: string;
}

/** A visit that was admitted, with its form. */
export interface PageRequest extends PageVisit {
  /** Wiped once it has been read: it may hold a card number. */
  readonly body: Buffer;
}

/** The headers that the pages read; '' for an absent one. */
interface PageRequestHeaders {
  readonly acceptLanguage: string;
  readonly cookie: string;
  readonly forwardedFor: string;
  readonly secFetchSite: string;
}

export interface PageAnswer {
  readonly status: number;
  /** Lowercase names. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** A payment as its pages show it. The merchant is the organization. */
export type ShownPayment = PaymentView & {
  /** The organization's name. */
  readonly merchant: string;
  readonly branding: AccountBranding;
  /** Whether cards are typed on the page of this service or on the network's. */
  readonly card_page: AvailableNetworks['cardPage'];
  /** Who takes cash codes; null when that is not known. */
  readonly agents: AvailableNetworks['agents'];
};

/** A payment link as its page shows it. */
export type ShownLink = LinkView & Pick<ShownPayment, 'merchant' | 'branding'>;

export type PageOperation =
  | 'open_payment_link'
  | 'choose_method'
  | 'submit_card'
  | 'answer_challenge'
  | 'leave_network_page'
  | 'abandon_charge';

type StartOptions = Pick<StartPageRequest, 'language' | 'paidUrl' | 'unpaidUrl'>;

/** The reads and commands of the pages. They reject when the shard can't answer now. */
export interface PagePort {
  /** The payment of a checkout session or a charge; null when there is none. */
  view(id: string): Promise<ShownPayment | null>;
  /** A payment link; null when there is none. */
  viewLink(id: string): Promise<ShownLink | null>;
  /** The way to the network's page on which the charge `id` is paid. */
  startPage(id: string, options: StartOptions): Promise<PageStart>;
  /** Runs a command; `code` is one of the API's error codes. */
  command<O extends PageOperation>(
    operation: O,
    id: string,
    params: InternalParams[O],
    language: Language,
  ): Promise<
    | { readonly ok: true; readonly body: unknown }
    | { readonly ok: false; readonly code: string; readonly message: string }
  >;
}
