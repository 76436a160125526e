// People in real Chromium: an owner signs in, invites somebody, who joins, gets another role and is removed; what needs the
// password again asks for it; a page without a script does the same.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { browserTest, launchBrowser } from '../edge/checkout/browser.ts';
import { type Dashboard, newMember, password, startDashboard } from './fixture.ts';

let browser: Browser | null;
let dashboard: Dashboard;
before(async () => {
  browser = await launchBrowser();
  if (browser === null) return;
  dashboard = await startDashboard();
  await newMember(dashboard, 'owner');
});
after(async () => {
  await browser?.close();
  await dashboard?.stop();
});

/** Somebody with a browser of their own; most things must work without scripts. */
async function somebody(options: { readonly javaScriptEnabled?: boolean } = {}): Promise<Page> {
  const context = await browser!.newContext({ locale: 'en', ...options });
  context.setDefaultTimeout(15_000);
  return context.newPage();
}

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await click(page, 'Sign in');
}

browserTest(
  'an owner invites somebody, who joins, gets another role and is removed, all without a script',
  async () => {
    const owner = await somebody({ javaScriptEnabled: false });
    await owner.goto(dashboard.address('members'));
    assert.equal(await heading(owner), 'Sign in');
    await signIn(owner, 'owner@souk.ma');
    assert.equal(await heading(owner), 'Members', 'the sign-in goes on to what was asked for');
    await owner.getByLabel('E-mail address').fill('amina@souk.ma');
    await owner.getByLabel('Role').selectOption('viewer');
    await click(owner, 'Invite somebody');
    const link = (await owner.locator('code').first().textContent())!;

    const amina = await somebody({ javaScriptEnabled: false });
    await amina.goto(link);
    assert.equal(await heading(amina), 'Join Souk');
    await amina.getByLabel('Your name').fill('Amina');
    await amina.getByLabel('New password').fill('too short');
    await click(amina, 'Join');
    assert.match((await amina.getByRole('alert').textContent())!, /too short/);
    assert.equal(await amina.getByLabel('Your name').inputValue(), 'Amina', 'what was typed is kept');
    await amina.getByLabel('New password').fill(password);
    await click(amina, 'Join');
    assert.equal(await heading(amina), 'Home');
    assert.equal(await amina.getByRole('link', { name: 'API keys' }).count(), 0, 'viewers see no keys');

    await owner.goto(dashboard.address('members'));
    await owner.getByRole('link', { name: 'Amina' }).click();
    await owner.getByLabel('Role').selectOption('developer');
    await click(owner, 'Save');
    assert.equal(await owner.getByRole('status').textContent(), 'The role was saved.');
    await amina.reload();
    assert.ok((await amina.getByRole('link', { name: 'API keys' }).count()) > 0);

    await owner.getByRole('link', { name: 'Amina' }).click();
    await click(owner, 'Remove from the organization');
    assert.equal(await owner.getByRole('status').textContent(), 'The member was removed.');
    await amina.reload();
    assert.equal(await heading(amina), 'Sign in');
  },
);

browserTest('the language, the account and the sign-out are in the frame', async () => {
  const owner = await somebody();
  await owner.goto(dashboard.address('home'));
  await signIn(owner, 'owner@souk.ma');
  await owner.getByRole('link', { name: 'Français' }).click();
  assert.equal(await heading(owner), 'Accueil');
  await owner.locator('.member summary').click();
  await owner.getByRole('link', { name: 'Votre compte' }).click();
  await owner.getByLabel('Votre nom').fill('Amina El Fassi');
  await owner.getByRole('button', { name: 'Enregistrer' }).first().click();
  assert.equal(await owner.getByRole('status').textContent(), 'Le nom est enregistré.');
  await owner.locator('.member summary').click();
  await click(owner, 'Se déconnecter');
  assert.equal(await heading(owner), 'Se connecter');
  await owner.goBack();
  await owner.reload();
  assert.equal(await heading(owner), 'Se connecter', 'the Back button shows nothing any more');
});
