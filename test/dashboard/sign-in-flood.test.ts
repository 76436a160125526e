// A flood of sign-ins: from many addresses, with clients that do not wait for the answer, and what members notice of it.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { poll } from '../poll.ts';
import { type Dashboard, hiddenFields, newMember, password, startDashboard, Visitor } from './fixture.ts';

const signIn = '/dashboard/sign-in';
const addresses = 60;
const guessersOfAddress = 6;
/** Between an answer and the next guess: together they send up to 720 guesses a second. */
const guesserRestMs = 500;

let dashboard: Dashboard;
let owner: Visitor;
before(async () => {
  // Each address of the flood comes with X-Forwarded-For.
  dashboard = await startDashboard({
    PAYMENTS_PAGES_TRUSTED_PROXIES: '127.0.0.1',
    PAYMENTS_PAGES_VISITS_PER_MINUTE: '120',
    // As it is for members: a guess takes a fifth of a second.
    PAYMENTS_DASHBOARD_HASH_COST: '15',
  });
  owner = await newMember(dashboard, 'owner');
});
after(() => dashboard?.stop());

const home = () => new URL(dashboard.address('home')).pathname;

test('beside guesses from sixty addresses, a member who is signed in gets every page', async (context) => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const stranger = new Visitor(dashboard.service.url, signal);
  const fields = hiddenFields((await stranger.get(signIn)).body, signIn);
  const statuses: number[] = [];
  const guessOn = async (address: number, guesser: number) => {
    for (let i = 0; !signal.aborted; i++) {
      const guess = { ...fields, email: `${address}-${guesser}-${i}@souk.ma`, password: `wrong ${i}` };
      const headers = { 'x-forwarded-for': `198.51.100.${address}` };
      // The service may just close a connection that this process, busy with its crowd, has left idle.
      const answer = await stranger.post(signIn, guess, headers).catch(() => null);
      if (answer !== null) statuses.push(answer.status);
      await wait(guesserRestMs, undefined, { signal }).catch(() => {});
    }
  };
  const guessers = Array.from({ length: addresses * guessersOfAddress }, (_, i) =>
    guessOn(i % addresses, Math.floor(i / addresses)),
  );
  const isAnswered = (status: number) => poll(() => statuses.includes(status) || undefined);
  await isAnswered(429);
  // As a browser does, it asks again where the connection that was left idle has been closed.
  const pages: number[] = [];
  let slowestMs = 0;
  try {
    for (let i = 0; i < 25; i++) {
      const askedAt = performance.now();
      const ask = () => owner.get(home(), { 'x-forwarded-for': '203.0.113.1' });
      pages.push((await ask().catch(ask)).status);
      slowestMs = Math.max(slowestMs, performance.now() - askedAt);
    }
  } finally {
    // One of those that wait for their turn gets it; the others leave, and are not computed.
    await isAnswered(400);
    leaving.abort();
    await Promise.all(guessers);
  }
  const counts = Object.entries(Object.groupBy(statuses, String));
  const shown = pages.filter((status) => status === 200).length;
  context.diagnostic(`${shown} of 25 pages, the slowest after ${Math.round(slowestMs)} ms`);
  context.diagnostic(`guesses: ${counts.map(([status, all]) => `${all!.length} × ${status}`).join(', ')}`);
  assert.equal(shown, 25, pages.join(' '));
  // A busy machine may also tell some to try again.
  assert.deepEqual(
    counts
      .map(([status]) => status)
      .filter((status) => status !== '503')
      .sort(),
    ['400', '429'],
  );
});

test('a guess whose client has left is not computed', async () => {
  const { hostname, port } = new URL(dashboard.service.url);
  const stranger = new Visitor(dashboard.service.url);
  const fields = hiddenFields((await stranger.get(signIn)).body, signIn);
  const computed = () =>
    dashboard.service.output().split('a sign-in to the dashboard was refused').length - 1;
  const before = computed();
  const leave = Array.from({ length: 30 }, (_, i) => {
    const body = new URLSearchParams({ ...fields, email: `left-${i}@souk.ma`, password: 'wrong' }).toString();
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {});
    socket.write(
      `POST ${signIn} HTTP/1.1\r\nHost: pay\r\nCookie: ${stranger.cookie}\r\nX-Forwarded-For: 192.0.2.${i}\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return () => socket.destroy();
  });
  // One that stays is answered behind the first of them.
  const staying = { ...fields, email: 'stays@souk.ma', password: 'wrong' };
  const answered = stranger.post(signIn, staying, { 'x-forwarded-for': '192.0.2.200' });
  await dashboard.service.until(() => computed() > before || undefined);
  for (const each of leave) each();
  await answered;
  const member = new Visitor(dashboard.service.url);
  assert.equal((await member.submit(signIn, { email: 'owner@souk.ma', password })).status, 303);
  assert.ok(computed() - before < 12, `${computed() - before} of 31 were computed`);
});
