// The dashboard's frame: signing in, the roles, and attacks on sessions and forms.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Dashboard, newMember, startDashboard, Visitor } from './fixture.ts';

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard?.stop());

test('the link of the first start signs in once', async () => {
  const { service } = dashboard;
  const path = /\/dashboard\/invite\/[\w-]+/.exec(service.output())![0];
  const visitor = new Visitor(service.url);
  const used = await visitor.submit(path, {});
  assert.equal(used.status, 303, used.body);
  const home = await visitor.get((await visitor.get('/dashboard')).location);
  assert.match(home.body, /<h1>Home<\/h1>/);
  assert.match(home.body, /Sandbox/);
  assert.equal((await new Visitor(service.url).get(path)).status, 404);
});

test('a member joins by an invitation, signs out, and signs in', async () => {
  const viewer = await newMember(dashboard, 'viewer');
  const home = await viewer.get(new URL(dashboard.address('home')).pathname);
  assert.equal(home.status, 200, home.body);
});
