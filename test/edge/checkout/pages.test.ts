import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { testCards } from '../../../src/networks/test-cards.ts';
import { createConfirmed, createService, createSession, type Service } from './in-process-service.ts';
import { atCardPage, createVisitor, goodCard, titleOf } from './visitor.ts';

const shopHome = 'https://shop.example/thanks?session=';

const statusOf = (service: Service, intent: string) => service.state.get('payment_intent', intent)!.status;

describe('a checkout session', () => {
  test('says who is paid, what for and how much, and has both methods and the card form on one page', async () => {
    const service = createService();
    const session = await createSession(service, { description: 'Order <17>: two books' });
    const shown = await createVisitor(service.pages).get(`/checkout/${session.id}`);
    assert.equal(shown.status, 200);
    assert.match(shown.body, /Payment to Atlas &lt;Books&gt; &amp; Co/);
    assert.match(shown.body, /MAD\u00a0250\.00/);
    assert.match(shown.body, /Order &lt;17&gt;: two books/);
    assert.match(shown.body, /type="radio"[^>]* name="method" value="card" checked/);
    assert.match(shown.body, /type="radio"[^>]* name="method" value="cash">/);
    for (const field of ['number', 'expiry', 'cvc']) assert.match(shown.body, new RegExp(`id="${field}"`));
    assert.match(shown.body, /href="https:\/\/shop\.example\/basket"/);
    assert.match(shown.body, /Test mode/);
    assert.match(shown.body, /<details><summary>Test cards/, 'the test cards are folded');
    assert.doesNotMatch(shown.body, /<script>|<link|<img|style=|onclick/);
    assert.doesNotMatch(shown.body, /src="(?!\/assets\/card-form\.[0-9a-f]{16}\.js")/);
  });

  test('with one method has no choice to make', async () => {
    const service = createService();
    for (const [method, other] of [
      ['cash', 'card'],
      ['card', 'cash'],
    ]) {
      const session = await createSession(service, { payment_method_types: [method] });
      const shown = await createVisitor(service.pages).get(`/checkout/${session.id}`);
      assert.match(shown.body, new RegExp(`type="hidden" name="method" value="${method}"`));
      assert.doesNotMatch(shown.body, new RegExp(`radio|value="${other}"`));
    }
  });

  test('shows the merchant’s colour and logo; the policy allows that colour’s style and no other', async () => {
    const service = createService();
    const session = await createSession(service);
    const branding = { colour: '#0a5c36', logoUrl: '/assets/logo/org_1.abc.png' };
    const port = {
      ...service.port,
      view: async (id: string) => ({ ...(await service.port.view(id))!, branding }),
    };
    const shown = await createVisitor(createService({ port }).pages).get(`/checkout/${session.id}`);
    assert.ok(shown.body.includes(':root{--brand:#0a5c36;'));
    assert.ok(shown.body.includes('<img class="logo" src="/assets/logo/org_1.abc.png" alt="">'));
    for (const [, style] of shown.body.matchAll(/<style>(.*?)<\/style>/gs)) {
      const digest = createHash('sha256').update(style!).digest('base64');
      assert.ok(shown.header('content-security-policy')!.includes(`'sha256-${digest}'`));
    }
  });

  test('paid by card goes to the success address with the session filled in', async () => {
    const { service, session, visitor } = await atCardPage();
    const paid = await visitor.send(goodCard);
    assert.equal(statusOf(service, session.payment_intent), 'succeeded');
    assert.equal(paid.status, 200);
    assert.ok(paid.body.includes(`http-equiv="refresh" content="0; url=${shopHome}${session.id}"`));
    const finished = await visitor.get(`/checkout/${session.id}`);
    assert.equal(finished.status, 200);
    assert.match(titleOf(finished.body), /Payment complete/);
    assert.doesNotMatch(finished.body, /http-equiv="refresh"/);
    assert.match(finished.body, /Visa card ending in 4242/);
    assert.ok(finished.body.includes(session.payment_intent), 'the reference');
    assert.match(finished.body, /Monday, 2 November 2026 at /);
    assert.ok(finished.body.includes(`href="${shopHome}${session.id}"`));
  });

  test('a declined card stays on the form, which says why and keeps the date, and can be followed by a good one', async () => {
    const { service, session, visitor } = await atCardPage();
    const declined = await visitor.send({ ...goodCard, number: '4000 0000 0000 9995' });
    assert.deepEqual([declined.status, declined.at], [402, `/checkout/${session.id}`]);
    assert.match(declined.body, /insufficient funds/);
    assert.match(declined.body, /id="expiry"[^>]* value="09\/32"/);
    assert.doesNotMatch(declined.body, /value="[^"]*(?:9995|123)"/);
    assert.match(declined.body, /id="number"[^>]* autofocus aria-describedby="problem number-wrong"/);
    await visitor.send(goodCard);
    assert.equal(statusOf(service, session.payment_intent), 'succeeded');
  });

  test('paid in cash shows the voucher, on every way there', async () => {
    const service = createService();
    const session = await createSession(service);
    const visitor = createVisitor(service.pages);
    await visitor.get(`/checkout/${session.id}`);
    const voucher = await visitor.send({ method: 'cash' });
    const charge = service.port.view(session.id).then((view) => view!.charge!);
    const { id, cash_number } = await charge;
    assert.equal(voucher.at, `/voucher/${id}`);
    const grouped = cash_number!.replace(/(\d{4})(?=\d)/g, '$1 ');
    assert.ok(voucher.body.includes(grouped), grouped);
    assert.match(voucher.body, /<svg class="qr" role="img"/);
    const clockTime = { timeZone: 'Africa/Casablanca', hour: '2-digit', minute: '2-digit' } as const;
    const until = new Date(service.timers.clock.now() + 3 * 86_400_000).toLocaleTimeString(
      'en-GB',
      clockTime,
    );
    assert.ok(voucher.body.includes(`Thursday, 5 November 2026 at ${until}`), until);
    for (const path of [`/checkout/${session.id}`, `/pay/${id}`]) {
      assert.equal((await visitor.get(path)).at, `/voucher/${id}`);
    }
    await service.create('pay_cash', { number: cash_number, amount: 25_000 });
    assert.match(titleOf((await visitor.get(`/voucher/${id}`)).body), /Payment complete/);
  });

  test('leads back to the choice from a challenge and a voucher; another method then pays', async () => {
    const { service, session, visitor } = await atCardPage();
    const back = (from: string) => {
      assert.ok(visitor.form('/change').action.endsWith('/change'), from);
      return visitor.send({}, '/change');
    };
    const challenge = await visitor.send({ ...goodCard, number: '4000 0027 6000 3184' });
    const choice = await back('challenge');
    assert.equal(choice.at, `/checkout/${session.id}`);
    assert.doesNotMatch(choice.body, /role="alert"/, 'nothing went wrong');
    assert.equal(service.authorizations.length, 0);
    const voucher = await visitor.send({ method: 'cash' });
    assert.match(voucher.body, /the code above stops working/);
    const charge = (await service.port.view(session.id))!.charge!;
    await back('voucher');
    assert.equal(service.state.get('charge', charge.id)!.failure_code, 'payment_attempt_canceled');
    for (const old of [challenge.at, `/voucher/${charge.id}`, `/voucher/${charge.id}/change`]) {
      assert.equal((await visitor.get(old)).at, `/checkout/${session.id}`, old);
    }
    await visitor.send(goodCard);
    assert.equal(statusOf(service, session.payment_intent), 'succeeded');
  });

  test('a decline stands on the choice until another attempt was begun', async () => {
    const { session, visitor } = await atCardPage();
    await visitor.send({ ...goodCard, number: '4000 0000 0000 9995' });
    const { body } = await visitor.get(`/checkout/${session.id}`);
    assert.match(body, /role="alert">.*insufficient funds/s);
    await visitor.send({ method: 'cash' });
    assert.doesNotMatch((await visitor.send({}, '/change')).body, /role="alert"/);
  });

  test('what leads back is said in three languages, and stays off the paper', async () => {
    const service = createService();
    const session = await createSession(service);
    await service.run('choose_method', { method: 'cash' }, session.id);
    const visitor = createVisitor(service.pages);
    const { at } = await visitor.get(`/checkout/${session.id}`);
    for (const [language, text] of [
      ['en', 'Choose another way to pay'],
      ['fr', 'Choisir un autre moyen de paiement'],
      ['ar', 'اختر وسيلة دفع أخرى'],
    ]) {
      const { body } = await visitor.get(`${at}?lang=${language}`);
      assert.ok(body.includes(text!), text);
      assert.ok(body.includes(`action="${at}/change?lang=${language}" class="screen"`), body);
    }
  });

  test('with one method, or without a session, nothing leads back', async () => {
    const service = createService();
    const one = await createSession(service, { payment_method_types: ['cash'] });
    await service.run('choose_method', { method: 'cash' }, one.id);
    assert.doesNotMatch((await createVisitor(service.pages).get(`/checkout/${one.id}`)).body, /\/change/);
    const { charge } = await createConfirmed(service, 'cash');
    const visitor = createVisitor(service.pages);
    assert.doesNotMatch((await visitor.get(`/voucher/${charge}`)).body, /<form/);
    assert.equal((await visitor.ask('POST', `/voucher/${charge}/change`)).status, 403);
    assert.equal(service.state.get('charge', charge)!.status, 'pending');
  });

  test('a form that leads back does nothing once the card was submitted', async () => {
    const { service, session, visitor } = await atCardPage();
    await visitor.send({ ...goodCard, number: '4000 0027 6000 3184' });
    const { action, hidden } = visitor.form('/change');
    await visitor.send({ answer: 'pass' }, '/challenge');
    const late = await visitor.ask('POST', action, new URLSearchParams(hidden).toString());
    assert.equal(late.status, 303);
    assert.equal(statusOf(service, session.payment_intent), 'succeeded');
  });

  const usedUp = [
    ['en', 'Too many cards were tried', 'There have been too many attempts'],
    ['fr', 'Trop de cartes ont été essayées', 'Il y a eu trop de tentatives'],
    ['ar', 'جُرّبت بطاقات كثيرة جدًا', 'جرت محاولات دفع كثيرة جدًا'],
  ] as const;
  for (const [language, cards, attempts] of usedUp) {
    test(`that was tried with too many cards says so (${language}), and leads on or back`, async () => {
      for (const methods of [['card', 'cash'], ['card']] as const) {
        const { service, session, visitor } = await atCardPage({ payment_method_types: methods });
        for (let tried = 1; tried <= 10; tried++) {
          await visitor.send({ ...goodCard, number: '4000 0000 0000 0002' });
        }
        const shown = await visitor.get(`/checkout/${session.id}?lang=${language}`);
        assert.equal(shown.status, 200);
        assert.ok(shown.body.includes(methods.length === 2 ? cards : attempts), shown.body);
        assert.match(shown.body, /href="https:\/\/shop\.example\/basket"/);
        assert.doesNotMatch(shown.body, /value="card"/);
        if (methods.length === 1) assert.doesNotMatch(shown.body, /<form/);
        else assert.match((await visitor.send({ method: 'cash' })).at, /^\/voucher\//);
        assert.equal(service.authorizations.length, 10);
      }
    });
  }

  test('a card that is chosen after too many were tried meets the page as it is now', async () => {
    const service = createService();
    const session = await createSession(service);
    const visitor = createVisitor(service.pages);
    await visitor.get(`/checkout/${session.id}`);
    const intent = () => service.state.get('payment_intent', session.payment_intent)!;
    for (let tried = 0; tried < 10; tried++) {
      await service.run('choose_method', { method: 'card' }, session.id);
      await service.create('fail_charge', {}, intent().latest_charge!);
    }
    const shown = await visitor.send({ ...goodCard, method: 'card' });
    assert.match(shown.body, /Too many cards were tried/);
    assert.equal(intent().status, 'requires_payment_method');
  });

  test('an expired one says so with 410, by its time already before the service has noticed', async () => {
    const service = createService();
    const session = await createSession(service);
    const visitor = createVisitor(service.pages);
    await service.timers.advance(86_400_000);
    service.shard.state.setReadOnly(true);
    const late = await visitor.get(`/checkout/${session.id}`);
    assert.equal(service.state.get('checkout_session', session.id)!.status, 'open');
    service.shard.state.setReadOnly(false);
    await service.upkeep();
    assert.equal(service.state.get('checkout_session', session.id)!.status, 'expired');
    const expired = await visitor.get(`/checkout/${session.id}`);
    for (const shown of [late, expired]) {
      assert.equal(shown.status, 410);
      assert.match(titleOf(shown.body), /expired/);
      assert.match(shown.body, /href="https:\/\/shop\.example\/basket"/);
    }
  });

  test('an attempt that expired unpaid leads back to the choice', async () => {
    const { service, session, visitor } = await atCardPage();
    const challenge = await visitor.send({ ...goodCard, number: '4000 0027 6000 3184' });
    await service.timers.advance(1_800_000);
    service.shard.state.setReadOnly(true);
    assert.equal((await visitor.get(challenge.at)).status, 410);
    service.shard.state.setReadOnly(false);
    await service.upkeep();
    const again = await visitor.get(challenge.at);
    assert.equal(again.at, `/checkout/${session.id}`);
    assert.match(again.body, /The time to pay ran out/);
  });

  test('a refused cash payment leads back to the choice, and no card is spoken of', async () => {
    const service = createService();
    const session = await createSession(service);
    const visitor = createVisitor(service.pages);
    await visitor.get(`/checkout/${session.id}`);
    const { at } = await visitor.send({ method: 'cash' });
    await service.create('fail_charge', {}, at.split('/').at(-1)!.split('?')[0]);
    for (const [language, text] of [
      ['en', 'The payment agent refused the cash payment.'],
      ['fr', 'L’agent de paiement a refusé le paiement en espèces.'],
      ['ar', 'رفض وكيل الدفع استلام المبلغ نقدًا.'],
    ]) {
      const shown = await visitor.get(`/checkout/${session.id}?lang=${language}`);
      assert.ok(shown.body.includes(text!), text);
    }
  });

  test('a method that is not offered, or none, is not taken', async () => {
    const service = createService();
    const session = await createSession(service, { payment_method_types: ['card'] });
    const visitor = createVisitor(service.pages);
    await visitor.get(`/checkout/${session.id}`);
    const unavailable = await visitor.send({ method: 'cash' });
    assert.equal(unavailable.status, 400);
    assert.match(unavailable.body, /not available/);
    const missing = await visitor.send({ method: 'gold' });
    assert.equal(missing.status, 400);
    assert.match(missing.body, /Choose one of the ways/);
    assert.equal(statusOf(service, session.payment_intent), 'requires_payment_method');
  });
});

test('a canceled payment says that it was canceled, with 410', async () => {
  const service = createService();
  const session = await createSession(service);
  await service.create('cancel_payment_intent', {}, session.payment_intent);
  const shown = await createVisitor(service.pages).get(`/checkout/${session.id}`);
  assert.equal(shown.status, 410);
  assert.match(titleOf(shown.body), /was canceled/);
  assert.match(shown.body, /You were not charged/);
});

describe('a card page', () => {
  test('lists every test card in the language of the page', async () => {
    const { visitor, shown } = await atCardPage();
    for (const language of ['en', 'fr', 'ar'] as const) {
      const { body } = await visitor.get(`${shown.at}?lang=${language}`);
      const digits = body.replaceAll(' ', '');
      for (const { number, text } of testCards) {
        assert.ok(digits.includes(number), number);
        assert.ok(body.includes(text[language]), text[language]);
      }
    }
  });

  test('marks each field that is wrong, puts the first in focus, and gives back neither number nor code', async () => {
    const { service, session, visitor } = await atCardPage();
    const shown = await visitor.send({ number: '4111 1111 1111 1112', expiry: '13/32', cvc: '98' });
    assert.equal(shown.status, 400);
    assert.match(titleOf(shown.body), /^Error: /);
    for (const field of ['number', 'expiry', 'cvc'])
      assert.match(shown.body, new RegExp(`id="${field}"[^>]* aria-invalid="true"[^>]*${field}-wrong`));
    assert.match(
      shown.body,
      /role="alert"><p><strong>You have not paid yet<\/strong><\/p>\n<p>Check the fields/,
    );
    assert.match(shown.body, /id="number"[^>]* autofocus/);
    assert.match(shown.body, /id="expiry"[^>]* value="13\/32"/);
    for (const typed of ['4111', '1112', 'value="98"']) assert.ok(!shown.body.includes(typed), typed);
    assert.equal(statusOf(service, session.payment_intent), 'requires_payment_method');
  });

  test('a real card is refused in test mode, and its number stays nowhere', async () => {
    const { service, visitor } = await atCardPage();
    const shown = await visitor.send({ number: '4111111111111111', expiry: '0932', cvc: '123' });
    assert.equal(shown.status, 400);
    assert.match(shown.body, /Real cards do not work/);
    assert.doesNotMatch(JSON.stringify(shown) + service.log.join(), /4111/);
  });

  test('no record holds a number, and the body it came in is wiped', async () => {
    const { service, session, visitor, shown } = await atCardPage();
    await visitor.get(shown.at);
    const { action, hidden } = visitor.form();
    const cookie = await cookieOf(service, shown.at);
    const body = Buffer.from(new URLSearchParams({ ...cookie.hidden, ...goodCard }).toString());
    const headers = {
      acceptLanguage: '',
      cookie: cookie.header,
      forwardedFor: '',
      secFetchSite: 'same-origin',
    };
    const request = {
      method: 'POST',
      path: action,
      query: '',
      headers,
      remoteAddress: '192.0.2.1',
      requestId: 'req_1',
      body,
    };
    assert.notEqual(hidden.form_key, '');
    assert.equal((await service.pages.handle(request)).status, 303);
    assert.equal(statusOf(service, session.payment_intent), 'succeeded');
    assert.ok(body.every((byte) => byte === 0));
    const records = JSON.stringify(await service.changes());
    assert.match(records, /"last4":"4242"/);
    assert.doesNotMatch(records.replace(/"id":"[^"]*"|(?:_[0-9A-Za-z]{27,})/g, ''), /4242424242424242/);
  });

  test('a challenge is passed, or refused', async () => {
    for (const [answer, status] of [
      ['pass', 'succeeded'],
      ['fail', 'requires_payment_method'],
    ] as const) {
      const { service, session, visitor } = await atCardPage();
      const challenge = await visitor.send({ ...goodCard, number: '4000 0027 6000 3184' });
      assert.match(titleOf(challenge.body), /Confirm with your bank/);
      assert.match(challenge.body, /ending in 3184/);
      const { hidden } = visitor.form('/change');
      const elsewhere = challenge.at.replace(/.*[/]([^?]*).*/, '/voucher/$1/change');
      await visitor.ask('POST', elsewhere, new URLSearchParams(hidden).toString());
      await visitor.get(challenge.at);
      await visitor.send({ answer: 'maybe' });
      assert.equal(statusOf(service, session.payment_intent), 'requires_action');
      const shown = await visitor.send({ answer });
      assert.equal(statusOf(service, session.payment_intent), status);
      if (answer === 'fail') assert.match(shown.body, /does not allow this payment/);
    }
  });

  test('a payment that lingers shows that it does, looks again, and then leads on', async () => {
    const { service, session, visitor, shown } = await atCardPage();
    const waiting = await visitor.send({ ...goodCard, number: '4000 0000 0000 0077' });
    assert.match(titleOf(waiting.body), /being processed/);
    assert.match(waiting.body, /<noscript><meta http-equiv="refresh" content="5"><\/noscript>/);
    assert.equal(waiting.header('payment-stage'), 'processing');
    assert.match(waiting.body, /<main[^>]* data-stage="processing" data-seconds="5"/);
    assert.equal(waiting.at, `${shown.at}?done=1`);
    await service.timers.advance(30_000);
    const paid = await visitor.get(waiting.at);
    assert.ok(paid.body.includes(`url=${shopHome}${session.id}`));
  });

  test('without a session: a decline is told here, success goes to the return address', async () => {
    for (const [number, status, text] of [
      ['4000000000009979', 'requires_payment_method', 'reported stolen'],
      ['4242424242424242', 'succeeded', 'content="0; url=https://shop.example/back"'],
    ] as const) {
      const service = createService();
      const { intent, charge } = await createConfirmed(service, 'card');
      const visitor = createVisitor(service.pages);
      await visitor.get(`/pay/${charge}`);
      const shown = await visitor.send({ ...goodCard, number });
      assert.equal(statusOf(service, intent), status);
      assert.ok(shown.body.includes(text), shown.body);
      assert.match(shown.body, /href="https:\/\/shop\.example\/back"/);
    }
  });

  test('without a session: an attempt that another one has followed is over', async () => {
    const service = createService();
    const { intent, charge } = await createConfirmed(service, 'card');
    await service.create('expire_charge', {}, charge);
    await service.create('confirm_payment_intent', {}, intent);
    const shown = await createVisitor(service.pages).get(`/pay/${charge}`);
    assert.equal(shown.status, 410);
  });
});

/** The cookie and the form's key of another page load of the same visitor. */
async function cookieOf(service: Service, path: string) {
  const visitor = createVisitor(service.pages);
  const shown = await visitor.ask('GET', path);
  return { header: shown.header('set-cookie')!.split(';')[0]!, hidden: visitor.form().hidden };
}

describe('forms', () => {
  test('sent twice they pay once, and the second answer shows how things stand', async () => {
    const { service, session, shown } = await atCardPage();
    const { header, hidden } = await cookieOf(service, shown.at);
    const visitors = [0, 1].map(() => createVisitor(service.pages, { cookie: header }));
    const body = new URLSearchParams({ ...hidden, ...goodCard }).toString();
    const answers = await Promise.all(visitors.map((visitor) => visitor.ask('POST', shown.at, body)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [303, 303],
    );
    assert.equal(service.authorizations.length, 1);
    assert.equal(statusOf(service, session.payment_intent), 'succeeded');
    const third = await visitors[0]!.ask('POST', shown.at, body);
    assert.equal(third.header('location'), `${shown.at}?done=1`);
    assert.equal(service.authorizations.length, 1);
  });

  test('sent again after a decline they charge nothing, and the answer shows the decline', async () => {
    const { service, shown } = await atCardPage();
    const { header, hidden } = await cookieOf(service, shown.at);
    const visitor = createVisitor(service.pages, { cookie: header });
    const body = new URLSearchParams({ ...hidden, ...goodCard, number: '4000000000000002' }).toString();
    assert.equal((await visitor.ask('POST', shown.at, body)).status, 402);
    assert.equal((await visitor.ask('POST', shown.at, body)).status, 303);
    assert.equal(service.authorizations.length, 1);
  });

  test('a card that did not arrive after its charge was opened is sent again, or cash is chosen instead', async () => {
    for (const method of ['card', 'cash']) {
      const service = createService();
      const session = await createSession(service);
      await service.run('choose_method', { method: 'card' }, session.id);
      const visitor = createVisitor(service.pages);
      const opened = (await service.port.view(session.id))!.charge!.id;
      assert.equal((await visitor.get(`/pay/${opened}`)).at, `/checkout/${session.id}`);
      const { at } = await visitor.send({ ...goodCard, method });
      const { intent, charge } = (await service.port.view(session.id))!;
      if (method === 'card') assert.deepEqual([intent.status, charge!.id], ['succeeded', opened]);
      else assert.equal(at, `/voucher/${charge!.id}`);
    }
  });

  const forged: readonly [string, (key: string, cookie: string) => { key: string; headers: object }][] = [
    ['no cookie', (key) => ({ key, headers: { cookie: '' } })],
    ['another cookie', (key) => ({ key, headers: { cookie: `payments-form=${'A'.repeat(22)}` } })],
    ['no key', (_, cookie) => ({ key: '', headers: { cookie } })],
    ['a wrong key', (key, cookie) => ({ key: `${key.slice(1)}A`, headers: { cookie } })],
    ['another site', (key, cookie) => ({ key, headers: { cookie, secFetchSite: 'cross-site' } })],
    ['a sister site', (key, cookie) => ({ key, headers: { cookie, secFetchSite: 'same-site' } })],
  ];
  for (const [name, change] of forged) {
    test(`forged (${name}) they are refused and do nothing`, async () => {
      const { service, session, shown } = await atCardPage();
      const { header, hidden } = await cookieOf(service, shown.at);
      const { key, headers } = change(hidden.form_key!, header);
      const body = new URLSearchParams({ ...hidden, form_key: key, ...goodCard }).toString();
      const answer = await createVisitor(service.pages, headers).ask('POST', shown.at, body);
      assert.equal(answer.status, 403);
      assert.match(answer.body, /out of date/);
      assert.ok(answer.body.includes(`href="${shown.at}"`));
      assert.equal(service.authorizations.length, 0);
      assert.equal(statusOf(service, session.payment_intent), 'requires_payment_method');
    });
  }

  test('the key of one payment opens no other', async () => {
    const { service, shown } = await atCardPage();
    const { header, hidden } = await cookieOf(service, shown.at);
    const { charge } = await createConfirmed(service, 'card');
    const body = new URLSearchParams({ ...hidden, ...goodCard }).toString();
    const answer = await createVisitor(service.pages, { cookie: header }).ask('POST', `/pay/${charge}`, body);
    assert.equal(answer.status, 403);
  });
});
