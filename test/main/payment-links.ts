// Payment links of a real service: made by a member in the dashboard, and opened by customers.

import assert from 'node:assert/strict';
import { hiddenFields, newMember, Visitor } from '../dashboard/fixture.ts';
import type { Service } from '../service.ts';
import type { Shop } from './shops.ts';

/** Makes a link for one payment; its path. */
export async function makeLink(service: Service, { id: org }: Pick<Shop, 'id'>): Promise<string> {
  const owner = await newMember({ service, org }, 'owner', `owner@${org.replaceAll('_', '-')}.ma`);
  const form = `/dashboard/${org}/test/checkout/new`;
  const fields = { amount: '350', method: 'card', description: 'Lamp', use: 'single', lasts: 'year' };
  const { status, location, body } = await owner.submit(form, fields);
  assert.equal(status, 303, body);
  return `/link/${new URL(location, service.url).pathname.split('/').at(-1)}`;
}

/** Opens a link as a new customer does; the path of the session behind it. */
export async function openLink(service: Service, link: string): Promise<string> {
  const customer = new Visitor(service.url);
  const shown = await customer.get(link);
  assert.equal(shown.status, 200, shown.body);
  const { status, location } = await customer.post(link, hiddenFields(shown.body, link));
  assert.equal(status, 303);
  return new URL(location, service.url).pathname;
}
