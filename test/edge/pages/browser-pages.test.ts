// Every page in every language in real Chromium, as wide as a desktop and as a phone: axe finds no fault, nothing is wider
// than the screen, and the browser logs no error.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before } from 'node:test';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { languages } from '../../../src/contract/vocabulary.ts';
import type { SubmittedCard } from '../../../src/domain/charges.ts';
import { browserTest, launchBrowser, openSite, type Site } from './browser.ts';
import { createConfirmed, createSession, type Service } from './in-process-service.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

let browser: Browser | null;
let site: Site;
let axe: string;
before(async () => {
  axe = await readFile(axePath, 'utf8');
  browser = await launchBrowser();
  site = await openSite();
});
after(async () => {
  await browser?.close();
  await site?.close();
});

/** A card charge of a new session, and what was submitted for it. */
async function cardCharge(service: Service, submitted: Partial<SubmittedCard> | null = null) {
  const session = await createSession(service);
  await service.run('choose_method', { method: 'card' }, session.id);
  const charge = (await service.port.view(session.id))!.charge!.id;
  const card = { brand: 'visa', last4: '3184', exp_month: 9, exp_year: 2032 };
  const whole = { token: 'sim_now_succeeds', card, challenge: false, ...submitted };
  if (submitted !== null) await service.run('submit_card', whole, charge);
  return { charge, session: session.id };
}

async function session(service: Service, params: object = {}) {
  return (await createSession(service, params)).id;
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
const pages: Readonly<
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
  card: { open: async (service) => `/pay/${(await cardCharge(service)).charge}` },
  'card with wrong fields': {
    open: async (service) => `/pay/${(await cardCharge(service)).charge}`,
    act: (page) => page.locator('form button').first().click(),
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
  missing: { status: 404, open: async () => '/checkout/cs_nothing' },
};

const sizes = { desk: { width: 1200, height: 800 }, phone: { width: 320, height: 640 } };

for (const [name, { open, status = 200, act }] of Object.entries(pages)) {
  browserTest(`the page "${name}" is accessible in every language and size`, async () => {
    const target = await open(site.service);
    const context = await browser!.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
        complaints.push(message.text());
    });
    for (const language of languages) {
      await page.setViewportSize(sizes.desk);
      const response = await page.goto(`${site.url}${target}?lang=${language}`);
      assert.equal(response!.status(), status);
      await act?.(page);
      await page.evaluate(axe);
      for (const [size, viewport] of Object.entries(sizes)) {
        await page.setViewportSize(viewport);
        const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
        const found = violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]!.html}`);
        assert.deepEqual(found, [], `${language} ${size}`);
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        assert.ok(overflow <= 0, `${language} ${size}: ${overflow} px too wide`);
      }
    }
    assert.deepEqual(complaints, []);
    await context.close();
  });
}
