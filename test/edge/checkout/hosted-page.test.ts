import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createService, createSession, networkPage, type Service } from './in-process-service.ts';
import { createVisitor, titleOf } from './visitor.ts';

const money = { reference: 'T-1', amount: 25_000, currency: 'mad', agent: null, card: null, isHeld: false };

/** A customer in front of the button that leads to the network's page. */
async function atButton(language = '', lateMs = 0) {
  const service = createService();
  const customer = await service.create<{ id: string }>(
    'create_customer',
    { name: 'Salma <b>', email: 'salma@example.ma' },
    '',
    true,
  );
  const session = await createSession(service, { customer: customer.id }, true);
  const visitor = createVisitor(service.pages);
  await service.timers.advance(lateMs);
  const choice = await visitor.get(`/checkout/${session.id}${language}`);
  const shown = await visitor.send({ method: 'card' });
  const charge = (await service.port.view(session.id))!.charge!.id;
  return { service, session, visitor, choice, shown, charge };
}

const statusOf = (service: Service, charge: string) => service.state.get('charge', charge)!.status;

test('a session whose cards are typed on the network’s page has the choice, and no field for a card', async () => {
  const { choice, shown, charge } = await atButton();
  assert.match(choice.body, /value="card" checked/);
  assert.doesNotMatch(choice.body, /name="(number|expiry|cvc)"|Test cards|card-form/);
  assert.equal(shown.at, `/pay/${charge}`);
});

test('one button sends the browser to the network’s page, with all that the network needs', async () => {
  const { service, shown, charge } = await atButton('?lang=fr');
  const form = /<form method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/s.exec(shown.body)!;
  assert.equal(form[1], networkPage);
  const fields = [...form[2]!.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)];
  const { org, payment_intent: paymentIntent, expires_at_ms } = service.state.get('charge', charge)!;
  assert.deepEqual(Object.fromEntries(fields.map(([, name, value]) => [name, value])), {
    org,
    livemode: 'true',
    paymentIntent,
    charge,
    amount: '25000',
    currency: 'mad',
    language: 'fr',
    expiresAtMs: String(expires_at_ms),
    description: 'null',
    paidUrl: `http://localhost/pay/${charge}/paid?lang=fr`,
    unpaidUrl: `http://localhost/pay/${charge}/unpaid?lang=fr`,
    callbackUrl: `http://localhost/networks/cards/${org}/live`,
    name: 'Salma &lt;b&gt;',
    email: 'salma@example.ma',
  });
  assert.equal(form[2]!.match(/<button/g)?.length, 1);
  assert.match(shown.header('content-security-policy')!, /; form-action 'self' https:\/\/cards\.example;/);
});

test('the network’s page ends with the session where that ends first: who pays later has a review instead of an order', async () => {
  const { service, session, shown, charge } = await atButton('', 86_400_000 - 600_000);
  const { expires_at_ms } = service.state.get('checkout_session', session.id)!;
  assert.ok(expires_at_ms < service.state.get('charge', charge)!.expires_at_ms);
  assert.match(shown.body, new RegExp(`name="expiresAtMs" value="${expires_at_ms}"`));
});

test('the browser comes back by GET or POST, from another site, and nothing that it brings along is believed', async () => {
  for (const method of ['GET', 'POST']) {
    const { service, visitor, charge } = await atButton();
    const stranger = createVisitor(service.pages, { secFetchSite: 'cross-site' });
    const back = await stranger.ask(method, `/pay/${charge}/paid`, 'ProcReturnCode=00&Response=Approved');
    assert.deepEqual([back.status, back.header('location')], [303, `/pay/${charge}?done=1`]);
    assert.equal(statusOf(service, charge), 'pending');
    const waiting = await visitor.get(back.header('location')!);
    assert.match(titleOf(waiting.body), /being processed/);
    assert.match(waiting.body, /data-stage="hosted" data-seconds="5"/);
    assert.match(waiting.body, new RegExp(`href="/pay/${charge}">I have not paid`));
  }
});

test('what the network has reported is shown, and the customer goes on to the merchant', async () => {
  const { service, visitor, session, charge } = await atButton();
  await service.run('receive_money', money, charge);
  const { location } = Object.fromEntries((await visitor.ask('POST', `/pay/${charge}/paid`)).headers);
  const shown = await visitor.get(location!);
  assert.match(titleOf(shown.body), /Payment complete/);
  assert.ok(shown.body.includes(`url=https://shop.example/thanks?session=${session.id}"`));
});

test('a customer who did not pay is back at the button, or at the choice when a card was declined', async () => {
  const { service, visitor, session, charge } = await atButton();
  const unpaid = async () => {
    const { location } = Object.fromEntries((await visitor.ask('POST', `/pay/${charge}/unpaid`)).headers);
    return visitor.get(location!);
  };
  assert.match((await unpaid()).body, /Continue to pay/);
  const decline = { decline_code: 'insufficient_funds', mayTryAgain: true } as const;
  await service.run('receive_decline', decline, charge);
  const again = await visitor.get(`/pay/${charge}`);
  assert.match(again.body, /role="alert".*insufficient funds.*Continue to pay/s);
  const choice = await unpaid();
  assert.equal(choice.at, `/checkout/${session.id}`);
  assert.match(choice.body, /role="alert".*insufficient funds/s);
});

test('a GET ends nothing, as a preview of the link or the Back button sends it: the next card is still credited', async () => {
  const { service, visitor, session, charge } = await atButton();
  const decline = { decline_code: 'insufficient_funds', mayTryAgain: true } as const;
  await service.run('receive_decline', decline, charge);
  for (const method of ['HEAD', 'GET']) {
    const back = await visitor.ask(method, `/pay/${charge}/unpaid`);
    assert.deepEqual([back.status, back.header('location')], [303, `/pay/${charge}`]);
    assert.equal(statusOf(service, charge), 'pending');
  }
  const button = await visitor.get(`/pay/${charge}/unpaid`);
  assert.match(button.body, /role="alert".*insufficient funds.*Continue to pay/s);
  assert.equal((await visitor.send({}, '/change')).at, `/checkout/${session.id}`, 'a form ends it');
});

test('another way to pay can be chosen instead', async () => {
  const { service, visitor, session, charge } = await atButton();
  assert.equal((await visitor.send({}, '/change')).at, `/checkout/${session.id}`);
  assert.equal(statusOf(service, charge), 'failed');
});

test('while the network can not be asked, the customer is told to try again', async () => {
  const { service, charge } = await atButton();
  const port = { ...service.port, startPage: () => Promise.reject(new Error('down')) };
  const shown = await createVisitor(createService({ port }).pages).get(`/pay/${charge}`);
  assert.deepEqual([shown.status, shown.header('retry-after')], [503, '5']);
});
