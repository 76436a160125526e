// Every page of the customers in a state made for it.

import type { Page } from 'playwright-core';
import type { TokenizedCard } from '../../../src/domain/charges.ts';
import { createConfirmed, createSession, type Service } from './in-process-service.ts';

/** A card charge of a new session, and what was submitted for it. */
async function cardCharge(service: Service, submitted: Partial<TokenizedCard>) {
  const session = await createSession(service, { description: 'Order 1042: two books and a map' });
  await service.run('choose_method', { method: 'card' }, session.id);
  const charge = (await service.port.view(session.id))!.charge!.id;
  const card = { brand: 'visa', last4: '3184', exp_month: 9, exp_year: 2032 };
  const whole = { token: 'sim_now_succeeds', card, challenge: false, ...submitted };
  await service.run('submit_card', whole, charge);
  return { charge, session: session.id };
}

async function session(service: Service, params: object = {}) {
  return (await createSession(service, { description: 'Order 1042: two books and a map', ...params })).id;
}

/** A card charge that is paid on the network's page. */
async function hostedCharge(service: Service): Promise<string> {
  const { id } = await createSession(service, {}, true);
  await service.run('choose_method', { method: 'card' }, id);
  return (await service.port.view(id))!.charge!.id;
}

/** A session for which as many cards were tried as a payment takes. */
async function triedSession(service: Service, methods: readonly string[]): Promise<string> {
  const { id, payment_intent } = await createSession(service, { payment_method_types: methods });
  for (let tried = 0; tried < 10; tried++) {
    await service.run('choose_method', { method: 'card' }, id);
    const { latest_charge } = service.state.get('payment_intent', payment_intent)!;
    await service.create('fail_charge', {}, latest_charge!);
  }
  return id;
}

/** Each page by name: its address in a state made for it, its status, and what is done on it before it is looked at. */
export const pages: Readonly<
  Record<
    string,
    { open: (service: Service) => Promise<string>; status?: number; act?: (page: Page) => Promise<void> }
  >
> = {
  choice: { open: async (service) => `/checkout/${await session(service)}` },
  'choice of one': {
    open: async (service) => `/checkout/${await session(service, { payment_method_types: ['cash'] })}`,
  },
  'choice after a decline': {
    open: async (service) =>
      `/checkout/${(await cardCharge(service, { token: 'sim_now_insufficient_funds' })).session}`,
  },
  card: {
    open: async (service) => `/checkout/${await session(service, { payment_method_types: ['card'] })}`,
  },
  'card without a session': {
    open: async (service) => `/pay/${(await createConfirmed(service, 'card')).charge}`,
  },
  'wrong fields': {
    open: async (service) => `/checkout/${await session(service)}`,
    async act(page) {
      await page.locator('#number').fill('4242 4242 4242 4241');
      await page.locator('form button').first().click();
    },
  },
  'cash chosen': {
    open: async (service) => `/checkout/${await session(service)}`,
    act: (page) => page.locator('#by-cash').check(),
  },
  'choice of the network’s page': {
    open: async (service) => `/checkout/${(await createSession(service, {}, true)).id}`,
  },
  'way to the network’s page': { open: async (service) => `/pay/${await hostedCharge(service)}` },
  'back from the network’s page': {
    // The language comes after it.
    open: async (service) => `/pay/${await hostedCharge(service)}?done=1`,
  },
  challenge: { open: async (service) => `/pay/${(await cardCharge(service, { challenge: true })).charge}` },
  processing: {
    open: async (service) => `/pay/${(await cardCharge(service, { token: 'sim_later_succeeds' })).charge}`,
  },
  paid: { open: async (service) => `/pay/${(await cardCharge(service, {})).charge}` },
  'voucher of a session': {
    async open(service) {
      const id = await session(service);
      await service.run('choose_method', { method: 'cash' }, id);
      return `/checkout/${id}`;
    },
  },
  voucher: {
    open: async (service) => `/voucher/${(await createConfirmed(service, 'cash')).charge}`,
  },
  failed: {
    async open(service) {
      const { charge } = await createConfirmed(service, 'card');
      await service.create('fail_charge', {}, charge);
      return `/pay/${charge}`;
    },
  },
  'choice after too many cards': {
    open: async (service) => `/checkout/${await triedSession(service, ['card', 'cash'])}`,
  },
  'tried too often': {
    open: async (service) => `/checkout/${await triedSession(service, ['card'])}`,
  },
  expired: {
    status: 410,
    async open(service) {
      const id = await session(service);
      await service.create('expire_checkout_session', {}, id);
      return `/checkout/${id}`;
    },
  },
  canceled: {
    status: 410,
    async open(service) {
      const { id, payment_intent } = await createSession(service);
      await service.create('cancel_payment_intent', {}, payment_intent);
      return `/checkout/${id}`;
    },
  },
  missing: { status: 404, open: async () => '/checkout/cs_nothing' },
};
