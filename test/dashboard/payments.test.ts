// The pages of payments and cash in real Chromium: payments are found, paid back once, canceled and exported, and a cash
// payment is made with its voucher.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { browserTest } from '../edge/checkout/browser.ts';
import { poorCard } from '../journeys/customer.ts';
import { withRequestLogs } from '../service.ts';
import { hiddenFields, newMember, screenshot, signedIn } from './fixture.ts';
import { openDashboard } from './in-browser.ts';
import { api, openPayment, paidPayment, typedCard } from './shop.ts';

const {
  dashboard,
  browser,
  member: owner,
  page,
  complaints,
  close,
} = await openDashboard('owner', withRequestLogs);
after(async () => {
  assert.deepEqual(complaints, []);
  await close();
});

/** The texts of the first column of the table of payments. */
async function listed(): Promise<string[]> {
  const cells = await page.locator('main table.lines tbody tr td:first-child').allInnerTexts();
  return cells.map((text) => text.trim());
}

browserTest('payments are listed, filtered and searched', async () => {
  const customer = await api(dashboard, '/v1/customers', { email: 'amina@example.ma', name: 'Amina' });
  await openPayment(dashboard, { description: 'Waiting' });
  const paid = await paidPayment(dashboard, { description: 'Blue shoes', customer: customer.id });
  await openPayment(dashboard, { description: 'Carpet', metadata: { order: '1042' } }, 'cash');
  await api(dashboard, '/v1/checkout/sessions', {
    amount: 30_000,
    currency: 'mad',
    success_url: 'https://shop.example/thanks',
    description: 'Lamp',
    client_reference_id: 'cart-77',
  });
  await page.goto(dashboard.address('payments'));
  assert.deepEqual(await listed(), ['Lamp', 'Carpet', 'Blue shoes', 'Waiting']);
  const search = async (text: string) => {
    await page.goto(dashboard.address('payments'));
    await page.getByLabel('Search').fill(text);
    await page.getByRole('button', { name: 'Filter' }).click();
  };
  const rows = [
    ['amina@example.ma', ['Blue shoes']],
    ['order=1042', ['Carpet']],
    ['cart-77', ['Lamp']],
    ['shoes', ['Blue shoes']],
    ['<b>nothing</b>', []],
  ] as const;
  for (const [text, expected] of rows) {
    await search(text);
    assert.deepEqual(await listed(), expected, text);
  }
  for (const id of [paid.id, paid.payment_intent]) {
    await search(id);
    await page.waitForURL(`**/payments/${paid.payment_intent}`);
  }
  await page.goto(dashboard.address('payments'));
  await page.getByLabel('Status').selectOption('Paid');
  await page.getByLabel('Method').selectOption('Card');
  await page.getByRole('button', { name: 'Filter' }).click();
  assert.deepEqual(await listed(), ['Blue shoes']);
  await page.getByRole('link', { name: 'Clear the filters' }).click();
  assert.equal((await listed()).length, 4);
  const path = `/dashboard/${dashboard.org}/test/payments`;
  const split = await owner.get(`${path}?q=${encodeURIComponent('cus_1\r\nset-cookie: a=b')}`);
  assert.deepEqual([split.status, split.headers.getSetCookie()], [200, []]);
  const odd = await owner.get(`${path}?from=0000-01-01&to=tomorrow&before=pi_%00&status=x`);
  assert.deepEqual([odd.status, /Give the day as YYYY-MM-DD/.test(odd.body)], [200, true]);
  assert.match(odd.body, /Choose one from the list/);
  const reversed = await owner.get(`${path}?from=2026-03-02&to=2026-03-01`);
  assert.match(reversed.body, /This day is before the first one/);
  await page.goto(dashboard.address('payments?from=2001-01-01&to=2001-01-02'));
  await page.getByText('Nothing found').waitFor();
});

browserTest(
  'a declined payment says so and why, in the list, on its page and in three languages',
  async () => {
    const { id } = await typedCard(
      dashboard,
      { amount: 119_456, description: 'Fridge', metadata: { order: 'F-2210' } },
      poorCard,
    );
    for (const text of ['9995', '1,194.56', 'F-2210']) {
      await page.goto(dashboard.address(`payments?q=${encodeURIComponent(text)}`));
      assert.deepEqual(await listed(), ['Fridge'], text);
    }
    await page.goto(dashboard.address('payments'));
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByRole('button', { name: 'Filter' }).click();
    assert.deepEqual(await listed(), ['Fridge']);
    await page.locator('td .badge.bad', { hasText: 'Failed' }).waitFor();
    await page.getByRole('cell', { name: 'Failed Insufficient funds' }).waitFor();
    await screenshot(page, 'failed-list');
    await page.getByRole('link', { name: 'Fridge' }).click();
    await page.locator('.heading').getByText('Failed', { exact: true }).waitFor();
    await page.locator('dd', { hasText: 'Insufficient funds' }).waitFor();
    await page.getByRole('cell', { name: 'The attempt failed Insufficient funds' }).waitFor();
    await screenshot(page, 'failed');
    for (const [locale, words] of [
      ['fr', ['Échoué', 'Provision insuffisante']],
      ['ar', ['فشلت', 'الرصيد غير كافٍ']],
    ] as const) {
      const { context, page: other } = await signedIn(browser, dashboard, owner, { locale });
      await other.goto(dashboard.address(`payments/${id}`));
      const text = await other.locator('main').innerText();
      for (const word of words) assert.ok(text.includes(word), word);
      await context.close();
    }
  },
);

browserTest('a refund without scripts is confirmed on a page, in three languages', async () => {
  const { id } = await typedCard(dashboard, { amount: 119_456, description: 'Oven' });
  for (const [locale, goOn, question] of [
    ['fr', 'Rembourser…', /Rembourser 1\s194,56\sMAD sur .?Visa •••• 4242.?\s\?/],
    ['ar', 'استرداد…', /1\s194,56\sدرهم.*Visa •••• 4242/],
    ['en', 'Refund…', /Refund MAD\s1,194\.56 to .?Visa •••• 4242.?\?/],
  ] as const) {
    const options = { locale, javaScriptEnabled: false };
    const { context, page: plain } = await signedIn(browser, dashboard, owner, options);
    await plain.goto(dashboard.address(`payments/${id}`));
    const places = await plain.locator('main section h2').allInnerTexts();
    if (locale === 'en') assert.ok(places.indexOf('Details') < places.indexOf('Refund'), places.join());
    await plain.getByRole('button', { name: goOn }).click();
    assert.match(await plain.locator('main').innerText(), question);
    await screenshot(plain, `refund-${locale}`);
    if (locale === 'en') await plain.getByRole('button', { name: 'Refund MAD 1,194.56' }).click();
    await context.close();
  }
  const { data } = await api(dashboard, `/v1/refunds?payment_intent=${id}`);
  assert.deepEqual(
    data.map(({ amount }: { amount: number }) => amount),
    [119_456],
  );
  // What can't be paid back is not asked about.
  const path = `/dashboard/${dashboard.org}/test/payments/${id}/refund`;
  const nothing = await owner.get(`${path}?amount=5`);
  assert.deepEqual([nothing.status, /role="alert"/.test(nothing.body)], [400, true]);
  const other = await newMember(dashboard, 'developer', 'dev-refund@souk.ma');
  assert.equal((await other.get(path)).status, 403);
});

browserTest('a double click pays back once, and the rest can be paid back afterwards', async () => {
  const { id } = await typedCard(dashboard, { description: 'Teapot' });
  await page.goto(dashboard.address(`payments/${id}`));
  await page.getByRole('heading', { name: 'MAD 200.00' }).waitFor();
  await page.getByLabel('Amount in dirhams').fill('ten');
  const goOn = page.getByRole('button', { name: 'Refund…' });
  await goOn.click();
  await page.getByRole('alert').getByText('Give the amount in dirhams').waitFor();
  await page.getByLabel('Amount in dirhams').fill('200,01');
  await goOn.click();
  await page.getByRole('alert').getByText('At most MAD 200.00 can be refunded.').waitFor();
  assert.equal(await page.getByLabel('Amount in dirhams').inputValue(), '200,01', 'what was typed stays');
  await page.getByLabel('Amount in dirhams').fill('50,5');
  await page.getByLabel('Reason').first().selectOption('The customer asked for it');
  await goOn.click();
  const shown = await page.locator('main').innerText();
  assert.match(shown, /Refund MAD\s50\.50 to .{0,1}Visa •••• 4242/);
  assert.match(shown, /MAD\s149\.50/, 'what is left');
  assert.equal((await api(dashboard, `/v1/refunds?payment_intent=${id}`)).data.length, 0);
  await page.getByRole('button', { name: 'Refund MAD 50.50' }).dblclick();
  await page.getByText('The refund is on its way to the customer.').waitFor();
  const { data } = await api(dashboard, `/v1/refunds?payment_intent=${id}`);
  assert.deepEqual(
    data.map((each: { amount: number; reason: string }) => [each.amount, each.reason]),
    [[5_050, 'requested_by_customer']],
  );
  // Two forms that are sent at the same time are one, too.
  const path = `/dashboard/${dashboard.org}/test/payments/${id}`;
  // The language links on the answer to its form name no amount: they don't ask about all of it.
  assert.equal((await owner.get(`${path}/refund`)).location, path);
  const { body } = await owner.get(`${path}/refund?amount=&reason=`);
  const fields = hiddenFields(body, `${path}/refund`);
  assert.equal(fields.amount, '149.50', 'all of the rest');
  const answers = await Promise.all([1, 2, 3].map(() => owner.post(`${path}/refund`, fields)));
  assert.deepEqual(
    answers.map(({ status, location }) => [status, location]),
    [1, 2, 3].map(() => [303, `${path}?done=refund`]),
  );
  const refunds = (await api(dashboard, `/v1/refunds?payment_intent=${id}`)).data;
  assert.equal(refunds.length, 2);
  for (const each of refunds) await api(dashboard, `/v1/test_helpers/refunds/${each.id}/succeed`, {});
  await page.goto(dashboard.address(`payments/${id}`));
  await page.locator('.heading').getByText('Refunded', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Refund' }).count(), 0, 'nothing is left to pay back');
  const steps = await page
    .locator('section', { hasText: 'What happened' })
    .first()
    .locator('tbody tr')
    .allInnerTexts();
  assert.match(steps[0]!, /Payment created\s+API request req_/);
  assert.match(steps.join('\n'), /Refund of MAD\s50.50 asked for\s+The owner req_/);
  const made = page.getByRole('row', { name: /50.50 asked for/ }).getByRole('link', { name: /^req_/ });
  const request = await made.getAttribute('href');
  await dashboard.service.until(async () => (await owner.get(request!)).status === 200 || undefined);
  await made.click();
  const maker = page.locator('dl > div').filter({ hasText: 'Made in the dashboard by' });
  assert.equal(await maker.locator('dd').textContent(), 'The owner');
  await page.getByText('"amount": 5050').first().waitFor();
  assert.match(steps.join('\n'), /MAD\s50.50 refunded\s+API request req_/);
});

browserTest('a payment that waits is canceled, but not before the question is answered', async () => {
  const { id } = await openPayment(dashboard);
  await page.goto(dashboard.address(`payments/${id}`));
  const cancel = { name: 'Cancel the payment' };
  const careful = await page.context().newPage();
  let question = '';
  careful.once('dialog', async (dialog) => {
    question = dialog.message();
    await dialog.dismiss();
  });
  await careful.goto(dashboard.address(`payments/${id}`));
  await careful.getByRole('button', cancel).click();
  assert.equal(question, 'Cancel the payment: are you sure?');
  assert.equal(await careful.getByRole('button', cancel).count(), 1);
  await careful.close();
  assert.equal((await api(dashboard, `/v1/payment_intents/${id}`)).status, 'requires_action');
  await page.getByRole('button', cancel).click();
  await page.getByText('The payment is canceled.').waitFor();
  assert.equal((await api(dashboard, `/v1/payment_intents/${id}`)).status, 'canceled');
  assert.equal(await page.getByRole('button', cancel).count(), 0);
});

browserTest('payments are exported', async () => {
  await page.goto(dashboard.address('payments'));
  await page.getByText('Export', { exact: true }).click();
  await page.getByLabel('What').selectOption('Attempts to pay');
  await page.getByLabel('Format').selectOption('Exact (CSV)');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'charges.csv');
  const exported = await owner.get(
    `/dashboard/${dashboard.org}/test/payments/export?what=payment_intents&format=ndjson`,
  );
  assert.equal(exported.status, 200);
  assert.equal(exported.headers.get('x-content-type-options'), 'nosniff');
  const objects = exported.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).object);
  assert.deepEqual(new Set(objects), new Set(['payment_intent']));
});

browserTest('an export carries the filters of the page, in the words of its reader', async () => {
  await typedCard(dashboard, { amount: 87_650, description: 'Étagère; chêne' });
  await typedCard(dashboard, { amount: 87_650, description: 'Étagère refusée' }, poorCard);
  const options = { locale: 'fr', acceptDownloads: true };
  const { context, page: french } = await signedIn(browser, dashboard, owner, options);
  await french.goto(dashboard.address(`payments?q=${encodeURIComponent('876,50')}`));
  await french.getByLabel('Statut').selectOption('Payé');
  await french.getByRole('button', { name: 'Filtrer' }).click();
  await french.getByText('Exporter', { exact: true }).click();
  await french.getByText('Ce que sélectionnent les filtres ci-dessus.').waitFor();
  await screenshot(french, 'export-fr');
  const [download] = await Promise.all([
    french.waitForEvent('download'),
    french.getByRole('button', { name: 'Télécharger' }).click(),
  ]);
  const text = await readFile(await download.path(), 'utf8');
  await context.close();
  const [heading, line, ...rest] = text.split('\r\n');
  assert.equal(
    heading,
    '\ufeffCréé le;Paiement;Description;Référence;Client;Statut;Moyen;Carte ou code;Montant en dirhams;Reçu;Remboursé;Devise;Réglé le',
  );
  assert.match(
    line!,
    /^2\d{3}-\d\d-\d\d \d\d:\d\d;pi_\w+;"Étagère; chêne";;;Payé;Carte;visa 4242;"876,50";"876,50";"0,00";MAD;2\d{3}-\d\d-\d\d \d\d:\d\d$/,
  );
  assert.deepEqual(rest, [''], 'only what the filters select');
  const odd = `/dashboard/${dashboard.org}/test/payments/export?from=tomorrow`;
  assert.match((await owner.get(odd)).body, /Give the day as YYYY-MM-DD/);
});

browserTest('a cash payment is made, its voucher opened, its code found, and it is paid', async () => {
  await page.goto(dashboard.address('cash'));
  await page.getByLabel('Amount in dirhams').fill('1 250,5 DH');
  await page.getByLabel('Description').fill('Rug <script>');
  await page.getByLabel('Customer’s e-mail address').fill('nadia@example.ma');
  await page.getByRole('button', { name: 'Make the code' }).dblclick();
  await page.getByText('The code is issued.').waitFor();
  await page.getByRole('heading', { name: 'MAD 1,250.50' }).waitFor();
  const { data } = await api(dashboard, '/v1/customers?email=nadia@example.ma');
  assert.equal(data.length, 1);
  const made = await api(dashboard, `/v1/payment_intents?customer=${data[0].id}`);
  assert.equal(made.data.length, 1, 'a double click makes one payment');
  const { number } = made.data[0].next_action.cash_display_details;
  await page.getByRole('link', { name: 'Voucher to print' }).click();
  await page.waitForURL('**/voucher/**');
  await page.goto(dashboard.address('cash'));
  await page.getByRole('link', { name: number.replace(/(\d{4})(?=\d)/g, '$1 ') }).waitFor();
  await page.getByLabel('Code').fill('1111 2222 3333');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByRole('alert').getByText('No payment has this code.').waitFor();
  await page.getByLabel('Code').fill(number.replace(/(\d{4})(?=\d)/g, '$1-'));
  await page.getByRole('button', { name: 'Find' }).click();
  await page.waitForURL(`**/payments/${made.data[0].id}`);
  await api(dashboard, '/v1/test_helpers/cash_payments', { number, amount: 125_050 });
  await page.reload();
  await page.locator('.heading').getByText('Paid').waitFor();
});

browserTest('a cash payment whose code is refused for good is shown, to be canceled', async () => {
  const path = `/dashboard/${dashboard.org}/test/cash`;
  const hidden = hiddenFields((await owner.get(path)).body, path);
  // The key with which the code is asked for was used for something else.
  const { status } = await dashboard.service.call('/v1/customers', {
    key: dashboard.key,
    idempotencyKey: `${hidden.idempotency_key}-confirm`,
    body: {},
  });
  assert.equal(status, 200);
  const shown = await owner.post(path, { ...hidden, amount: '175' });
  const { data } = await api(dashboard, '/v1/payment_intents?limit=1');
  assert.deepEqual([data[0].amount, data[0].status], [17_500, 'requires_payment_method']);
  assert.equal(shown.status, 400);
  assert.match(shown.body, /role="alert".*idempotency/is);
  assert.ok(shown.body.includes(`payments/${data[0].id}/cancel"`), 'it can be canceled');
});

test('what has nothing to be seen in its name is listed by its id', async () => {
  const customer = await api(dashboard, '/v1/customers', { name: ' ' });
  const unseen = { amount: 20_000, currency: 'mad', description: '\u200b \u00a0' };
  const intent = await api(dashboard, '/v1/payment_intents', { ...unseen, customer: customer.id });
  const urls = { success_url: 'https://shop.example/thanks' };
  const session = await api(dashboard, '/v1/checkout/sessions', { ...unseen, ...urls });
  for (const [path, id] of [
    ['payments', intent.id],
    ['customers', customer.id],
    ['checkout', session.id],
    [`payments/${intent.id}`, customer.id],
  ]) {
    const { body } = await owner.get(`/dashboard/${dashboard.org}/test/${path}`);
    assert.ok(body.includes(`dir="auto">${id}</a>`), path);
  }
  const { body } = await owner.get(`/dashboard/${dashboard.org}/test/customers/${customer.id}`);
  assert.ok(body.includes(`<h1>${customer.id}</h1>`));
});
