// The documentation in real Chromium, served by a running service: axe finds no fault on any page, nothing is wider than a phone,
// the browser blocks nothing, and the search and the buttons that copy work.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openapiDocument } from '../../../src/contract/openapi/document.ts';
import { Docs } from '../../../src/edge/docs/docs.ts';
import { type Service, startService } from '../../service.ts';
import { axe, lookAt } from '../checkout/axe.ts';
import { browserTest, launchBrowser } from '../checkout/browser.ts';

const paths = new Docs('http://any.example', openapiDocument('http://any.example')).paths;

let browser: Browser | null;
let service: Service;
before(async () => {
  [browser, service] = await Promise.all([launchBrowser(), startService()]);
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const phone = { viewport: { width: 320, height: 640 }, colorScheme: 'dark' } as const;
const desktop = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' } as const;

/** Null, or how wide the page is when it is wider than the screen. */
async function tooWide(page: Page): Promise<string | null> {
  const { width, widest } = await page.evaluate<{ width: number; widest: number }>(
    '({ width: innerWidth, widest: document.documentElement.scrollWidth })',
  );
  return widest > width ? `${widest} pixels wide` : null;
}

/** A page of each kind. */
const kinds = [
  '/?lang=ar',
  '/docs',
  '/docs/quick-start',
  '/docs/testing',
  '/docs/api',
  '/docs/api/payment-intents',
  '/docs/api/events',
  '/docs/errors?lang=ar',
  '/docs/search?q=refund',
  '/docs/webhooks?lang=fr',
  '/docs/api/refunds?lang=fr',
  '/docs/search?q=carte&lang=fr',
  '/docs/nothing',
];

browserTest('no page is wider than a phone', async () => {
  const context = await browser!.newContext(phone);
  const page = await context.newPage();
  const faults: string[] = [];
  for (const path of paths) {
    await page.goto(service.url + path);
    const fault = await tooWide(page);
    if (fault !== null) faults.push(`${path}: ${fault}`);
  }
  await context.close();
  assert.deepEqual(faults, []);
});

for (const [name, look] of [
  ['a phone, dark', phone],
  ['a desktop, light', desktop],
] as const) {
  browserTest(`a page of each kind on ${name}: axe finds nothing, the browser blocks nothing`, async () => {
    const context = await browser!.newContext(look);
    await context.addInitScript(axe);
    const page = await context.newPage();
    const logged: string[] = [];
    page.on('console', (message) => message.type() === 'error' && logged.push(message.text()));
    const faults: string[] = [];
    for (const path of kinds) {
      await page.goto(service.url + path);
      const found = await lookAt(page);
      faults.push(...found.faults.map((fault) => `${path}: ${fault.slice(0, 200)}`));
    }
    await context.close();
    assert.deepEqual(faults, []);
    // One of the pages does not exist.
    assert.deepEqual(
      logged.filter((text) => !text.includes('404')),
      [],
    );
  });
}

browserTest('without scripts: search, follow what was found, read a sample in another language', async () => {
  const context = await browser!.newContext({ ...desktop, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(service.url);
  await page.getByRole('searchbox', { name: 'Search the documentation' }).fill('return money of a card');
  await page.keyboard.press('Enter');
  await page
    .getByRole('link', { name: /Refund a card payment/ })
    .first()
    .click();
  assert.match(page.url(), /\/docs\/api\/refunds#create_refund$/);
  const section = page.getByRole('region', { name: 'Refund a card payment, in full or in part' });
  assert.ok(await section.getByText('curl ').first().isVisible());
  await section.getByText('Python', { exact: true }).click();
  assert.ok(await section.getByText('import json, os, sys, urllib.error, urllib.request').isVisible());
  assert.equal(await section.getByRole('button', { name: 'Copy' }).count(), 0);
  await context.close();
});

browserTest('a button copies the sample that it stands at', async () => {
  const context = await browser!.newContext(desktop);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  await page.goto(`${service.url}/docs/quick-start`);
  const sample = page.locator('.sample', { hasText: 'PI=$(curl' });
  await sample.getByRole('button', { name: 'Copy' }).click();
  await sample.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.equal(copied, await sample.locator('pre').textContent());
  assert.match(copied, /^PI=\$\(curl -s \$URL\/v1\/payment_intents/);
  await context.close();
});

browserTest(
  'the button that copies stands beside the code, on a phone above it, and never over it',
  async () => {
    for (const look of [phone, desktop]) {
      const context = await browser!.newContext(look);
      const page = await context.newPage();
      await page.goto(`${service.url}/docs/quick-start`);
      for (const sample of await page.locator('.sample').all()) {
        const code = (await sample.locator('pre').boundingBox())!;
        const button = (await sample.getByRole('button', { name: 'Copy' }).boundingBox())!;
        const beside = button.x >= code.x + code.width;
        const above = button.y + button.height <= code.y;
        assert.ok(look === desktop ? beside : above, JSON.stringify({ code, button }));
      }
      await context.close();
    }
  },
);

browserTest('the list of pages stays while the page is scrolled', async () => {
  const context = await browser!.newContext(desktop);
  const page = await context.newPage();
  await page.goto(`${service.url}/docs/errors`);
  await page.evaluate('scrollTo(0, 5_000)');
  const { y, height } = (await page.locator('.pages').boundingBox())!;
  assert.equal(Math.round(y), 0);
  assert.equal(height, desktop.viewport.height);
  await context.close();
});

browserTest('code that is a link shows its underscores: the line is below them', async () => {
  const context = await browser!.newContext(desktop);
  const page = await context.newPage();
  await page.goto(`${service.url}/docs/errors`);
  const lines = await page.evaluate<string[]>(
    '[...document.querySelectorAll("main a:has(> code)")].map((link) => getComputedStyle(link).textDecorationLine + " " + getComputedStyle(link.firstElementChild).borderBlockEndStyle)',
  );
  assert.ok(lines.length > 50);
  assert.deepEqual([...new Set(lines)], ['none solid']);
  await context.close();
});

browserTest('the landing page has a first request, its answer and a picture, in each language', async () => {
  const context = await browser!.newContext(desktop);
  const page = await context.newPage();
  for (const [language, caption] of [
    ['en', 'What your customer sees at the answer’s url'],
    ['fr', 'Ce que voit votre client à l’adresse url de la réponse'],
    ['ar', 'ما يراه زبونك على العنوان url في الجواب'],
  ]) {
    await page.goto(`${service.url}/?lang=${language}`);
    assert.ok(await page.getByRole('img', { name: caption! }).isVisible());
    const [request, answer] = await page.locator('.sample pre').allTextContents();
    assert.match(request!, /^curl -sS "\$URL\/v1\/checkout\/sessions"/);
    assert.match(answer!, /"object": "checkout\.session"/);
  }
  await context.close();
});

browserTest('a reader who chooses French keeps it, from page to page and in the search', async () => {
  const context = await browser!.newContext({ ...desktop, locale: 'en-US' });
  const page = await context.newPage();
  await page.goto(`${service.url}/docs/quick-start`);
  await page.getByRole('navigation', { name: 'Language' }).getByRole('link', { name: 'Français' }).click();
  await page.getByRole('heading', { level: 1, name: 'Démarrage rapide' }).waitFor();
  await page.getByRole('link', { name: 'recevoir des webhooks' }).click();
  await page.getByRole('heading', { name: 'Vérifier et traiter' }).waitFor();
  await page.getByRole('searchbox', { name: 'Rechercher dans la documentation' }).fill('remboursement');
  await page.keyboard.press('Enter');
  await page.getByRole('list').getByRole('link', { name: 'Remboursements', exact: true }).last().click();
  assert.match(page.url(), /\/docs\/refunds\?lang=fr$/);
  assert.ok(await page.getByText('rend l’argent d’un paiement par carte').isVisible());
  assert.equal(await page.getByRole('button', { name: 'Copier' }).count(), 2);
  await page.getByRole('link', { name: 'English' }).click();
  await page.getByRole('heading', { level: 1, name: 'Refunds' }).waitFor();
  await context.close();
});
