// A merchant who takes live cards through CMI, for tests: a real service, the stand-in for CMI's gateway, and the customer's way
// between them.

import assert from 'node:assert/strict';
import { type Answer, liveKey, newOrganization, type Service, startService } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { CmiStandIn, type Form, formOf, type SeenOrder } from './cmi-stand-in/client.ts';
import type { Decision } from './cmi-stand-in/gateway.ts';
import { apiUser, clientId } from './cmi-stand-in/merchant.ts';

export const amount = 25_000;

/** The gateway is on this machine, which only development allows. */
const env = {
  ...webhookEnv,
  PAYMENTS_SHARDS: '1',
  PAYMENTS_NETWORKS_DOUBT_SECONDS: '1',
};

/** The merchant's secrets at CMI. */
export const secrets = { storeKey: 'A store|key with \\ marks', apiPassword: 'pass<&>word' };

/** A payment whose customer is at the button to CMI's page. */
export interface Started {
  readonly id: string;
  readonly charge: string;
  readonly page: string;
  readonly form: Form;
}

/** What the service says of a payment. */
export interface Said {
  readonly status: string;
  readonly received: number;
  /** Reason and amount of each review. */
  readonly reviews: readonly (readonly [reason: string, amount: number])[];
}

export class CardShop {
  service!: Service;
  readonly standIn: CmiStandIn;
  readonly dataDir = temporaryFolder();
  org = '';
  key = '';
  #count = 0;

  private constructor(standIn: CmiStandIn) {
    this.standIn = standIn;
  }

  /** Opens the shop; live cards are for `connect`. */
  static async open(): Promise<CardShop> {
    const shop = new CardShop(await CmiStandIn.start(secrets));
    await shop.startAgain();
    ({ id: shop.org } = await newOrganization(shop.service, 'Librairie'));
    shop.key = await liveKey(shop.service, shop.org);
    return shop;
  }

  /** Live cards of an organization of a service that runs already. */
  static async within(service: Service, org: string, standIn: CmiStandIn): Promise<CardShop> {
    const shop = new CardShop(standIn);
    Object.assign(shop, { service, org, key: await liveKey(service, org) });
    await shop.connect();
    return shop;
  }

  async startAgain(): Promise<void> {
    this.service = await startService({ dataDir: this.dataDir, env });
  }

  async close(): Promise<void> {
    await this.service.stop();
    this.standIn.stop();
  }

  /** Connects CMI, and lets the organization take live cards. */
  async connect(): Promise<void> {
    const own = { org: this.org, mode: 'live' };
    await this.service.operate('network.set', {
      ...own,
      network: 'cmi',
      settings: { gateway: this.standIn.url, client_id: clientId, api_user: apiUser },
      secrets: { store_key: secrets.storeKey, api_password: secrets.apiPassword },
    });
    await this.service.operate('org.methods', { ...own, methods: { card: true } });
  }

  call(path: string, body?: object, idempotencyKey = `call-${++this.#count}`): Promise<Answer> {
    return this.service.call(path, { key: this.key, ...(body !== undefined && { body, idempotencyKey }) });
  }

  async start(): Promise<Started> {
    const created = await this.call('/v1/payment_intents', {
      amount,
      currency: 'mad',
      payment_method_types: ['card'],
    });
    assert.equal(created.status, 200, created.text);
    const { id } = created.json;
    const return_url = 'https://shop.example/back';
    const confirmed = await this.call(`/v1/payment_intents/${id}/confirm`, { return_url });
    assert.equal(confirmed.status, 200, confirmed.text);
    const page = confirmed.json.next_action.redirect_to_url.url;
    const html = await (await fetch(page)).text();
    return { id, charge: confirmed.json.latest_charge, page, form: formOf(html, this.standIn.url) };
  }

  /** What the customer decides on CMI's page; returns the form that takes the browser back. */
  decide({ form }: Started, decision: Decision): Promise<Form> {
    return this.standIn.decide(form, decision);
  }

  /** A payment that is paid and captured. */
  async paid(): Promise<Started> {
    const started = await this.start();
    await this.decide(started, 'approve');
    const { status } = await this.said(started.id);
    assert.equal(status, 'succeeded');
    return started;
  }

  async said(id: string): Promise<Said> {
    const { json: intent } = await this.call(`/v1/payment_intents/${id}`);
    const reviews = (await this.reviewsOf(id)).map(
      ({ reason, amount_received }) => [reason, amount_received] as const,
    );
    return { status: intent.status, received: intent.amount_received, reviews };
  }

  async reviewsOf(id: string): Promise<{ id: string; reason: string; amount_received: number }[]> {
    const { json } = await this.call('/v1/reviews?limit=100');
    return json.data.filter((review: { payment_intent: string }) => review.payment_intent === id);
  }

  async order(charge: string): Promise<SeenOrder> {
    const order = await this.standIn.order(charge);
    assert.ok(order, `the gateway knows ${charge}`);
    return order;
  }
}
