import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isPagePath } from '../../../src/edge/checkout/routes.ts';
import { createConfirmed, createService, createSession } from './in-process-service.ts';
import { atCardPage, createVisitor, goodCard, titleOf } from './visitor.ts';

describe('a visit', () => {
  const unknown = [
    '/checkout/cs_nothing',
    '/pay/ch_nothing',
    '/voucher/ch_nothing',
    '/checkout/',
    '/pay/cs_x',
  ];
  for (const path of [
    ...unknown,
    '/voucher/ch_x/challenge',
    '/checkout/cs_x/y',
    `/pay/ch_${'a'.repeat(65)}`,
  ]) {
    test(`to ${path.slice(0, 40)} finds nothing`, async () => {
      assert.ok(isPagePath(path));
      const shown = await createVisitor(createService().pages).get(path);
      assert.equal(shown.status, 404);
      assert.match(shown.body, /Page not found/);
    });
  }

  test('with another method is refused, and HEAD is answered as GET is', async () => {
    const service = createService();
    const { charge } = await createConfirmed(service, 'cash');
    const visitor = createVisitor(service.pages);
    assert.equal((await visitor.ask('PUT', `/voucher/${charge}`)).status, 405);
    const posted = await visitor.ask('POST', `/voucher/${charge}`);
    assert.deepEqual([posted.status, posted.header('allow')], [405, 'GET, HEAD']);
    const head = await visitor.ask('HEAD', `/voucher/${charge}`);
    assert.deepEqual([head.status, head.body], [200, (await visitor.get(`/voucher/${charge}`)).body]);
  });

  test('beyond the limit waits', async () => {
    const service = createService({ visitsPerMinute: 6 });
    const session = await createSession(service);
    const visitor = createVisitor(service.pages);
    const statuses = [];
    for (let i = 0; i < 8; i++) statuses.push((await visitor.get(`/checkout/${session.id}`)).status);
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 200, 429]);
    const refused = await visitor.get(`/checkout/${session.id}`);
    assert.equal(refused.header('retry-after'), '10');
    await service.timers.advance(10_000);
    assert.equal((await visitor.get(`/checkout/${session.id}`)).status, 200);
  });

  test('while the service recovers gets 503 and can be made again', async () => {
    const { pages, log } = createService({
      port: {
        viewLink: async () => null,
        view: () => Promise.reject(new Error('recovering')),
        startPage: () => Promise.reject(),
        command: () => Promise.reject(),
      },
    });
    const shown = await createVisitor(pages).get('/checkout/cs_1');
    assert.deepEqual([shown.status, shown.header('retry-after')], [503, '5']);
    assert.deepEqual(log, ['Error: recovering']);
  });

  test('a card network that can not be asked gives 503, and its error is told to nobody', async () => {
    const tokenize = () => Promise.reject(new Error('4242424242424242'));
    const service = createService({ tokenize: { test: tokenize, live: null } });
    const { charge } = await createConfirmed(service, 'card');
    const visitor = createVisitor(service.pages);
    await visitor.get(`/pay/${charge}`);
    const shown = await visitor.send(goodCard);
    assert.equal(shown.status, 503);
    assert.deepEqual(service.log, []);
  });

  test('every answer is uncacheable, unframeable, and loads scripts of the service only', async () => {
    const { service, session, shown } = await atCardPage();
    const visitor = createVisitor(service.pages);
    for (const target of [`/checkout/${session.id}`, shown.at, '/checkout/cs_nothing']) {
      const answer = await visitor.ask('GET', target);
      assert.equal(answer.header('cache-control'), 'no-store');
      const policy = answer.header('content-security-policy')!;
      assert.match(
        policy,
        /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      assert.equal(answer.header('x-content-type-options'), 'nosniff');
      assert.equal(answer.header('referrer-policy'), 'same-origin');
      assert.equal(answer.header('x-frame-options'), 'DENY');
    }
  });

  test('the language is the one chosen, else the session’s, else the browser’s', async () => {
    const service = createService();
    const plain = await createSession(service);
    const french = await createSession(service, { locale: 'fr' });
    const arab = createVisitor(service.pages, { acceptLanguage: 'ar-MA,ar;q=0.9,fr;q=0.5' });
    for (const [target, language, direction] of [
      [`/checkout/${plain.id}`, 'ar', 'rtl'],
      [`/checkout/${french.id}`, 'fr', 'ltr'],
      [`/checkout/${french.id}?lang=en`, 'en', 'ltr'],
      [`/checkout/${french.id}?lang=xx`, 'fr', 'ltr'],
      ['/checkout/cs_nothing', 'ar', 'rtl'],
    ] as const) {
      const { body } = await arab.get(target);
      assert.ok(body.includes(`<html lang="${language}" dir="${direction}">`), target);
    }
    await arab.get(`/checkout/${french.id}?lang=en`);
    const next = await arab.send({ method: 'cash' });
    assert.match(next.at, /^\/voucher\/ch_\w+\?lang=en$/);
  });

  test('only web addresses become links', async () => {
    const service = createService();
    const session = await createSession(service);
    // No request gets such addresses in.
    const record = service.state.get('checkout_session', session.id)!;
    service.state.apply({ ...record, success_url: 'javascript:alert(1)', cancel_url: 'data:text/html,<b>' });
    const visitor = createVisitor(service.pages);
    const chosen = await visitor.get(`/checkout/${session.id}`);
    const paid = await visitor.send(goodCard);
    for (const { body } of [chosen, paid]) assert.doesNotMatch(body, /javascript:|data:/);
    assert.match(titleOf(paid.body), /Payment complete/);
  });

  test('that waits for long goes on to the page as it is, in the language that was chosen', async () => {
    const { pages } = createService({ baseUrl: 'https://shop.example/payments' });
    const headers = { acceptLanguage: '', cookie: '', forwardedFor: '', secFetchSite: '' };
    const request = { method: 'POST', path: '/pay/ch_1/challenge', query: 'lang=fr&done=1', headers };
    const { status, headers: sent } = pages.goOn({ ...request, remoteAddress: '', requestId: 'req_1' });
    assert.equal(status, 303);
    assert.equal(new Map(sent).get('location'), '/payments/pay/ch_1?lang=fr');
    assert.equal(new Map(sent).get('cache-control'), 'no-store');
  });

  test('behind a proxy that takes a prefix off, every link has it; over https the cookie is bound to the host', async () => {
    const service = createService({ baseUrl: 'https://shop.example/payments' });
    const session = await createSession(service);
    const shown = await createVisitor(service.pages).ask('GET', `/checkout/${session.id}`);
    assert.ok(shown.body.includes(`action="/payments/checkout/${session.id}"`));
    assert.ok(shown.body.includes(`href="/payments/checkout/${session.id}?lang=fr"`));
    assert.match(
      shown.header('set-cookie')!,
      /^__Host-payments-form=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
  });
});
