// The way of a customer to the card network's own page. It is made where the credentials of the
// organization are. It changes nothing: the charge is decided by what the network reports.

import { modeOf } from '../contract/vocabulary.ts';
import { descriptionFor } from '../domain/payment-view.ts';
import type {
  ChargeRecord,
  CheckoutSessionRecord,
  CustomerRecord,
  PaymentIntentRecord,
} from '../domain/record.ts';
import type { InternalAnswer, InternalRequest, StartPageRequest } from '../shard/protocol.ts';
import type { Networks, PageStart } from './network.ts';

interface PageStartOptions {
  readonly networks: Networks;
  /** Queues a request of this thread. */
  readonly ask: (request: InternalRequest) => Promise<InternalAnswer>;
  /** The address of the service for others, without a final slash. */
  readonly baseUrl: string;
}

/** Rejects when the network can't be asked, or there is no network with a page of its own. */
export async function startPage(
  { id, language, paidUrl, unpaidUrl }: StartPageRequest,
  { networks, ask, baseUrl }: PageStartOptions,
): Promise<PageStart> {
  const read = async <R>(record: string): Promise<R> => {
    const answer = await ask({ kind: 'record', id: record });
    if (!answer.ok) throw new Error(answer.message);
    return JSON.parse(answer.body);
  };
  const charge = await read<ChargeRecord>(id);
  if (charge.status !== 'pending') throw new Error(`a charge that ${charge.status} can't be paid`);
  const { org, livemode, amount, currency, payment_intent: paymentIntent } = charge;
  const intent = await read<PaymentIntentRecord>(paymentIntent);
  const customer = intent.customer === null ? null : await read<CustomerRecord>(intent.customer);
  const session =
    intent.checkout_session === null ? null : await read<CheckoutSessionRecord>(intent.checkout_session);
  const mode = modeOf(livemode);
  const network = networks.of(org, mode).card;
  if (network?.startPage === undefined)
    throw new Error('no card network with a page of its own is connected');
  return network.startPage({
    org,
    livemode,
    paymentIntent,
    charge: id,
    amount,
    currency,
    language,
    expiresAtMs: Math.min(charge.expires_at_ms, session?.expires_at_ms ?? Number.POSITIVE_INFINITY),
    customer: { name: customer?.name ?? null, email: customer?.email ?? null },
    description: descriptionFor(intent, session),
    paidUrl,
    unpaidUrl,
    callbackUrl: baseUrl + networks.callbackPath(org, mode),
  });
}
