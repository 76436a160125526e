// Merchants and their customers on a running service. All journeys use one process, and each has an organization of its own.

import { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';
import { cardPayments } from './card-payments.ts';
import { cashPayments } from './cash-payments.ts';
import { checkoutSessions } from './checkout-sessions.ts';
import { customers } from './customers.ts';
import { lists } from './lists.ts';
import { modes } from './modes.ts';
import { refunds } from './refunds.ts';

let service: Service;
before(async () => {
  service = await startService({ env: webhookEnv });
});
after(() => service.stop());

for (const journeys of [cardPayments, cashPayments, checkoutSessions, refunds, customers, lists, modes]) {
  journeys(() => service);
}
