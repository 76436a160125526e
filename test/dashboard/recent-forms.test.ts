// A form that is sent twice is carried out once, whatever others send meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentForms } from '../../src/dashboard/context.ts';

const form = (key: string) => new URLSearchParams({ idempotency_key: key });
const done = async () => 'done';

test('a form is carried out once, and one that failed may come again', async () => {
  const forms = new RecentForms();
  const failing = () => Promise.reject(new Error('busy'));
  await assert.rejects(forms.once('mem_1', form('a'), failing));
  assert.equal(await forms.once('mem_1', form('a'), done), 'done');
  assert.equal(await forms.once('mem_1', form('a'), done), null);
  assert.equal(await forms.once('mem_2', form('a'), done), 'done', 'of another member');
  for (let time = 0; time < 2; time++) assert.equal(await forms.once('mem_1', form(''), done), 'done');
});

test('a member who sends masses of forms has none of another carried out twice', async () => {
  const forms = new RecentForms();
  await forms.once('mem_1', form('own'), done);
  for (let i = 0; i < 5_000; i++) await forms.once('mem_crowd', form(String(i)), done);
  assert.equal(await forms.once('mem_1', form('own'), done), null);
  assert.equal(await forms.once('mem_crowd', form('4999'), done), null);
  assert.equal(await forms.once('mem_crowd', form('0'), done), 'done', 'what is long past is forgotten');
});

test('of the members those are known who sent a form last', async () => {
  const forms = new RecentForms();
  for (let i = 0; i < 1_000; i++) await forms.once(`mem_${i}`, form('a'), done);
  await forms.once('mem_0', form('b'), done);
  await forms.once('mem_new', form('a'), done);
  assert.equal(await forms.once('mem_0', form('a'), done), null);
  assert.equal(await forms.once('mem_1', form('a'), done), 'done');
});
